"""The groups of a layout that trains a model: which ranks have parts of the same parameters, and which exchange tokens.

Experts are divided over the ranks of an `ep` group, which have different batches. So the parameters that all experts
share, the dense ones, belong to larger groups than those of an expert: for them `ep` is more of `fsdp`, or of `dp` in a
layout without `fsdp`. With `ep=8,fsdp=2`, dense parameters are sharded over 16 ranks, and those of an expert over 2.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.groups import Groups
from forestcoll.demand.groups.layout import Layout

_DIMENSIONS = ("tp", "ep", "fsdp", "dp")
_SHARDS = (Collective.ALLGATHER, Collective.REDUCE_SCATTER)
_COPIES = (Collective.ALLREDUCE,)


class Role(StrEnum):
    """What the ranks of a group have in common."""

    TENSORS = "tp"
    """Each rank has a part of every layer, and all compute one batch."""
    EXPERTS = "ep"
    """Each rank has some of the experts."""
    SHARDS = "fsdp"
    """Each rank has a part of the dense parameters."""
    COPIES = "dp"
    """Each rank has the same dense parameters."""
    EXPERT_SHARDS = "fsdp of experts"
    """Each rank has a part of the same experts."""
    EXPERT_COPIES = "dp of experts"
    """Each rank has the same experts, or the same parts of them."""


_COLLECTIVES = {
    Role.TENSORS: _COPIES,
    Role.EXPERTS: (Collective.ALL_TO_ALL,),
    Role.SHARDS: _SHARDS,
    Role.COPIES: _COPIES,
    Role.EXPERT_SHARDS: _SHARDS,
    Role.EXPERT_COPIES: _COPIES,
}


@dataclass(frozen=True)
class TrainingGroups:
    """The groups of a layout.

    Attributes:
        layout: the layout, with the dimensions tp, ep, fsdp and dp.

    Raises:
        InputError: the layout has another dimension, or ep is not next to fsdp (or dp, without fsdp).
    """

    layout: Layout

    def __post_init__(self) -> None:
        names = self.layout.names
        for name in names:
            if name not in _DIMENSIONS:
                raise InputError(f"layout: {name} is not in the model of an iteration; use {', '.join(_DIMENSIONS)}")
        both = {"ep", self._enlarged}
        if both <= {*names} and abs(names.index("ep") - names.index(self._enlarged)) > 1:
            raise InputError(
                f"layout {self.layout}: ep and {self._enlarged} are not next to each other, and dense parameters are "
                f"divided over both; write them as in {self._enlarged}=2,ep=8"
            )

    @property
    def _enlarged(self) -> str:
        """The dimension that ep makes larger for dense parameters."""
        return "fsdp" if "fsdp" in self.layout.names else "dp"

    @property
    def dense(self) -> Layout:
        """The layout of the dense parameters, without ep."""
        names = self.layout.names
        if "ep" not in names:
            return self.layout
        merged = (self._enlarged, self.layout.size("ep") * self.layout.size(self._enlarged))
        kept = [each for each in self.layout.sizes if each[0] not in {"ep", self._enlarged}]
        place = min(names.index(each) for each in ("ep", self._enlarged) if each in names)
        return Layout((*kept[:place], merged, *kept[place:]))

    def size(self, role: Role) -> int:
        """Return the number of ranks of a group; 1 without such groups.

        Example:
            >>> groups = TrainingGroups(Layout.of("ep=8,fsdp=2"))
            >>> groups.size(Role.SHARDS), groups.size(Role.EXPERT_SHARDS)
            (16, 2)
        """
        layout, name = self._found(role)
        return 1 if role is not name and self.layout.size("ep") == 1 else layout.size(name)

    def demands(self) -> Iterator[tuple[Role, Collective, Demand | Groups]]:
        """Yield what groups of two or more ranks do, and what this is on the network.

        Example:
            >>> groups = TrainingGroups(Layout.of("fsdp=4,dp=2"))
            >>> [(str(role), str(collective)) for role, collective, _ in groups.demands()]
            [('fsdp', 'allgather'), ('fsdp', 'reduce-scatter'), ('dp', 'allreduce')]
        """
        for role in Role:
            layout, name = self._found(role)
            for collective in _COLLECTIVES[role] if self.size(role) > 1 else ():
                whole = self.size(role) == layout.ranks
                yield role, collective, Demand(collective) if whole else Groups(str(layout), collective, run=name)

    def _found(self, role: Role) -> tuple[Layout, str]:
        """Return the layout in which groups are a dimension, and the name of this dimension."""
        if role in {Role.EXPERT_SHARDS, Role.EXPERT_COPIES}:
            own = Role.SHARDS if role is Role.EXPERT_SHARDS else Role.COPIES
            same = self.dense.size(own) == self.layout.size(own)
            return self.dense if same else self.layout, own
        return self.dense if role in {Role.SHARDS, Role.COPIES} else self.layout, role
