"""The optimum of groups that run at the same time, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from forestcoll.base.display import Displayed
from forestcoll.base.exact import as_float
from forestcoll.demand.collective import PhaseOp
from forestcoll.demand.groups.value import Group
from forestcoll.schedule.proof.bound import Bound
from forestcoll.solver.forests.packed_trees import PackedTree
from forestcoll.topology import Topology

Trees: TypeAlias = Mapping[PhaseOp, tuple[PackedTree, ...]]
"""The trees of a group by phase, with parts of its data as weights. Flows have paths in the phase `broadcast`."""


@dataclass(frozen=True)
class GroupsOptimum(Displayed):
    """The greatest common rate of groups that run at the same time. `groups_optimum` returns it.

    Attributes:
        topology: the network.
        groups: the groups.
        algbw: the algbw of a group of size 1, in the unit of the topology. That of another group is its size times it.
        bound: a bound of `algbw` with its proof; `bound.proof.algbw_of_groups(topology, groups)` checks it.
        trees: for each group, its trees.
        first_groups: for each group, the number of the first group that a symmetry of the network maps to it.
        relays: whether compute nodes outside a group may relay its data. The bound always allows it.

    Example:
        >>> from forestcoll import groups_optimum
        >>> best = groups_optimum("dgx-a100:boxes=2", "0,8;1,9;2,10;3,11;4,12;5,13;6,14;7,15", "allreduce")
        >>> str(best.algbw), best.is_optimal, len(best.trees)
        ('25', True, 8)
    """

    topology: Topology
    groups: tuple[Group, ...]
    algbw: Fraction
    bound: Bound
    trees: tuple[Trees, ...]
    first_groups: tuple[int, ...]
    relays: bool = True

    @property
    def is_optimal(self) -> bool:
        """Whether `algbw` equals the bound."""
        return self.algbw == self.bound.algbw

    @property
    def residual(self) -> float:
        """The relative amount by which the bound exceeds `algbw`."""
        return as_float(self.bound.algbw / self.algbw) - 1

    def algbw_of(self, group: int) -> Fraction:
        """Return the algbw of a group when all run together."""
        return self.groups[group].size * self.algbw

    def uses_relays(self, group: int) -> bool:
        """Return whether data of a group passes through compute nodes that are not in it."""
        members = set(self.groups[group].members(self.topology))
        others = set(self.topology.compute) - members
        arcs = (arc for trees in self.trees[group].values() for tree in trees for arc in tree.arcs)
        return any(not others.isdisjoint(arc) for arc in arcs)
