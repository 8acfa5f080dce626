"""The arguments and options that several commands share."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from forestcoll.base.errors import InputError
from forestcoll.cli.file_types import FileName, FileOrText, FilesByKind, NetworkFile, OutputFile, TopologySpec
from forestcoll.cli.types import CollectiveName, IntegerFrom, MethodText, OneOf, Ranks, RootlessCollective, TreeCount
from forestcoll.demand.collective import Collective

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from forestcoll.algorithms.method import Method
    from forestcoll.base.progress import Progress
    from forestcoll.base.registry import Spec
    from forestcoll.demand.demand import Demand
    from forestcoll.demand.groups.groups import Groups
    from forestcoll.schedule.schedule import Schedule
    from forestcoll.topology import Topology
    from forestcoll.verification import Report

Command = TypeVar("Command", bound=Callable[..., Any])
Value = TypeVar("Value")
Changes = tuple[tuple[str, ...], tuple[str, ...]]
"""The values of `change_options`: links that have failed, and links with another bandwidth."""

SEPARATOR = "--"
"""What stands between the ids of the two ends of a link."""

PARTS = ("links", "nics", "nodes", "switches", "boxes")
"""What can fail; see `topology.failures.PartKind`."""

MOST_JOBS = 1024
"""The most processes that a command starts."""

_LINK_OPTIONS = ("--without", "--degrade")


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
file_argument = click.argument("file", metavar="FILE", type=FileName())
_PORT_MODELS = {
    "one": "one-port",
    "send": "one-port-send",
    "receive": "one-port-receive",
    "half": "half-duplex",
    "bounded": "bounded-multi-port",
    "all": None,
}
"""The port model of each value of `ports_option`."""

ports_option = click.option(
    "--ports",
    type=OneOf(list(_PORT_MODELS)),
    help="one: a compute node sends to one neighbour and receives from one neighbour at a time; send: it sends to one "
    "neighbour at a time, but receives over all links at once; receive: it receives from one neighbour at a time, but "
    "sends over all links at once; half: it sends to or receives from one neighbour at a time; bounded: it uses all "
    "its links at once, within its send_bandwidth and its receive_bandwidth in TOPOLOGY; all: it uses all its links at "
    "once.  [default: as in TOPOLOGY]",
)


class HelpLaterOption(click.Option):
    """An option whose help is made when it is printed, so that nothing is imported before.

    Args:
        names: as for `click.Option`.
        make_help: returns the help.
        how: as for `click.Option`.
    """

    def __init__(self, *names: Any, make_help: Callable[[], str], **how: Any) -> None:
        super().__init__(*names, **how)
        self.make_help = make_help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help."""
        self.help = self.make_help()
        return super().get_help_record(ctx)


def parameters_help(spec: "Spec") -> str:
    """Return what the parameters of a value are, for a help text."""
    return "; ".join(f"{each.name}= is {each.meaning} (default: {each.default_text})" for each in spec.parameters)


def output_option_of(kind: OutputFile) -> Callable[[Command], Command]:
    """Return the option for the file that a command writes."""
    return click.option(
        "-o",
        "--output",
        metavar="FILE",
        type=kind,
        help="The file to write, compressed by gzip if the name ends in .gz. With -, the file is written to standard "
        "output, and the report to standard error.",
    )


def files_option(*names: str, kinds: Mapping[str, FileName], description: str) -> Callable[[Command], Command]:
    """Return the option for several kinds of files; the command receives the path of each kind that is given."""
    files = FilesByKind(kinds)
    more = f"Without KIND, it is {files.first}. Give the option once for each kind."
    how: Any = {"metavar": "[KIND=]FILE", "type": files, "multiple": True, "callback": files.by_kind}
    return click.option(*names, **how, help=f"{description} {more}")


def outputs_option(description: str, **kinds: OutputFile) -> Callable[[Command], Command]:
    """Return the option for several kinds of files that a command writes."""
    streams = "With -, the file is written to standard output, and the report to standard error."
    return files_option("-o", "--output", kinds=kinds, description=f"{description} {streams}")


