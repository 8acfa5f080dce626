"""The best directed acyclic graph (§3.1.3): the order of the nodes for which SSBPDAG has the greatest optimum.

On a small platform without switches the best order is found by a mixed-integer program with a position for each node.
On other platforms a local search improves start orders by moving one node at a time. One start order comes from the
best tree, so the DAG is never worse than that tree. Another one comes from the flow of the optimum: little of it should
lead backwards (Eades, Lin and Smyth 1993). The throughput of each order is exact. The optimum of the series is an upper
bound for all orders.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from forestcoll.base.exact import as_float
from forestcoll.base.progress import SILENT, Progress
from forestcoll.oneport.platform.logical import logical_arcs
from forestcoll.oneport.platform.platform import Platform
from forestcoll.oneport.series.best_tree import BestTree
from forestcoll.oneport.series.dag import DagOptimum, dag_optimum, dag_program, forward_commodities
from forestcoll.oneport.series.optimum import SteadyOptimum
from forestcoll.solver.exact_lp.integer_program import IntegerProgram

if TYPE_CHECKING:
    from forestcoll.schedule.proof.prices import Port

MAX_SEARCHED_LINKS = 48
"""The maximum number of links of a platform for the integer program."""

_MAX_NODES = 2000
_MAX_WORK = 2_000_000
"""The limit on local search: the square of the number of links times the number of orders."""

_CLOSE = 1e-7


@dataclass(frozen=True)
class BestDag:
    """The best DAG that was found, and a bound on all DAGs.

    Attributes:
        dag: the order, the exact throughput, the rates and the trees.
        bound: an upper bound on the throughput of any DAG.
        optimal: whether the DAG is known to be the best: it reaches `bound`, or the integer program was solved
            completely.
    """

    dag: DagOptimum
    bound: Fraction
    optimal: bool

    @property
    def throughput(self) -> Fraction:
        """Messages per unit of time."""
        return self.dag.throughput


def best_dag(best: SteadyOptimum, tree: BestTree, progress: Progress = SILENT) -> BestDag:
    """Return the best DAG on the platform of `best` with a bound, or a good DAG that is not worse than `tree`."""
    platform = best.platform
    progress.begin("searching for the best DAG")
    found = max((dag_optimum(platform, order) for order in _orders(best, tree)), key=lambda each: each.throughput)
    complete = False
    if found.throughput < best.throughput:
        found = _local_search(platform, found, best.throughput, progress)
    searched = not platform.topology.switches and len(platform.topology.links) <= MAX_SEARCHED_LINKS
    if found.throughput < best.throughput and searched:
        found, complete = _integer_search(best, found)
    return BestDag(found, best.throughput, optimal=complete or found.throughput == best.throughput)


def _orders(best: SteadyOptimum, tree: BestTree) -> Iterator[tuple[int, ...]]:
    """Yield start orders: the order of the tree, the order by mean depth, and an order with little backward flow."""
    platform = best.platform
    successors = _successors(platform)
    yield _feasible_order(platform, successors, [route[-1] for route in tree.tree.routes])
    depth = [Fraction(0)] * len(platform.topology.nodes)
    for each in best.trees:
        for place, (_, target) in zip(each.depths, each.edges, strict=True):
            depth[target] += place * each.weight
    yield _feasible_order(platform, successors, sorted(platform.topology.compute, key=lambda node: (depth[node], node)))
    yield _feasible_order(platform, successors, _by_surplus(best))


def _successors(platform: Platform) -> dict[int, set[int]]:
    """Return, for each compute node, the compute nodes that it reaches by a link or through switches only."""
    successors: dict[int, set[int]] = {node: set() for node in platform.topology.compute}
    for tail, head in logical_arcs(platform, platform.costs).arcs:
        successors[tail].add(head)
    return successors


def _feasible_order(platform: Platform, successors: Mapping[int, set[int]], wish: Sequence[int]) -> tuple[int, ...]:
    """Return the compute nodes in the order of `wish`, with each node moved behind the first node that reaches it."""
    rank = {node: place for place, node in reversed(list(enumerate(wish)))}
    order, waiting = [platform.source], set(successors[platform.source])
    placed = {platform.source}
    while waiting:
        node = min(waiting, key=lambda each: (rank[each], each))
        order.append(node)
        placed.add(node)
        waiting = (waiting | successors[node]) - placed
    return tuple(order)


def _by_surplus(best: SteadyOptimum) -> list[int]:
    """Return an order in which little of the optimum's flow leads backwards: the node with the largest surplus first.

    The surplus of a node is the amount that it sends minus the amount that it receives.
    """
    sent: dict[tuple[int, int], Fraction] = {}
    for tree in best.trees:
        for route in tree.routes:
            ends = route[0], route[-1]
            sent[ends] = sent.get(ends, Fraction(0)) + tree.weight
    left = list(best.platform.destinations)
    order = [best.platform.source]
    while left:
        surplus = dict.fromkeys(left, Fraction(0))
        for (one, other), amount in sent.items():
            if one in surplus and other in surplus:
                surplus[one] += amount
                surplus[other] -= amount
        node = max(left, key=lambda each: (surplus[each], -each))
        order.append(node)
        left.remove(node)
    return order


def _local_search(platform: Platform, found: DagOptimum, enough: Fraction, progress: Progress) -> DagOptimum:
    """Return the result of local search: move one node to another position as long as that increases the throughput."""
    tries = _MAX_WORK // len(platform.topology.links) ** 2
    done = 0
    improved = True
    while improved and found.throughput < enough:
        improved = False
        for order in _neighbours(platform, found.order):
            done += 1
            if done > tries:
                return found
            progress.advance(done, tries)
            if _approximate_throughput(platform, order) > as_float(found.throughput) * (1 + _CLOSE):
                better = dag_optimum(platform, order)
                if better.throughput > found.throughput:
                    found, improved = better, True
                    break
    return found


def _neighbours(platform: Platform, order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the orders that differ in the position of one node and in which all nodes can receive."""
    seen, successors = {order}, _successors(platform)
    for place in range(1, len(order)):
        rest = (*order[:place], *order[place + 1 :])
        for other in range(1, len(order)):
            moved = (*rest[:other], order[place], *rest[other:])
            candidate = _feasible_order(platform, successors, moved)
            if candidate not in seen:
                seen.add(candidate)
                yield candidate


