"""`forestcoll find-topology`: the Pareto frontier of networks for collectives, by size and degree."""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.cli.options import jobs_option, json_option, path_option, processes
from forestcoll.cli.types import DataSize, ExactNumber, NumberSpan, OutputFile, PictureFile, TopologySpec

if TYPE_CHECKING:
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.design.constructions import Construction
    from forestcoll.design.search.finder import Frontier
    from forestcoll.design.workloads.workload import Workload

_TRAFFIC = ("allgather", "allreduce", "all-to-all", "mix")


@click.command("find-topology")
@click.option(
    "--nodes", required=True, type=NumberSpan(), metavar="N", help="The number of nodes, or A..B for a sweep."
)
@click.option(
    "--degree",
    required=True,
    type=NumberSpan(),
    metavar="D",
    help="The number of links that leave each node, or A..B for a sweep.",
)
@click.option("--bidirectional", is_flag=True, help="Only networks in which every link has a reverse link.")
@click.option("--published-only", is_flag=True, help="Only base networks of the paper, without Cayley graphs.")
@click.option(
    "--base",
    "base_networks",
    multiple=True,
    metavar="FILE|TOPOLOGY",
    type=TopologySpec(),
    help="Another base network: an allgather in steps, or a network with its best breadth-first schedule. It may be "
    "given several times.",
)
@click.option(
    "--size",
    type=DataSize(),
    metavar="SIZE",
    help="The data size M of a workload, such as 1MB; adds its time on each network.",
)
@click.option(
    "--alpha",
    type=ExactNumber("microseconds"),
    metavar="US",
    help="The latency of a step in microseconds.  [default: 10]",
)
@click.option(
    "--bandwidth",
    type=ExactNumber("GB/s"),
    metavar="GB/S",
    help="B, the total bandwidth of the links that leave a node, in GB/s.  [default: 12.5]",
)
@click.option(
    "--reduction",
    type=ExactNumber("GB/s"),
    metavar="GB/S",
    help="The data that a node adds up in a second, in GB/s, for allreduces.  [default: adding takes no time]",
)
@click.option(
    "--collective",
    type=click.Choice(_TRAFFIC),
    default="allreduce",
    show_default=True,
    help="The workload; mix is an allreduce and an all-to-all.",
)
@click.option(
    "--choose", metavar="NAME", help="The network to write, by its name or number of steps.  [default: the best]"
)
@path_option("--topology-output", OutputFile(".json"), "Write the chosen network to this file.")
@path_option(
    "--schedule-output", OutputFile(".json"), "Write a verified step schedule of the chosen network to this file."
)
@path_option(
    "--plot",
    PictureFile(".svg", ".png"),
    "Draw the frontier, steps over T_B, next to the networks of the paper's bases: .svg or .png (one picture).",
)
@path_option(
    "--picture",
    PictureFile(".html", ".svg", ".png"),
    "Draw the chosen network: .html (a page), .svg or .png (one picture).",
)
@jobs_option("The number of processes for a sweep.")
@json_option
def command(*, as_json: bool, **options: Any) -> None:
    """Find networks that are designed for collectives.

    The command prints the Pareto frontier of networks with N nodes and D links per node. Each network takes fewer steps
    (T_L, in units of alpha) than the next one, which has a smaller bandwidth time (T_B, in units of M/B). With --size,
    it also prints the time of a workload on each network, and the best network for the workload.
    """
    request = _Options(**options)
    request.check()
    if request.is_sweep:
        _sweep(request, as_json=as_json)
    else:
        _find(request, as_json=as_json)