output_option = output_option_of(OutputFile(".json"))
network_output_option = output_option_of(NetworkFile())
costs_option = click.option(
    "--costs",
    metavar="FILE",
    type=FileName(),
    help="The parameters of the cost model, in a file that forestcoll fit wrote.",
)
ranks_option = click.option(
    "--ranks",
    type=Ranks(),
    metavar="RANKS",
    help="The compute nodes that take part, by position from 0 (0-7,16-23) or id (gpu0,gpu3). The others are idle and "
    "may relay data.  [default: all]",
)
nccl_option = click.option(
    "--nccl",
    metavar="PATH|VERSION",
    help="Where NCCL's table of the machine comes from: a libnccl.so.2, which is asked, or a version whose tables are "
    "stored: 2.28, 2.30 or 2.32.  [default: FORESTCOLL_NCCL, else the library that is installed, else 2.32]",
)


def links_one_by_one(args: Iterable[str]) -> Iterator[str]:
    """Yield the arguments, with `--without` and `--degrade` before each further link, a word with `--` inside."""
    option, given = None, False
    for word in args:
        is_link = SEPARATOR in word[1:] and not word.startswith("-")
        if option is not None and given and is_link:
            yield option
        elif word in _LINK_OPTIONS:
            option, given = word, False
            yield word
            continue
        elif option is not None and given:
            option = None
        given = option is not None
        yield word


def change_options(command: Command) -> Command:
    """Add the options that change the network, for `named_network`. `main` lets several links follow one option."""
    degrade = click.option(
        "--degrade",
        metavar="NAME=BANDWIDTH…",
        multiple=True,
        help="Parts whose links have another bandwidth, in both directions, by the names of --without: A--B=12.5, or "
        "A--B=50% of the present one.",
    )
    without = click.option(
        "--without",
        metavar="NAME…",
        multiple=True,
        help="Parts that have failed: a link A--B by the ids of its ends; a GPU, NIC or switch by its id; a box, as b0 "
        "or 'box 0'; a class of links, as GPU--NIC. Several with commas.",
    )
    return without(degrade(command))


def topology_argument(command: Command) -> Command:
    """Add the argument TOPOLOGY and the options that change it, for `named_network`."""
    return click.argument("topology", metavar="TOPOLOGY", type=TopologySpec())(change_options(command))


@contextmanager
def processes(jobs: int | None) -> "Iterator[Executor | None]":
    """Start the processes of `--jobs`, which end with the block; None if this process does the work alone.

    Raises:
        InputError: the system ended a process.
    """
    if jobs is None or jobs == 1:
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    try:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as executor:
            yield executor
    except BrokenProcessPool:
        raise InputError(
            "the system ended a process of --jobs, perhaps because memory ran out; give fewer --jobs"
        ) from None


def jobs_option(description: str) -> Callable[[Command], Command]:
    """Return the option that says how many processes work; None if it is not given."""
    return click.option("--jobs", type=IntegerFrom(1, MOST_JOBS), help=f"{description}  [default: 1]")


def collective_option(
    collectives: Iterable[Collective], default: Collective, word: str = "operation"
) -> Callable[[Command], Command]:
    """Return the option for one of `collectives`, which the help text calls by `word`."""
    names = [each.value for each in collectives]
    return click.option(
        "--collective",
        type=CollectiveName(names),
        metavar="NAME",
        default=default.value,
        show_default=True,
        help=f"The {word}: {', '.join(names)}.",
    )


def dialect_option(description: str, default: str | None = None) -> Callable[[Command], Command]:
    """Return the option for the runtime that loads MSCCL XML, with the help text `description`."""
    names = OneOf(["microsoft", "azure", "rccl"])
    return click.option("--dialect", type=names, default=default, show_default=True, help=description)


