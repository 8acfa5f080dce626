"""The settings of NCCL that a user can choose: the algorithm, the order of the hosts, and the graph of each host."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.algorithms.baseline import BaselineResult
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import UNROOTED, Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.nccl.algorithms import made_by, usual_algorithms
from forestcoll.nccl.choice.sources import nccl_table
from forestcoll.nccl.choice.stored import VERSIONS
from forestcoll.nccl.choice.table import Table
from forestcoll.nccl.graph.file import read_graphs
from forestcoll.nccl.graph.hosts import COPIES, host_graphs
from forestcoll.nccl.graph.schedules import schedule_of_graph
from forestcoll.nccl.order.rank_order import best_order
from forestcoll.solver.bounds.rings import ring_bound
from forestcoll.topology import Topology
from forestcoll.topology.importers.source import Source

LARGE = 2**30
"""The size in bytes for which NCCL chooses where no size is given."""

_MOST_RANKS = 2048
"""The most ranks of a network on which settings are compared for a study of changes."""


@dataclass(frozen=True)
class Setting:
    """A setting of NCCL with its schedule.

    Attributes:
        collective: the collective.
        algorithm: the algorithm, as NCCL prints it.
        made: its schedule.
        is_reordered: whether hosts are in the order of `forestcoll rank-order`, not in that of the network.
        channels: the channels that the graph file of `forestcoll export --to nccl-graph` gives; None if NCCL finds its
            graph by itself.
    """

    collective: Collective
    algorithm: str
    made: BaselineResult
    is_reordered: bool = False
    channels: int | None = None

    @property
    def algbw(self) -> Fraction:
        """The algbw for large data, in the unit of the topology."""
        return self.made.algbw or self.made.schedule.algbw or Fraction(0)

    @property
    def text(self) -> str:
        """What the user sets. A bare `NCCL_ALGO=Tree` would end a job at its first allgather, which has no trees.

        Example:
            >>> from forestcoll.algorithms.generate import problem_of
            >>> problem = problem_of("dgx-h100:boxes=4", "allreduce")
            >>> [each.text for each in settings(problem)][1]
            'NCCL_ALGO="allreduce:tree;allgather:ring"'
        """
        name = self.collective.value.replace("-", "")
        others = ";allgather:ring" if self.collective is Collective.ALLREDUCE and self.algorithm != "RING" else ""
        parts = [f'NCCL_ALGO="{name}:{self.algorithm.lower().replace("_", "")}{others}"']
        parts += ["hosts as rank-order says"] * self.is_reordered
        parts += ["NCCL_GRAPH_FILE of export --to nccl-graph"] * (self.channels is not None)
        return ", ".join(parts)


def settings(problem: Problem, table: Table | None = None) -> Iterator[Setting]:
    """Yield the settings of NCCL that have a schedule on a network: the given order and NCCL's own graph first.

    Args:
        problem: the network, and the GPUs that take part.
        table: NCCL's table of the machine, which says what NCCL offers; None for what it usually offers.
    """
    if problem.collective not in UNROOTED or not problem.boxes.is_complete:
        return
    algorithms = tuple(usual_algorithms(problem) if table is None else table.algorithms(problem.collective))
    is_whole = len(problem.members) == len(problem.topology.compute)
    order = best_order(problem.topology) if is_whole else None
    for each in (problem, *([] if order is None else [replace(problem, order=order)])):
        for algorithm in algorithms:
            try:
                yield Setting(
                    problem.collective, algorithm, own_schedule(each, algorithm, table), each.order is not None
                )
            except DoesNotApplyError:
                continue
        if is_whole:
            yield from _with_graph_file(each, algorithms)


def own_schedule(problem: Problem, algorithm: str, table: Table | None) -> BaselineResult:
    """Return the schedule of an algorithm: with NCCL's own graph, if a library was asked, else in its best form.

    Raises:
        DoesNotApplyError: the algorithm has no schedule on this network.
    """
    if table is not None and len(table.graphs) == 1:
        found = read_graphs(Source("NCCL's graph", table.graphs[0], "graph"))
        graph = {"RING": found.rings, "TREE": found.trees}.get(algorithm)
        if graph is not None:
            schedule, _ = schedule_of_graph(problem, graph, "NCCL's graph")
            return BaselineResult(schedule, note="with the graph that NCCL finds")
    return made_by(problem, algorithm)


def _with_graph_file(problem: Problem, algorithms: Iterable[str]) -> Iterator[Setting]:
    """Yield the rings and trees of the graph file, if one file is for all hosts."""
    try:
        hosts = host_graphs(problem.topology, problem.collective)
    except InputError:  # NCCL has no file for such hosts
        return
    if len(hosts) > 1:
        return
    for algorithm, graph in (("RING", hosts[0].file.rings), ("TREE", hosts[0].file.trees)):
        if graph is not None and algorithm in algorithms:
            try:
                schedule, _ = schedule_of_graph(problem, graph, problem.topology.name)
            except InputError:
                continue
            channels = COPIES * len(graph.channels)
            made = BaselineResult(schedule)
            yield Setting(problem.collective, algorithm, made, problem.order is not None, channels)


def proof_of(problem: Problem, setting: Setting, bound: Fraction) -> str:
    """Return why no setting, or none with this algorithm, has more algbw; or that it was found by search.

    Args:
        problem: the problem.
        setting: the setting.
        bound: the bound of the collective, in the unit of the topology.
    """
    if setting.algbw >= bound:
        return "the bound is reached for large data"
    rings = ring_bound(problem.topology, problem.demand, bound) if setting.algorithm == "RING" else None
    return "found by search" if rings is None or setting.algbw < rings.algbw else "no rings are faster for large data"


@dataclass(frozen=True)
class NcclAlgbw:
    """What NCCL reaches for large data, in the unit of the topology.

    Attributes:
        algorithm: the algorithm of its own schedule.
        algbw: what its own schedule reaches: in the given order of the hosts, with its own graph; None if not known.
        best: what its best setting reaches; None if not known.
        setting: the best setting, as `Setting.text`; empty if not known.
    """

    algorithm: str
    algbw: Fraction | None = None
    best: Fraction | None = None
    setting: str = ""


def nccl_algbw(topology: Topology, demand: NodeDemand, algorithm: str | None = None) -> NcclAlgbw:
    """Return what NCCL reaches for large data on a network, in the strongest form of its algorithms.

    Args:
        topology: the network.
        demand: the collective and its ranks.
        algorithm: what NCCL runs by itself; None for what the newest stored table of the machine says, else rings.

    Example:
        >>> from forestcoll import load_topology
        >>> found = nccl_algbw(load_topology("dgx-h100:boxes=4").without("b0/gpu0--ib"), NodeDemand())
        >>> found.algorithm, str(found.algbw), str(found.best)
        ('RING', '11200/31', '11200/31')
    """
    problem = Problem(topology, demand)
    name = _own_algorithm(problem) if algorithm is None else algorithm
    found = [] if len(problem.members) > _MOST_RANKS else list(settings(problem))
    if not found:
        return NcclAlgbw(name)
    own = next((each.algbw for each in found if each.algorithm == name), None)
    best = max(found, key=lambda each: each.algbw)
    return NcclAlgbw(name, own, best.algbw, best.text)


def _own_algorithm(problem: Problem) -> str:
    """Return what NCCL chooses for large data by its newest stored table; rings if there is none."""
    try:
        choice = nccl_table(problem, VERSIONS[-1]).choice(problem.collective, LARGE)
    except DoesNotApplyError:
        choice = None
    return "RING" if choice is None else choice.algorithm