@dataclass(frozen=True)
class _Options:
    nodes: range
    degree: range
    bidirectional: bool
    published_only: bool
    base_networks: tuple[str, ...]
    size: int | None
    alpha: Fraction | None
    bandwidth: Fraction | None
    reduction: Fraction | None
    collective: str
    choose: str | None
    topology_output: Path | None
    schedule_output: Path | None
    plot: Path | None
    picture: Path | None
    jobs: int

    @property
    def is_sweep(self) -> bool:
        """Whether there is more than one size or degree."""
        return len(self.nodes) * len(self.degree) > 1

    @property
    def search(self) -> dict[str, bool]:
        """The arguments of the search that restrict the networks."""
        return {"bidirectional": self.bidirectional, "published_only": self.published_only}

    @property
    def outputs(self) -> dict[str, Path | None]:
        """The file of each kind of output, by its key in JSON; None if it is not written."""
        names = ("topology_output", "schedule_output", "plot", "picture")
        return {name: getattr(self, name) for name in names}

    def bases(self) -> "list[Construction]":
        """Return the base networks of the user."""
        from forestcoll.design.given import base_network

        return [base_network(each) for each in self.base_networks]

    def check(self) -> None:
        """Check that the options can be combined.

        Raises:
            click.UsageError: they cannot.
        """
        if self.size is None and any(each is not None for each in (self.alpha, self.bandwidth, self.reduction)):
            raise click.UsageError("--alpha, --bandwidth and --reduction are for a workload; also give its --size")
        if self.is_sweep and (any(self.outputs.values()) or self.choose):
            raise click.UsageError(
                "a sweep writes no files; for --choose and output files, give one number of nodes and one degree"
            )
        if self.base_networks and self.jobs > 1:
            raise click.UsageError("--base is for a search in one process; leave out --jobs")
        if self.schedule_output is not None and self.collective in {"all-to-all", "mix"}:
            raise click.UsageError("--schedule-output writes an allgather or an allreduce; choose one as --collective")

    def workload(self) -> "Workload | None":
        """Return the workload, or None if no size was given."""
        from forestcoll.design.workloads.workload import Traffic, Workload

        if self.size is None:
            return None
        alpha = Fraction(10) if self.alpha is None else self.alpha
        bandwidth = Fraction(25, 2) if self.bandwidth is None else self.bandwidth
        return Workload(Traffic(self.collective), self.size, alpha, bandwidth, self.reduction)


def _find(request: _Options, *, as_json: bool) -> None:
    from forestcoll.base.together import written_together
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.design.workloads.workload import chosen_of
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.networks import finder

    workload = request.workload()
    with TerminalProgress() as progress:
        progress.begin("searching")
        frontier = _frontier(request)
        progress.begin("measuring")
        chosen = chosen_of(frontier, workload, request.choose)
        with written_together():
            _write(chosen, request, progress)
            _draw(frontier, chosen, request, progress)
    if as_json:
        print_json(finder.frontier_document(frontier, workload, chosen, request.outputs))
        return
    why = finder.reason_for_choice(workload, by_user=request.choose is not None)
    print_page(finder.frontier_page(frontier, workload, chosen, why, request.outputs))


def _frontier(request: _Options) -> "Frontier":
    from forestcoll.design.search.finder import find_topologies

    return find_topologies(request.nodes[0], request.degree[0], bases=request.bases(), **request.search)


def _draw(frontier: "Frontier", chosen: "Construction", request: _Options, progress: "TerminalProgress") -> None:
    from forestcoll.demand.demand import NodeDemand
    from forestcoll.design.realisation import topology_of
    from forestcoll.presentation.pictures.raster import write_picture
    from forestcoll.presentation.results.networks.frontier_plot import frontier_plot
    from forestcoll.presentation.view.view import View, write_view

    if request.plot is not None:
        progress.begin("drawing the frontier")
        write_picture(frontier_plot(frontier, _published(request)), request.plot)
    if request.picture is not None:
        progress.begin("drawing the network")
        write_view(View(topology_of(chosen), None, None, NodeDemand()), request.picture)


def _published(request: _Options) -> "Frontier | None":
    """Return the networks of the paper's bases, or None if they are what was searched for, or if there are none."""
    from forestcoll.base.errors import NoSolutionError

    if request.published_only and not request.base_networks:
        return None
    try:
        return _frontier(replace(request, published_only=True, base_networks=()))
    except NoSolutionError:
        return None


def _write(chosen: "Construction", request: _Options, progress: "TerminalProgress") -> None:
    from forestcoll.design.realisation import schedule_of, topology_of
    from forestcoll.schedule.files import write_schedule
    from forestcoll.topology import write_topology

    schedule = None
    if request.schedule_output is not None:
        schedule = schedule_of(chosen, request.collective, progress=progress)
    if request.topology_output is not None:
        write_topology(topology_of(chosen), request.topology_output)
    if schedule is not None and request.schedule_output is not None:
        progress.begin("writing")
        write_schedule(schedule, request.schedule_output)


def _sweep(request: _Options, *, as_json: bool) -> None:
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.design.search.sweep import questions_of, sweep
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.networks.finder import sweep_document, sweep_page

    workload, questions = request.workload(), questions_of(request.nodes, request.degree)
    with TerminalProgress() as progress, processes(request.jobs) as executor:
        progress.begin("searching")
        found = list(sweep(questions, executor=executor, bases=request.bases(), progress=progress, **request.search))
    if as_json:
        print_json(sweep_document(found, workload))
    else:
        print_page(sweep_page(found, workload))
