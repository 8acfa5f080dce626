"""Pages made from the registries: machines, methods, formats of programs, and the rules of the verifier."""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable

from forestcoll.base.parameters import Bandwidth, Parameter
from forestcoll.base.registry import Spec
from site_pages import page, table

_BANDWIDTH = Bandwidth().form
_MACHINES = (
    "Each name here stands for TOPOLOGY in any command and function, with parameters as "
    "`NAME:key=value,key=value`, such as `dgx-a100:boxes=4`. [Topologies](topologies.md) explains them, and how "
    "to describe a network of your own. Bandwidths are GB/s in each direction of a link. Where a table says *a "
    f"bandwidth*, it takes {_BANDWIDTH}."
)
_METHODS = (
    "A method makes a schedule: `forestcoll generate TOPOLOGY --method NAME:key=value`, or the third argument "
    "of `generate`. Without one, it is `trees`, or `flows` where each pair of nodes exchanges data of its own; "
    "both reach the optimum. [`forestcoll compare`](compare.md) runs the algorithms of other libraries next to "
    "it."
)
_TARGETS = (
    "What `forestcoll export SCHEDULE --to NAME:key=value` writes. A search in the simulator sets the options "
    "that are *chosen*. [Runtimes](runtimes.md) says which runtime runs what, and how each file is checked."
)
_RULES = (
    "`forestcoll verify` tries these rules in this order, and names the first that a file breaks. A rule may "
    "rely on the rules above it. Names do not change between releases. [The verifier](verify.md) explains the "
    "result."
)
_GRIDS = (
    "Networks of any size. Compute nodes of direct networks are numbered from 0; in grids, the number of the "
    "last dimension changes fastest. A dimension of size 2 has one link between its two nodes, also with "
    "wrap-around. One switch stands for all switches of a level of a fat tree, or of the spine of a rail "
    "network."
)
_GROUPS = {
    "machine": ("Machines", "GPU 3 of box 1 has the id `b1/gpu3`. With more than one box, the switch `ib` joins them."),
    "system": ("Clusters", "Boxes of any kind with the network that joins them; [Clusters](clusters.md) explains it."),
    "family": ("Families", _GRIDS),
}


_TOLD = ("Source:", "Where it loses:")
"""The paragraphs about a method that its page has, after the first."""


def _parameters(parameters: Iterable[Parameter]) -> str:
    """Return the table of parameters, or a sentence if there are none."""
    rows = [
        (f"`{each.name}`", f"`{each.default_text}`", each.meaning, _form(each.kind.form).replace("*", "\\*"))
        for each in parameters
    ]
    return table(("parameter", "default", "meaning", "takes"), rows) if rows else "No parameters."


def _form(text: str) -> str:
    """Return what a parameter takes, in fewer words than in the message about a wrong value."""
    if text == _BANDWIDTH:
        return "a bandwidth"
    return re.sub(r"an integer from (\d+) to \d{7,}", r"an integer, \1 or more", text)


def machines_page() -> str:
    """Return all builders of networks by group, with their parameters."""
    from forestcoll.topology.registry import builders

    parts = ["# Machines, clusters and families", _MACHINES]
    for group, (title, text) in _GROUPS.items():
        parts += [f"## {title}", text]
        for spec in builders():
            if spec.group == group:
                about = f"{spec.summary[0].upper()}{spec.summary[1:]}. Source: {spec.source}."
                parts += [f"### {spec.name}", about, _parameters(spec.parameters)]
    return page(*parts)


def methods_page() -> str:
    """Return all methods, with those of one file together: their collectives, their parameters, and their source."""
    from forestcoll.algorithms.method import methods

    parts = ["# Methods and algorithms", _METHODS]
    files: dict[str, list[Spec]] = defaultdict(list)
    for spec in methods.all():
        files[spec.module].append(spec)
    for module, unsorted in files.items():
        specs = sorted(unsorted, key=lambda spec: (spec.name.replace("-", "_") not in spec.module, spec.name))
        told = (sys.modules[module].__doc__ or "").strip().split("\n\n")
        parts.append(f"## {', '.join(spec.name for spec in specs)}")
        parts += [told[0], *(text for text in told[1:] if text.startswith(_TOLD))]
        parts += [table(("method", "schedule", "collectives"), [_method(spec) for spec in specs])]
        tables = {tuple(each.name for each in spec.parameters): spec for spec in reversed(specs) if spec.parameters}
        for spec in reversed(tables.values()):
            parts += [f"Parameters of `{spec.name}`:", _parameters(spec.parameters)]
    return page(*parts)


def _method(spec: Spec) -> tuple[str, ...]:
    """Return the row of a method."""
    made = spec.facts.get("baseline", spec.make)
    return f"`{spec.name}`", spec.facts["summary"].rstrip("."), ", ".join(made.collectives)


def targets_page() -> str:
    """Return all formats that `export` writes, with their options."""
    from forestcoll.nccl.graph.target import NCCL_GRAPH
    from forestcoll.programs.targets.target import targets

    parts = ["# Formats of programs", _TARGETS]
    for spec in targets.including(NCCL_GRAPH).all():
        about = f"{spec.facts['summary'][0].upper()}{spec.facts['summary'][1:]}."
        parts += [f"## {spec.name}", about, _parameters(spec.parameters)]
    return page(*parts)


def rules_page() -> str:
    """Return the rules of schedules by kind, and those of files of programs."""
    from forestcoll.demand.collective import SCHEDULED, Collective
    from forestcoll.programs.formats.msccl_xml.rules import FORM
    from forestcoll.programs.formats.mscclpp.rules import RULES
    from forestcoll.schedule.trees.value import TreeSchedule
    from forestcoll.verification import rules
    from forestcoll.verification.verifiers import VERIFIERS

    first = rules(Collective.ALLGATHER)
    parts = ["# Rules of the verifier", _RULES, "## Trees: an allgather", _rules(first)]
    for collective in SCHEDULED:
        if collective is not Collective.ALLGATHER:
            own = rules(collective)
            missing = [f"`{name}`" for name, _ in first if name not in dict(own)]
            without = f" Without {', '.join(missing)}." if missing else ""
            parts += [
                f"## Trees: {collective.with_article}",
                f"The rules of an allgather; these are added, or replace those of the same name.{without}",
                _rules(each for each in own if each not in first),
            ]
    titles = {
        "flows": "Flows: an all-to-all, a gather, a scatter",
        "bundle": "Bundles of groups",
        "series": "Series of broadcasts",
    }
    for kind in (each.kind for each in VERIFIERS if each is not TreeSchedule):
        parts += [f"## {titles.get(kind, kind.capitalize())}", _rules(rules(kind))]
    parts += ["## Programs in MSCCL XML", _rules((each.id, each.statement) for each in FORM)]
    parts += ["## Plans of MSCCL++", _rules((each.id, each.statement) for each in RULES)]
    return page(*parts)


def _rules(listed: Iterable[tuple[str, str]]) -> str:
    return table(("rule", "statement"), [(f"`{name}`", statement) for name, statement in listed])
