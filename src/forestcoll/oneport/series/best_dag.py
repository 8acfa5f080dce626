"""The best directed acyclic graph (§3.1.3): the order of the nodes for which SSBPDAG has the greatest optimum.

Start orders come from the best tree, so that the DAG is never worse than that tree, and from the flow of the optimum:
little of it should lead backwards (Eades, Lin and Smyth 1993). A mixed-integer program (`order_search`) then finds the
best order, or a bound on all orders. If it does not end, or the platform is large, a local search moves one node at a
time. The throughput of each order is exact.

Two bounds are exact: the optimum of the series, and what the first node of a set can receive. In an order, one node of
each set of nodes is the first, and it receives all messages from outside the set.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING

from forestcoll.base.exact import as_float
from forestcoll.base.progress import SILENT, Progress
from forestcoll.oneport.platform.logical import logical_arcs
from forestcoll.oneport.platform.platform import Platform
from forestcoll.oneport.series.best_tree import BestTree
from forestcoll.oneport.series.dag import DagOptimum, dag_optimum, dag_program, forward_commodities
from forestcoll.oneport.series.optimum import SteadyOptimum
from forestcoll.oneport.series.order_search import OrderSearch, number_of_amounts
from forestcoll.topology.graph.walks import reached

if TYPE_CHECKING:
    from forestcoll.schedule.proof.prices import Port

MAX_SEARCHED_AMOUNTS = 250
"""The maximum number of amounts in the integer program: one for each link, or for each node behind a switch."""

_MAX_NODES = 2000
_MAX_WORK = 2_000_000
"""The limit on local search: the square of the number of links times the number of orders."""

_CLOSE = 1e-7
_FINE = 10**9


@dataclass(frozen=True)
class BestDag:
    """The best DAG that was found, and a bound on all DAGs.

    Attributes:
        dag: the order, the exact throughput, the rates and the trees.
        bound: an upper bound on the throughput of any DAG: the optimum of the series, or that of the integer program,
            which is as reliable as floating point is.
        optimal: whether the DAG is known to be the best: it reaches `bound`.
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
    bound = min(best.throughput, first_receiver_bound(platform))
    if found.throughput < bound and number_of_amounts(platform) <= MAX_SEARCHED_AMOUNTS:
        found, bound = _integer_search(best, found, bound)
    if found.throughput < bound:
        found = _local_search(platform, found, bound, progress)
    return BestDag(found, bound, optimal=found.throughput == bound)


def first_receiver_bound(platform: Platform) -> Fraction:
    """Return a bound on the throughput of every DAG: what the first receiver of some set of nodes can receive.

    The set is the one for which this is the least. Nodes are added to those outside, each time the one that can receive
    most from them.
    """
    nodes, targets = platform.topology.nodes, platform.topology.targets
    fed, bounds = {platform.source}, []
    while left := [node for node in platform.destinations if node not in fed]:
        fed = reached(fed, lambda each: [other for other in targets[each] if not nodes[other].is_compute])
        rates = {node: _most_received(platform, fed, node) for node in left}
        first = max(left, key=lambda each: (rates[each], -each))
        bounds.append(rates[first])
        fed.add(first)
    return min(bounds)


def _most_received(platform: Platform, senders: Collection[int], node: int) -> Fraction:
    """Return a bound on the messages that `node` can receive in a unit of time over links from `senders`."""
    topology, costs = platform.topology, platform.costs
    links = [link for link in topology.entering[node] if topology.links[link].source in senders]
    most = sum((1 / costs[link] for link in links), Fraction(0))
    times: dict[Port, list[Fraction]] = {}
    for link in links:
        for port, part in platform.uses[link]:
            times.setdefault(port, []).append(part * costs[link])
    return min((most, *(1 / min(each) for each in times.values() if len(each) == len(links))))


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


def _integer_search(best: SteadyOptimum, known: DagOptimum, bound: Fraction) -> tuple[DagOptimum, Fraction]:
    """Return the best DAG that the integer program finds, and a bound on the throughput of every DAG."""
    platform, search = best.platform, OrderSearch(best, known.throughput, bound)
    solution = search.program.solve(_MAX_NODES)
    found = known
    if solution.values is not None:
        places = [as_float(solution.values[column]) for column in search.places]
        wish = sorted(range(len(places)), key=lambda node: (places[node], node))
        order = _feasible_order(platform, _successors(platform), wish)
        found = max(known, dag_optimum(platform, order), key=lambda each: each.throughput)
    if isfinite(solution.bound) and solution.bound > 0:
        least = Fraction(solution.bound * (1 - _CLOSE)).limit_denominator(_FINE)
        bound = min(bound, best.throughput / least)
    return found, found.throughput if as_float(bound / found.throughput) <= 1 + 2 * _CLOSE else bound