def _approximate_throughput(platform: Platform, order: tuple[int, ...]) -> float:
    """Return the approximate throughput of an order."""
    solution = dag_program(platform, forward_commodities(platform, order)).attempt()
    return 0.0 if solution is None else as_float(solution.values[0]) / as_float(min(platform.costs))


def _integer_search(best: SteadyOptimum, known: DagOptimum) -> tuple[DagOptimum, bool]:
    """Return the best DAG that the integer program finds, and whether it is proven to be the best."""
    search = _OrderSearch(best, known)
    solution = search.program.solve(_MAX_NODES)
    if solution.values is None:
        return known, False
    places = [as_float(solution.values[column]) for column in search.places]
    wish = sorted(range(len(places)), key=lambda node: (places[node], node))
    order = _feasible_order(best.platform, _successors(best.platform), wish)
    found = max(known, dag_optimum(best.platform, order), key=lambda each: each.throughput)
    reached = as_float(found.throughput / best.throughput)
    return found, solution.complete and -solution.bound <= reached * (1 + _CLOSE)


class _OrderSearch:
    """The integer program. Variables: the throughput, the time and the use of each link, the position of each node.

    The unit of time is the time per message in the optimum of the series. The throughput has the same scale.
    """

    def __init__(self, best: SteadyOptimum, known: DagOptimum) -> None:
        platform, topology = best.platform, best.platform.topology
        self.program = program = IntegerProgram()
        nodes = len(topology.nodes)
        throughput = program.add_column(cost=-1.0, upper=1.0)
        program.add_row({throughput: 1.0}, lower=as_float(known.throughput / best.throughput))
        self.places = [
            program.add_column(upper=0.0 if node == platform.source else as_float(nodes - 1)) for node in range(nodes)
        ]
        entered: list[dict[int, float]] = [{} for _ in topology.nodes]
        ports: dict[Port, dict[int, float]] = {}
        used: dict[int, int] = {}
        for number, link in enumerate(topology.links):
            if link.target == platform.source:
                continue
            messages, use = program.add_column(), program.add_column(upper=1.0, whole=True)
            cost = as_float(platform.costs[number] * best.throughput)
            program.add_row({messages: cost, use: -1.0}, upper=0.0)
            program.add_row({messages: 1.0, use: -as_float(nodes)}, upper=0.0)
            later = {self.places[link.target]: 1.0, self.places[link.source]: -1.0, use: -as_float(nodes)}
            program.add_row(later, lower=1.0 - nodes)
            entered[link.target][messages] = 1.0
            for port, part in platform.uses[number]:
                ports.setdefault(port, {})[messages] = as_float(part) * cost
            used[number] = use
        for port in sorted(ports):
            program.add_row(ports[port], upper=1.0)
        for number in range(nodes):
            if number != platform.source:
                program.add_row(entered[number] | {throughput: -1.0}, 0.0, 0.0)
        for (one, other), number in topology.link_numbers.items():
            back = topology.link_numbers.get((other, one))
            if one < other and back is not None and used.keys() >= {number, back}:
                program.add_row({used[number]: 1.0, used[back]: 1.0}, upper=1.0)
