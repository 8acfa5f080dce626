"""The boxes of the ranks of a group, as the topology has them, compared with the hosts that the ranks run on."""

from collections.abc import Sequence
from dataclasses import dataclass

from forestcoll.base.errors import InputError
from forestcoll.topology import Topology
from forestcoll.topology.graph.boxes import named_boxes


@dataclass(frozen=True, slots=True)
class EqualBoxes:
    """Several boxes of equally many ranks, numbered box by box. The ranks with one place in all boxes are a *rail*.

    Attributes:
        boxes: how many boxes there are.
        per_box: how many ranks each has.
    """

    boxes: int
    per_box: int

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return self.boxes * self.per_box

    def box_of(self, rank: int) -> tuple[int, ...]:
        """Return the ranks of the box of `rank`."""
        begin = rank - rank % self.per_box
        return tuple(range(begin, begin + self.per_box))

    def rail_of(self, rank: int) -> tuple[int, ...]:
        """Return the ranks with the place of `rank` in all boxes."""
        return tuple(range(rank % self.per_box, self.size, self.per_box))


def boxes_of(topology: Topology) -> tuple[tuple[int, ...], ...]:
    """Return the ranks of each box, rank i being compute node i; nodes without a box are in none.

    Example:
        >>> from forestcoll import load_topology
        >>> boxes_of(load_topology("dgx-a100:boxes=2,gpus=2"))
        ((0, 1), (2, 3))
    """
    ranks = {node: rank for rank, node in enumerate(topology.compute)}
    found = (tuple(ranks[node] for node in nodes if node in ranks) for nodes in named_boxes(topology).values())
    return tuple(box for box in found if box)


def check_hosts(boxes: Sequence[Sequence[int]], hosts: Sequence[str]) -> None:
    """Check that each host is in one box, or each box on one host.

    Args:
        boxes: the ranks of each box.
        hosts: of each rank its host.

    Raises:
        InputError: a box has ranks on several hosts, one of which has ranks of another box.
    """
    box_of = {rank: number for number, box in enumerate(boxes) for rank in box}
    for box in boxes:
        here = {hosts[rank] for rank in box}
        other = next((rank for rank in box_of if hosts[rank] in here and rank not in box), None)
        if len(here) > 1 and other is not None:
            raise InputError(
                f"ranks {_listed(box)} are one box of the topology, but run on hosts {', '.join(sorted(here))}, and "
                f"rank {other} of another box on {hosts[other]}; start the ranks in the order of the boxes"
            )


def equal_boxes(topology: Topology, boxes: Sequence[Sequence[int]]) -> EqualBoxes:
    """Return the boxes for two levels.

    Raises:
        InputError: there is one box only, boxes have different sizes, or ranks are not numbered box by box.

    Example:
        >>> from forestcoll import load_topology
        >>> equal_boxes(load_topology("dgx-a100:boxes=2"), [range(8), range(8, 16)]).rail_of(3)
        (3, 11)
    """
    name, size, sizes = topology.name, len(topology.compute), [len(box) for box in boxes]
    if sum(sizes) != size:
        raise InputError(f"{name}: {size - sum(sizes)} of {size} ranks are in no box; give their nodes a 'box'")
    if len(boxes) < 2 or max(sizes) < 2:
        shape = "one box" if len(boxes) < 2 else "boxes of one rank"
        raise InputError(f"{name}: the ranks are in {shape}; two levels need several boxes of several ranks")
    if len(set(sizes)) > 1:
        raise InputError(f"{name}: the boxes have {_listed(sizes)} ranks; two levels need equal boxes")
    if [rank for box in boxes for rank in box] != list(range(size)):
        raise InputError(f"{name}: ranks are not numbered box by box; name the nodes in the order of the boxes")
    return EqualBoxes(len(boxes), sizes[0])


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