def path_option(name: str, kind: FileName, description: str) -> Callable[[Command], Command]:
    """Return an option called `name` for a file of this kind, with the help text `description`."""
    return click.option(name, metavar="FILE", type=kind, help=description)


def demand_options(command: Command) -> Command:
    """Add the options for what is moved: a collective, groups that run at the same time, or pieces of data."""
    for option in (
        click.option(
            "--run",
            metavar="NAMES",
            help="With --layout: the dimensions whose groups run at the same time, such as dp or tp,dp.  [default: the "
            "last one]",
        ),
        click.option(
            "--layout",
            metavar="LAYOUT",
            help="Groups by dimension, the fastest first, such as tp=8,dp=4. The dimensions are tp, dp, fsdp, "
            "ep, pp and cp (tensor, data, sharded data, expert, pipeline and context parallel).",
        ),
        click.option(
            "--group-sizes",
            metavar="SIZES",
            help="The size M of each group relative to the others, such as 1,1/2; with --layout, of each dimension in "
            "--run.  [default: 1 each]",
        ),
        click.option(
            "--groups",
            type=FileOrText(),
            metavar="GROUPS",
            help='Groups that run the collective at the same time: ranks as in --ranks, such as "0,8;1,9"; or a JSON '
            "file, in which each group may have its own collective.",
        ),
        click.option(
            "--shards",
            type=FileName(),
            metavar="FILE",
            help='For allgather, reduce-scatter, gather and scatter: a JSON file {"ID": "RATIONAL", ...}, the shard of '
            "each node as a fraction of the data.  [default: equal shards]",
        ),
        click.option(
            "--demand",
            type=FileName(),
            metavar="FILE",
            help="For all-to-all, gather and scatter: a CSV file with a demand matrix: what each node (row) sends to "
            "each other one (column), in multiples of M.  [default: 1/N each]  Instead of --collective: a JSON file of "
            "pieces of data, with the nodes that hold each piece or parts of its sum, and the nodes that need it.",
        ),
        click.option(
            "--no-in-network", is_flag=True, help="Use no switches that copy and add up data, if TOPOLOGY has any."
        ),
        click.option(
            "--root",
            metavar="ID",
            help="For broadcast, reduce, gather and scatter: the root, by id or by position from 0.",
        ),
        click.option(
            "--no-relays",
            is_flag=True,
            help="With --ranks: send no data through idle compute nodes. With --groups, --layout and pieces: send no "
            "data of a group or a piece through other compute nodes.",
        ),
        ranks_option,
        click.option(
            "--collective",
            type=CollectiveName([each.value for each in Collective]),
            metavar="NAME",
            help=f"The collective: {', '.join(Collective)}.  [default: allgather]",
        ),
    ):
        command = option(command)
    return command


def tree_options(command: Command) -> Command:
    """Add the options for the number of trees."""
    for option in (
        click.option(
            "--max-peers",
            type=TreeCount(),
            metavar="K",
            help="For equal boxes behind switches: make a schedule in which a rank exchanges data with at most K ranks "
            "of other boxes. Data makes more sends, but the schedule fits into the programs of more runtimes.",
        ),
        click.option(
            "--max-trees",
            type=TreeCount(),
            metavar="K",
            help="Use the best of the schedules found for 1 to K trees per root.",
        ),
        click.option(
            "--trees",
            type=TreeCount(),
            metavar="K",
            help="Use K trees per root, in an allreduce K on average. The result is the best that is found, with its "
            "distance to the bound.  [default: few that reach the optimum]",
        ),
    ):
        command = option(command)
    return command


def asked_by(options: dict[str, Any]) -> "tuple[Demand | Groups, Method | None]":
    """Return the demand and the method that options ask for.

    Raises:
        click.UsageError: they do not fit each other.
    """
    from forestcoll.algorithms.asked import asked

    return usage_of(asked, options)


