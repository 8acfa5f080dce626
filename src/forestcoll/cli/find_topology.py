"""`forestcoll find-topology`: networks built for collectives, and the Pareto frontier of a size and degree."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.cli.options import json_option, path_option
from forestcoll.cli.types import DataSize, ExactNumber, NumberSpan

if TYPE_CHECKING:
    from forestcoll.cli.watching import Watch
    from forestcoll.design.constructions import Construction
    from forestcoll.design.workload import Workload

_TRAFFIC = ("allgather", "allreduce", "all-to-all", "mix")


@click.command("find-topology")
@click.option("--nodes", required=True, type=NumberSpan(), metavar="N", help="The number of nodes; A..B for a sweep.")
@click.option("--degree", required=True, type=NumberSpan(), metavar="D", help="Links out of a node; A..B for a sweep.")
@click.option("--bidirectional", is_flag=True, help="Only networks in which every link leads both ways.")
@click.option("--published-only", is_flag=True, help="Only base networks of the paper: no Cayley graphs.")
@click.option("--size", type=DataSize(), metavar="SIZE", help="The data M of the workload, such as 1MB; adds times.")
@click.option(
    "--alpha", type=ExactNumber("microseconds"), metavar="US", help="Latency of a step in microseconds.  [default: 10]"
)
@click.option(
    "--bandwidth",
    type=ExactNumber("GB/s"),
    metavar="GB/S",
    help="B, what a node sends over all its links together.  [default: 12.5]",
)
@click.option(
    "--collective", type=click.Choice(_TRAFFIC), default="allreduce", show_default=True, help="What the workload sends."
)
@click.option("--choose", metavar="NAME", help="The network to write, by name or steps.  [default: the best]")
@path_option("--topology-output", "Write the chosen network.")
@path_option("--schedule-output", "Write its schedule of steps, verified.")
@click.option("--no-cache", is_flag=True, help="Search again, and do not save the result.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes for a sweep.")
@json_option
def command(*, as_json: bool, **options: Any) -> None:
    """Find networks built for collectives.

    Prints the Pareto frontier of networks of N nodes with D links each: each network takes fewer steps (T_L, in units
    of alpha) than the next one, which needs less bandwidth (T_B, in units of M/B). With the size of a workload (--size)
    also its time on each network, and which network is the best.
    """
    asked = _Asked(**options)
    asked.check()
    if asked.is_sweep:
        _sweep(asked, as_json=as_json)
    else:
        _find(asked, as_json=as_json)


@dataclass(frozen=True)
class _Asked:
    nodes: range
    degree: range
    bidirectional: bool
    published_only: bool
    size: int | None
    alpha: Fraction | None
    bandwidth: Fraction | None
    collective: str
    choose: str | None
    topology_output: Path | None
    schedule_output: Path | None
    no_cache: bool
    jobs: int

    @property
    def is_sweep(self) -> bool:
        """Whether more than one size is searched."""
        return len(self.nodes) * len(self.degree) > 1

    @property
    def search(self) -> dict[str, bool]:
        """What networks are searched."""
        return {"bidirectional": self.bidirectional, "published_only": self.published_only}

    @property
    def outputs(self) -> dict[str, Path | None]:
        """The file of each kind of output, by its key in JSON."""
        return {"topology_output": self.topology_output, "schedule_output": self.schedule_output}

    def check(self) -> None:
        """Refuse options that do not go together."""
        if self.size is None and (self.alpha is not None or self.bandwidth is not None):
            raise click.UsageError("--alpha and --bandwidth are for a workload; give its --size too")
        if self.is_sweep and (any(self.outputs.values()) or self.choose):
            raise click.UsageError("a sweep writes no files and chooses none; ask for one number of nodes and degree")
        if self.schedule_output is not None and self.collective in {"all-to-all", "mix"}:
            raise click.UsageError("--schedule-output writes an allgather or an allreduce; choose one as --collective")

    def workload(self) -> "Workload | None":
        """Return the workload, if a size was given."""
        from forestcoll.design.workload import Traffic, Workload

        if self.size is None:
            return None
        alpha = Fraction(10) if self.alpha is None else self.alpha
        bandwidth = Fraction(25, 2) if self.bandwidth is None else self.bandwidth
        return Workload(Traffic(self.collective), self.size, alpha, bandwidth)


def _find(asked: _Asked, *, as_json: bool) -> None:
    from forestcoll.cli.watching import Watch
    from forestcoll.design.cache import find_with_cache
    from forestcoll.design.finder import find_topologies
    from forestcoll.design.workload import chosen_of
    from forestcoll.presentation import finder
    from forestcoll.presentation.printing import print_json, print_page

    workload = asked.workload()
    with Watch() as watch:
        watch.begin("searching")
        search = find_topologies if asked.no_cache else find_with_cache
        frontier = search(asked.nodes[0], asked.degree[0], **asked.search)
        watch.begin("measuring")
        chosen = chosen_of(frontier, workload, asked.choose)
        _write(chosen, asked, watch)
    if as_json:
        print_json(finder.frontier_document(frontier, workload, chosen, asked.outputs))
        return
    why = finder.chosen_because(workload, by_user=asked.choose is not None)
    print_page(finder.frontier_page(frontier, workload, chosen, why, asked.outputs))


def _write(chosen: "Construction", asked: _Asked, watch: "Watch") -> None:
    from forestcoll.design.realisation import schedule_of, topology_of
    from forestcoll.schedule.files import write_schedule
    from forestcoll.topology import write_topology

    schedule = None
    if asked.schedule_output is not None:
        schedule = schedule_of(chosen, asked.collective, progress=watch)
    if asked.topology_output is not None:
        write_topology(topology_of(chosen), asked.topology_output)
    if schedule is not None and asked.schedule_output is not None:
        watch.begin("writing")
        write_schedule(schedule, asked.schedule_output)


def _sweep(asked: _Asked, *, as_json: bool) -> None:
    from concurrent.futures import Executor, ProcessPoolExecutor
    from contextlib import ExitStack

    from forestcoll.cli.watching import Watch
    from forestcoll.design.sweep import questions_of, sweep
    from forestcoll.presentation.finder import sweep_document, sweep_page
    from forestcoll.presentation.printing import print_json, print_page

    workload, questions = asked.workload(), questions_of(asked.nodes, asked.degree)
    with Watch() as watch, ExitStack() as stack:
        watch.begin("searching")
        executor: Executor | None = None
        if asked.jobs > 1:
            executor = stack.enter_context(ProcessPoolExecutor(asked.jobs))
        found = list(sweep(questions, executor=executor, progress=watch, **asked.search))
    if as_json:
        print_json(sweep_document(found, workload))
    else:
        print_page(sweep_page(found, workload))
