"""The linear program of groups that run at the same time: its columns for links, groups and roots.

The program is the dual. It has a price of each class of links, and a *potential* of each demand: the price of a unit of
the demand's trees. Each tree is a row: its links cost at least the potential of its demand. One more row states that
the data of all groups together is worth at least 1. The objective is the price of all bandwidth; its optimum is the
rate. The prices of the rows are the weights of the trees.

Demands: an allgather and a broadcast need out-trees of each root, and a reduce-scatter and a reduce in-trees. An
allreduce needs in-trees of any root and as many out-trees of the same root. An all-to-all, a gather and a scatter need
paths for each pair of nodes that exchange data. If all groups are allreduces on a full
duplex network whose nodes copy if and only if they add up, one undirected tree does both, with any root (see
`allreduce.tree_packing.packing`), and a class of links contains the opposite links.

Links, groups and roots that a symmetry maps to each other have one column.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np
import numpy.typing as npt

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.groups.value import Group
from forestcoll.schedule.proof.lengths.group_lengths import branching_nodes
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.solver.groups.symmetry import GroupOrbits
from forestcoll.topology import Topology


@dataclass(frozen=True)
class Commodity:
    """Trees of one phase of a group: those with one root, or with any root; or the paths of a flow.

    It represents its images under the symmetry.

    Attributes:
        group: the number of the group, the first of its orbit.
        op: the phase.
        root: the root; None if any root is possible.
        potentials: the coefficients of potentials in the rows of its trees, by column.
        share: the part of the group's data that these trees carry, without their images; None if it may vary.
        target: the only node that the trees reach, which then are paths; None if they reach all members.
    """

    group: int
    op: PhaseOp
    root: int | None
    potentials: Mapping[int, int]
    share: Fraction | None
    target: int | None = None


class Master:
    """The columns of the linear program.

    Attributes:
        part: the usable part of the network. Its compute nodes are those of all groups.
        groups: the groups.
        orbits: the orbits of the symmetry.
        one_phase: whether one tree reduces and broadcasts.
        of_link: for each link, the number of its class.
        capacities: for each class, the sum of the bandwidths of its links, in multiples of `unit`.
        unit: the unit of capacities, in the unit of the topology.
        parts: the trees that are needed.
        amounts: for each potential, the data that it prices, by column.
    """

    def __init__(self, part: Topology, groups: Sequence[Group]) -> None:
        self.part, self.groups = part, tuple(groups)
        self.orbits = GroupOrbits.of(part, groups)
        self.one_phase = self._is_one_phase()
        self.of_link: npt.NDArray[np.int64] = self._classes()
        scaled = ScaledTopology.of(part)
        self.unit = scaled.unit
        totals = [0] * (int(self.of_link.max()) + 1)
        for of_link, each in zip(self.of_link.tolist(), scaled.capacities, strict=True):
            totals[of_link] += each
        self.capacities = [each // 2 for each in totals] if self.one_phase else totals
        self.amounts: dict[int, Fraction] = {}
        self._columns = len(self.capacities)
        self.parts = [each for group in self.orbits.first_groups for each in self._parts(group)]

    def copies(self, op: PhaseOp) -> npt.NDArray[np.bool_]:
        """Return which nodes copy, or add up, in a phase."""
        return self._copies[op]

    @cached_property
    def _copies(self) -> dict[PhaseOp, npt.NDArray[np.bool_]]:
        found = {op: np.zeros(len(self.part.nodes), dtype=np.bool_) for op in PhaseOp}
        for op, marks in found.items():
            marks[branching_nodes(self.part, op)] = True
        return found

    @property
    def columns(self) -> int:
        """The number of columns."""
        return self._columns

    @cached_property
    def amount_row(self) -> dict[int, int]:
        """The coefficients of the row that states that all data is worth at least 1, times an integer."""
        whole = self.amount_scale
        return {column: int(amount * whole) for column, amount in self.amounts.items() if amount}

    @cached_property
    def amount_scale(self) -> int:
        """The factor of `amount_row`."""
        return lcm(*(amount.denominator for amount in self.amounts.values()))

    def _is_one_phase(self) -> bool:
        copies = self._copies
        return (
            self.part.is_full_duplex
            and bool(np.array_equal(copies[PhaseOp.REDUCE], copies[PhaseOp.BROADCAST]))
            and all(group.demand.collective is Collective.ALLREDUCE for group in self.groups)
            and all(group.demand.sources is None for group in self.groups)
        )

    def _classes(self) -> npt.NDArray[np.int64]:
        """Return a number for each link, equal for the links of an orbit; with one phase, also for their reverses."""
        of_link = self.orbits.orbits.of_link
        if not self.one_phase:
            return np.array(of_link)
        reverse = self.orbits.orbits.of_reversed(self.part)
        merged = np.array([min(orbit, reverse[orbit]) for orbit in of_link])
        return np.unique(merged, return_inverse=True)[1]

    def _column(self, amount: Fraction) -> int:
        """Return a new column for a potential."""
        self._columns += 1
        self.amounts[self._columns - 1] = amount
        return self._columns - 1

    def _parts(self, place: int) -> Iterator[Commodity]:
        group = self.groups[place]
        demand, amount = group.demand, self.orbits.size_of(place) * group.size
        if demand.collective is Collective.ALLREDUCE:
            yield from self._allreduce_parts(place, amount)
            return
        if demand.collective.is_personalised:
            yield from self._flow_parts(place, amount)
            return
        op = PhaseOp.REDUCE if demand.collective.only_reduces else PhaseOp.BROADCAST
        shares = dict(zip(demand.members(self.part), demand.parts(self.part), strict=True))
        for (root,), count in self.orbits.orbits_in(place, [(root,) for root, share in shares.items() if share]):
            column = self._column(amount * count * shares[root])
            yield Commodity(place, op, root, {column: -1}, shares[root])

    def _flow_parts(self, place: int, amount: Fraction) -> Iterator[Commodity]:
        demand = self.groups[place].demand
        sent = zip(demand.members(self.part), demand.sent(self.part), strict=True)
        shares = {(source, target): share for source, targets in sent for target, share in targets.items()}
        for (source, target), count in self.orbits.orbits_in(place, list(shares)):
            share = shares[source, target]
            column = self._column(amount * count * share)
            yield Commodity(place, PhaseOp.BROADCAST, source, {column: -1}, share, target)

    def _allreduce_parts(self, place: int, amount: Fraction) -> Iterator[Commodity]:
        whole = self._column(amount)
        if self.one_phase:
            yield Commodity(place, PhaseOp.BROADCAST, None, {whole: -1}, None)
            return
        copies = self._copies[PhaseOp.REDUCE] & self._copies[PhaseOp.BROADCAST]
        roots = [(root,) for root in self._linked(np.flatnonzero(copies).tolist())]
        for (root,), _ in self.orbits.orbits_in(place, roots):
            column = self._column(Fraction(0))
            yield Commodity(place, PhaseOp.REDUCE, root, {whole: -1, column: 1}, None)
            yield Commodity(place, PhaseOp.BROADCAST, root, {column: -1}, None)

    def _linked(self, nodes: Sequence[int]) -> list[int]:
        """Return the nodes that links enter and leave."""
        linked = {link.source for link in self.part.links} & {link.target for link in self.part.links}
        return [node for node in nodes if node in linked]