def usage_of(asked: Callable[[Any], Value], options: Mapping[str, Any]) -> Value:
    """Return what options ask for.

    Raises:
        click.UsageError: they do not fit each other.
    """
    try:
        return asked(options)
    except InputError as error:
        raise click.UsageError(str(error)) from None


def source_options(command: Command) -> Command:
    """Add the argument of a schedule file or TOPOLOGY, and what is generated on a network; see `schedule_of_source`."""
    for option in (
        click.option(
            "--method",
            type=MethodText(),
            metavar="NAME[:KEY=VALUE…]",
            help="With TOPOLOGY: how the schedule is made, as for generate.  [default: the optimum]",
        ),
        click.option(
            "--collective",
            type=RootlessCollective([each.value for each in Collective if not each.has_root]),
            metavar="NAME",
            help="With TOPOLOGY: the collective.  [default: allgather]",
        ),
        click.argument("source", metavar="FILE|TOPOLOGY", type=TopologySpec()),
    ):
        command = option(command)
    return change_options(command)


def schedule_of_source(options: dict[str, Any], progress: "Progress") -> "tuple[Schedule, Report]":
    """Return the verified schedule in a file, or one that is generated on a network, with its report.

    The values of `source_options` are taken out of `options`.

    Raises:
        click.UsageError: a file is given with options for a network.
    """
    from forestcoll.base.files import path_of
    from forestcoll.verification.reading import read_verified

    source, collective, method = (options.pop(name) for name in ("source", "collective", "method"))
    changes = {name: options.pop(name) for name in ("without", "degrade")}
    if names_schedule(source):
        refuse_for_file({"collective": collective, "method": method, **changes})
        return read_verified(path_of(source), progress=progress)
    from forestcoll.algorithms.generate import generate
    from forestcoll.verification import certified, verify

    progress.begin("reading the topology")
    schedule = generate(named_network(source, **changes), collective or "allgather", method, progress=progress)
    progress.begin("verifying")
    return schedule, certified(verify(schedule))


def names_schedule(source: str) -> bool:
    """Return whether an argument is the file of a schedule, not TOPOLOGY."""
    from forestcoll.base.files import is_standard_stream, path_of
    from forestcoll.schedule.files import holds_schedule

    path = path_of(source)
    return (is_standard_stream(path) or path.is_file()) and holds_schedule(path)


def refuse_for_file(options: Mapping[str, Any], what: str = "a schedule") -> None:
    """Refuse options for TOPOLOGY where a file with a schedule, or `what`, is given.

    Raises:
        click.UsageError: one of them is given.
    """
    given = next((name for name, value in options.items() if value), None)
    if given is not None:
        raise click.UsageError(f"--{given} is for TOPOLOGY; leave it out for {what}")


def changed_network_of(topology: str, demand: "Demand | Groups", changes: "Changes") -> "Topology":
    """Return the network that TOPOLOGY names, with its changes; for some ranks, only these must reach each other."""
    return named_network(topology, *changes, connected=demand.needs_all)


def named_network(
    topology: str, without: Sequence[str] = (), degrade: Sequence[str] = (), *, connected: bool = True
) -> "Topology":
    """Return the network that TOPOLOGY names, with the changes of `change_options`.

    What was assumed to import it is a note on standard error.
    """
    from forestcoll.presentation.printing import NotePrinter, print_note
    from forestcoll.topology.changes import changed_network
    from forestcoll.topology.registry import load_with_assumptions

    network, assumed = load_with_assumptions(topology, connected=connected, progress=NotePrinter())
    for text in assumed:
        print_note(f"{network.name}: assumed: {text}")
    return changed_network(network, without, degrade)


def with_ports(network: "Topology", ports: str | None) -> "Topology":
    """Return the network with the port model that `ports_option` selects."""
    from forestcoll.topology.graph.node_limits import with_node_limits
    from forestcoll.topology.model import BOUNDED

    if ports is None:
        return network
    changed = replace(network, port_model=_PORT_MODELS[ports])
    return changed if changed.port_model == BOUNDED else with_node_limits(changed)
