"""What groups of compute nodes do at the same time, as users say it: by ranks, by a layout, or by pieces of data."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.demand.groups.layout import Layout
from forestcoll.demand.groups.pieces import Piece, groups_of_pieces, read_pieces
from forestcoll.demand.groups.reading import read_groups
from forestcoll.demand.groups.value import Group, GroupsLike, SizesLike, groups_of
from forestcoll.topology import Topology

PiecesLike: TypeAlias = str | Path | Iterable[Piece]
"""Pieces of data, or the name of a file of them."""

_FILES = (".json", ".json.gz")


@dataclass(frozen=True)
class Groups:
    """Collectives of several groups at the same time. All start together and end together, and share the links.

    The rate of each group is its size times a common rate, which is as great as possible.

    Attributes:
        members: the groups: a text such as `0,8;1,9`, in which `;` separates groups and each group is as for ranks; a
            layout such as `tp=8,dp=4`, the fastest dimension first; the name of a JSON file, in which each group may
            have its own collective; or a list with the ranks, a `Demand` or a `Group` for each group. Groups may share
            ranks.
        collective: the collective of the groups that are given by ranks. If it has a root, this is the first compute
            node of the group.
        sizes: the size M of each group, relative to a common unit of data: a text such as `1,1/2`, or a list of
            numbers; with a layout, of each dimension in `run`. 1 for all if None.
        run: for a layout, the dimensions whose groups run, such as `dp` or `tp,dp`; the last one if None.
        pieces: instead of members, the pieces of data that move, or a JSON file of them.
        relays: whether compute nodes outside a group may relay its data.
        in_network: whether switches copy and add up data, if the network says that they can.

    Example:
        >>> from forestcoll import Groups, optimum
        >>> best = optimum("dgx-a100:boxes=2", Groups("tp=8,dp=2", "allreduce"))
        >>> str(best.algbw), best.is_optimal, len(best.groups)
        ('25', True, 8)
    """

    members: GroupsLike = ()
    collective: Collective | str = Collective.ALLGATHER
    sizes: SizesLike | None = None
    run: str | None = None
    pieces: PiecesLike | None = None
    relays: bool = True
    in_network: bool = True

    @property
    def needs_all(self) -> bool:
        """Whether all compute nodes of a network must reach each other: only those of each group must."""
        return False

    def bind(self, topology: Topology) -> tuple[Topology, tuple[Group, ...]]:
        """Return the network as the groups may use it, and the groups in its node numbers, after all checks.

        Raises:
            InputError: the groups, their sizes, the layout or the pieces are not valid, or exclude each other.
        """
        network = topology if self.in_network else topology.without_abilities()
        return network, self._listed(network)

    @property
    def layout(self) -> Layout | None:
        """The layout; None if the groups are given in another way."""
        return Layout.of(self.members) if isinstance(self.members, str) and "=" in self.members else None

    def _listed(self, topology: Topology) -> tuple[Group, ...]:
        if self.pieces is not None:
            return self._of_pieces(topology, self.pieces)
        layout = self.layout
        if layout is not None:
            layout.check(topology)
            dimensions = [layout.groups(name) for name in layout.running(self.run)]
            sizes = _repeated(self.sizes, [len(each) for each in dimensions])
            return groups_of(topology, [group for each in dimensions for group in each], self.collective, sizes)
        if self.run is not None:
            raise InputError("run names dimensions of a layout; give a layout, such as tp=8,dp=4, or leave run out")
        if isinstance(self.members, str) and self.members.strip().endswith(_FILES):
            listed = read_groups(self.members.strip(), topology, self.collective)
            return groups_of(topology, listed, sizes=self.sizes)
        return groups_of(topology, self.members, self.collective, self.sizes)

    def _of_pieces(self, topology: Topology, pieces: PiecesLike) -> tuple[Group, ...]:
        if self.members or self.sizes is not None or self.run is not None:
            raise InputError("pieces say which nodes move which data; leave groups, layout, sizes and run out")
        if isinstance(pieces, str | Path):
            return groups_of_pieces(topology, read_pieces(pieces), where=f"{pieces}: ")
        return groups_of_pieces(topology, pieces)


def _repeated(sizes: SizesLike | None, counts: Sequence[int]) -> list[object] | None:
    """Return the size of each group, from the size of each dimension and its number of groups."""
    if sizes is None:
        return None
    listed = sizes.split(",") if isinstance(sizes, str) else list(sizes)
    if len(listed) != len(counts):
        raise InputError(
            f"there are {len(listed)} sizes and {len(counts)} dimensions that run; give one size for each dimension"
        )
    return [size for size, count in zip(listed, counts, strict=True) for _ in range(count)]
