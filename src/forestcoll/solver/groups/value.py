"""The optimum of groups that run at the same time, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from forestcoll.demand.collective import PhaseOp
from forestcoll.demand.groups.value import Group, common_busbw_factor
from forestcoll.schedule.proof.optimum import Optimum
from forestcoll.solver.forests.packed_trees import PackedTree

Trees: TypeAlias = Mapping[PhaseOp, tuple[PackedTree, ...]]
"""The trees of a group by phase, with parts of its data as weights. Flows have paths in the phase `broadcast`."""


@dataclass(frozen=True)
class GroupGain:
    """What a group would have alone, in the unit of the topology.

    Attributes:
        algbw_alone: its algbw if no other group runs.
        algbw_alone_without_relays: the same, if no compute node outside the group relays data; None if its nodes cannot
            all reach each other then.

    Example:
        >>> from forestcoll import Groups, optimum
        >>> gain = optimum("complete:nodes=4", Groups("0,1;2,3")).gains.groups[0]
        >>> str(gain.algbw_alone), str(gain.algbw_alone_without_relays)
        ('6', '2')
    """

    algbw_alone: Fraction
    algbw_alone_without_relays: Fraction | None


@dataclass(frozen=True)
class GroupGains:
    """What groups would have alone and without relays.

    Attributes:
        groups: for each group, what it would have alone.
        without_relays: the algbw for size 1 if all groups run together, and no compute node relays data of a group that
            it is not in; None if the nodes of a group cannot all reach each other then.

    Example:
        >>> from forestcoll import Groups, optimum
        >>> gains = optimum("ring:nodes=4", Groups("0,1;2,3", "allreduce")).gains
        >>> str(gains.groups[0].algbw_alone), str(gains.without_relays)
        ('2', '1')
    """

    groups: tuple[GroupGain, ...]
    without_relays: Fraction | None


@dataclass(frozen=True, repr=False)
class GroupsOptimum(Optimum):
    """The optimum of groups that run at the same time: their greatest common rate.

    Attributes:
        topology: the network.
        groups: the groups.
        algbw: the algbw of a group of size 1, in the unit of the topology. That of another group is its size times it.
        bound: a bound of `algbw` with its proof; `bound.proof.algbw_of_groups(topology, groups)` checks it.
        trees: for each group, its trees.
        first_groups: for each group, the number of the first group that a symmetry of the network maps to it.
        relays: whether compute nodes outside a group may relay its data. The bound always allows it.
        gains: what each group would have alone; None if it was not computed.

    Example:
        >>> from forestcoll import Groups, optimum
        >>> best = optimum("dgx-a100:boxes=2", Groups("tp=8,dp=2", "allreduce"))
        >>> str(best.algbw), best.is_optimal, len(best.trees)
        ('25', True, 8)
    """

    groups: tuple[Group, ...]
    trees: tuple[Trees, ...]
    first_groups: tuple[int, ...]
    relays: bool = True
    gains: GroupGains | None = None

    def algbw_of(self, group: int) -> Fraction:
        """Return the algbw of a group when all run together."""
        return self.groups[group].size * self.algbw

    @property
    def busbw(self) -> Fraction | None:
        """`algbw` as busbw, as nccl-tests defines it; None for pieces, and for groups whose factors differ."""
        factor = common_busbw_factor(self.topology, self.groups)
        return None if factor is None else self.algbw * factor

    def uses_relays(self, group: int) -> bool:
        """Return whether data of a group passes through compute nodes that are not in it."""
        members = set(self.groups[group].members(self.topology))
        others = set(self.topology.compute) - members
        arcs = (arc for trees in self.trees[group].values() for tree in trees for arc in tree.arcs)
        return any(not others.isdisjoint(arc) for arc in arcs)
