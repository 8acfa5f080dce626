"""The times of collectives on a network of the finder, which are measured on request and bounded before that.

A network may have several known schedules, those of constructions with the same links. An allgather takes the one that
is the fastest for its size, and an allreduce a reduce-scatter and an allgather, each the fastest. Groups have the
schedule that `generate` makes for them, in which rank r is the node that the placement has in position r.

The bounds: no reduce-scatter has fewer steps than the diameter, or less than (N-1)/N of M/B. An all-to-all, also one of
groups, loads the links with the sum of its distances. A group takes as many hops as its members are apart.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.groups import Groups
from forestcoll.demand.groups.layout import Layout
from forestcoll.demand.groups.value import Group
from forestcoll.design.constructions import Construction
from forestcoll.design.exchange_rate import exchange_rate
from forestcoll.design.expansions.breadth_first import BreadthFirst
from forestcoll.design.expansions.degree_expansion import DegreeExpansion
from forestcoll.design.measure import MAX_DEGREE, Cost, least_factor
from forestcoll.design.path_rates import distances_from
from forestcoll.design.wiring import Wiring
from forestcoll.design.workloads.sharded import CollectiveTime, collective_time
from forestcoll.design.workloads.workload import StepCosts
from forestcoll.schedule.rows import IntArray
from forestcoll.solver.flows.rates import ExchangeRate
from forestcoll.solver.flows.spreading import MOST_NODES
from forestcoll.topology import Topology

JobDemand: TypeAlias = Demand | Groups
"""A collective of all nodes, or of groups that run at the same time."""


@dataclass(frozen=True)
class Network:
    """A network with its known schedules.

    Attributes:
        schedules: constructions with the same links; the first one names the network.
    """

    schedules: tuple[Construction, ...]

    @property
    def main(self) -> Construction:
        """The construction that names the network."""
        return self.schedules[0]

    @cached_property
    def distances(self) -> npt.NDArray[np.int16]:
        """The distances between nodes: row u, column v holds that from v to u."""
        return distances_from(self.main.wiring)


def networks_of(constructions: Iterable[Construction]) -> list[Network]:
    """Return the networks of constructions, in their order, each with its breadth-first schedule too, if it is small.

    Example:
        >>> from forestcoll import find_topologies
        >>> [each.main.name for each in networks_of(find_topologies(12, 2).members)]
        ['Π(2,12)', 'Cayley(2,12)']
    """
    found: dict[bytes, list[Construction]] = {}
    for each in constructions:
        found.setdefault(np.sort(each.wiring.pairs).tobytes(), []).append(each)
    return [Network((*listed, *_rescheduled(listed))) for listed in found.values()]


def _rescheduled(listed: Sequence[Construction]) -> Iterator[Construction]:
    first = listed[0]
    counted = first.base if isinstance(first, DegreeExpansion) else first
    if not any(each.is_breadth_first for each in listed) and counted.degree <= MAX_DEGREE and first.nodes <= MOST_NODES:
        yield BreadthFirst.of(first)


@dataclass(frozen=True, eq=False)
class Placement:
    """Which node of a network each rank is.

    Attributes:
        name: how the nodes were chosen; empty for the numbers of the network.
        order: the node of each rank.
    """

    name: str
    order: IntArray


def placements_of(network: Network, layouts: Sequence[Layout]) -> list[Placement]:
    """Return placements of the ranks of layouts: the numbers of the network, and by the orders of dimensions.

    With the first dimension of an order, the ranks of a group are neighbours: nodes with successive numbers, or nodes
    that are near each other. Placements that give the same network are listed once.
    """
    natural = np.arange(network.main.nodes, dtype=np.int32)
    found = [Placement("", natural)]
    for layout in layouts:
        sizes = [(name, size) for name, size in layout.sizes if size > 1]
        for order in permutations(sizes):
            numbers = _numbers(sizes, order)
            names = ",".join(f"{name}={size}" for name, size in order)
            found.append(Placement(f"numbered as {names}", natural[numbers]))
            near = _by_nearness(network.distances, order[0][1])
            found.append(Placement(f"near nodes as {names}", near[numbers]))
    kept = {np.sort(network.main.wiring.renumbered(each.order).pairs).tobytes(): each for each in reversed(found)}
    return list(kept.values())[::-1]


def _numbers(sizes: Sequence[tuple[str, int]], order: Sequence[tuple[str, int]]) -> IntArray:
    """Return the number of each rank if the dimensions of a layout are numbered in another order, fastest first."""
    grid = np.arange(np.prod([size for _, size in order])).reshape([size for _, size in reversed(order)])
    names = [name for name, _ in reversed(order)]
    return grid.transpose([names.index(name) for name, _ in reversed(sizes)]).ravel().astype(np.int32)


def _by_nearness(distances: npt.NDArray[np.int16], size: int) -> IntArray:
    """Return the nodes in clusters of `size`: next is the node nearest to its cluster, then to all before it."""
    both = distances.astype(np.int64) + distances.T
    nodes = len(both)
    apart, cluster = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    left, order = np.ones(nodes, np.bool_), []
    for place in range(nodes):
        if place % size == 0:
            cluster[:] = 0
        free = np.flatnonzero(left)
        node = free[np.lexsort((free, apart[free], cluster[free]))[0]]
        left[node] = False
        order.append(node)
        apart += both[node]
        cluster += both[node]
    return np.array(order, dtype=np.int32)


class PlacedTimes:
    """The times of collectives on a network, with a placement of the ranks.

    Args:
        network: the network.
        placement: the node of each rank.
        costs: the latency of a step, and the bandwidth of a node.
        demands: what is measured, in this order.
    """

    def __init__(
        self, network: Network, placement: Placement, costs: StepCosts, demands: Sequence[JobDemand] = ()
    ) -> None:
        self.network, self.placement = network, placement
        self._costs = costs
        self._alpha, self._rate = float(costs.alpha), float(costs.bandwidth) * 1000
        self._open = list(demands)
        self._measured: set[JobDemand] = set()
        self._groups: dict[JobDemand, CollectiveTime] = {}

    @property
    def is_measured(self) -> bool:
        """Whether all demands are measured."""
        return not self._open

    @cached_property
    def topology(self) -> Topology:
        """The network, in which node r is rank r."""
        return self._wiring.topology(self.network.main.name, self._costs.bandwidth / self.network.main.degree)

    @property
    def exchange(self) -> ExchangeRate | None:
        """The rate of an all-to-all of all nodes; None if it was not measured."""
        needed = Demand(Collective.ALL_TO_ALL) in self._measured
        return exchange_rate(self.network.main) if needed else None

    def measure(self) -> None:
        """Measure the next demand."""
        demand = self._open.pop(0)
        self._measured.add(demand)
        if isinstance(demand, Groups):
            self._groups[demand] = collective_time(self.topology, demand, alpha_us=self._costs.alpha)

    def allreduce_us(self, size: int) -> float:
        """Return the time of an allreduce of all nodes, in microseconds, or a bound."""
        return self.us(Demand(Collective.ALLREDUCE), size)

    def all_to_all_us(self, size: int) -> float:
        """Return the time of an all-to-all of all nodes, in microseconds, or a bound."""
        return self.us(Demand(Collective.ALL_TO_ALL), size)

    def us(self, demand: JobDemand, size: float) -> float:
        """Return the time of a collective, in microseconds; a lower bound if it is not measured."""
        if not size:
            return 0.0
        if isinstance(demand, Groups):
            known = self._groups.get(demand)
            return self._least(demand).us(size) if known is None else known.us(size)
        collective = Collective(demand.collective)
        if collective is Collective.ALL_TO_ALL:
            return size / self._rate * self.network.main.degree / float(self._exchange(demand))
        gather = self._fastest([each.cost for each in self.network.schedules], size)
        if collective is Collective.ALLGATHER:
            return gather
        adding = None if self._costs.reduction is None else float(self._costs.reduction) * 1000
        scatter = self._fastest(self._scatters(demand), size, adding)
        return scatter if collective is Collective.REDUCE_SCATTER else scatter + gather

    def schedule(self, demand: JobDemand, size: int) -> str:
        """Return the schedule for a size: for an allgather and an allreduce, the construction of the allgather."""
        if isinstance(demand, Groups):
            return "as generate makes it"
        if Collective(demand.collective) is Collective.ALL_TO_ALL:
            return "flow"
        return min(self.network.schedules, key=lambda each: self._fastest([each.cost], size)).name

    def _fastest(self, costs: Iterable[Cost], size: float, adding: float | None = None) -> float:
        whole, added = size / self._rate, 0.0 if adding is None else size / adding
        return min(each.steps * self._alpha + float(each.bandwidth_factor) * (whole + added) for each in costs)

    def _scatters(self, demand: JobDemand) -> list[Cost]:
        if demand in self._measured:
            return [each.reduce_scatter_cost for each in self.network.schedules]
        main = self.network.main
        return [Cost(main.diameter, least_factor(main.nodes))]

    def _exchange(self, demand: JobDemand) -> Fraction:
        main = self.network.main
        return exchange_rate(main).algbw if demand in self._measured else main.exchange_bound

    @cached_property
    def _wiring(self) -> Wiring:
        return self.network.main.wiring.renumbered(self.placement.order)

    def _least(self, groups: Groups) -> CollectiveTime:
        """Return a time that the schedule of groups cannot have less than."""
        listed = [(group, group.members(self.topology)) for group in groups.bind(self.topology)[1]]
        between = [self._between(members) for _, members in listed]
        hops = max(int(apart.max()) for apart in between)
        alone = max(_least_received(group, len(members)) for group, members in listed)
        loads = zip(listed, between, strict=True)
        loaded = sum(
            float(group.size) / len(members) * int(apart.sum())
            for (group, members), apart in loads
            if group.demand.collective is Collective.ALL_TO_ALL
        )
        arcs = self.network.main.nodes  # of which B / degree is the bandwidth of each: N * B together
        return CollectiveTime(hops * self._alpha, self._rate / max(alone, loaded / arcs))

    def _between(self, members: Sequence[int]) -> npt.NDArray[np.int16]:
        nodes = self.placement.order[list(members)]
        between: npt.NDArray[np.int16] = self.network.distances[np.ix_(nodes, nodes)]
        return between


def _least_received(group: Group, members: int) -> float:
    """Return the least data that a member of a group receives, relative to M.

    In an allreduce a node outside the group may add up, and then send each member the result.
    """
    whole = group.demand.collective is Collective.ALLREDUCE
    return float(group.size) * (1.0 if whole else (members - 1) / members)
