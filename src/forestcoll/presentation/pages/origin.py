"""The end of a report: what is a model and what was not measured, and how the page was made."""

from dataclasses import fields

from forestcoll.base.errors import plural
from forestcoll.base.version import __version__
from forestcoll.presentation.html import items, section
from forestcoll.presentation.pages.study import ComparisonDetails
from forestcoll.presentation.pictures.svg import Element, element
from forestcoll.presentation.results.comparisons.answers import listed
from forestcoll.simulation import Costs
from forestcoll.topology.hashing import topology_hash

_MODEL = (
    "A library reaches less than this algbw. Its protocols, its kernels and the number of its channels are not part of "
    "the model. This applies to all rows, also to that of forestcoll."
)
_EXACT = (
    "Nothing was run on a machine. All numbers follow from the nodes, the links and the bandwidths of the network.",
    "The algbw for large data is exact: it counts the bytes on each link. Every schedule was verified.",
    _MODEL,
)
_SIMULATED = (
    "Times are simulated. Each send takes {alpha:g} µs, and the latencies of its links if the network states them. "
    "Each chunk takes {overhead:g} µs more, and the time for its bytes. Copies and sums on a compute node take no time."
)


def limits(study: ComparisonDetails) -> Element:
    """Return what is a model and what was not measured."""
    costs = study.found.costs
    times = [f"{_SIMULATED.format(alpha=costs.alpha_us, overhead=costs.overhead_us)}{_losses(costs)}"]
    times = times if study.sizes else []
    return section("limits", "What is a model, and what was not measured", items([*_EXACT, *times]))


def _losses(costs: Costs) -> str:
    """Return a sentence with the other costs that the simulation counts; empty if it counts no others."""
    default = Costs()
    changed = [
        f"{each.name} = {value:g}"
        for each in fields(costs)
        if each.name not in {"alpha_us", "overhead_us"}
        and (value := getattr(costs, each.name)) != getattr(default, each.name)
    ]
    return f" The simulation also counts {listed(changed)}." if changed else ""


def made(study: ComparisonDetails) -> Element:
    """Return how the page was made."""
    topology = study.found.topology
    size = f"{plural(len(topology.nodes), 'node')}, {plural(len(topology.links), 'link')}"
    facts: list[tuple[str, Element | str]] = [
        ("forestcoll", __version__),
        ("Network", f"{topology.name}: {size}"),
        ("SHA-256 of the network in forestcoll's file format", element("code", topology_hash(topology))),
    ]
    if study.command is not None:
        facts.insert(0, ("Command", element("code", study.command)))
    pairs = [part for name, value in facts for part in (element("dt", name), element("dd", value))]
    return section("made", "How this page was made", element("dl", *pairs, class_="terms"))
