"""The sends with which the data of a box crosses to another box, divided among the NICs of both.

All NICs of a box carry equal parts of the data that leaves it, and of the data that enters it. A member uses its own
NICs first, so if each has one, it sends to the member with the same place in the other box. The data of a member
without a NIC uses those of the other members.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import Edge
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.topology.graph.routes import Path

Crossing: TypeAlias = tuple[Fraction, Edge]
"""A part of the data of a member, and the send with which it crosses to another box. Another member may send it."""


_Part: TypeAlias = tuple[Fraction, int, int]
"""A part of the data of a member, and the places of the sender and of the receiver in their boxes."""

_Nics: TypeAlias = tuple[tuple[int, ...], ...]
"""For each NIC of a box, the places of the members that use it."""


class Plans:
    """The sends with which data crosses from box to box.

    All NICs of a box carry equal parts of the data that leaves it, and of the data that enters it. Boxes that are alike
    have the same plan, which is computed once.
    """

    def __init__(self, problem: Problem) -> None:
        self._crossings = Crossings(problem)
        self._nics: dict[tuple[Sequence[int], bool], _Nics] = {}
        self._by_shape: dict[tuple[int, int, _Nics, _Nics], list[list[_Part]]] = {}

    def of(self, box: Sequence[int], other: Sequence[int]) -> dict[int, list[Crossing]]:
        """Return for each member of a box the sends with which its data crosses to `other`.

        Raises:
            DoesNotApplyError: a box has no link to others.
        """
        shape = len(box), len(other), self._of_box(box, leaving=True), self._of_box(other, leaving=False)
        if shape not in self._by_shape:
            self._by_shape[shape] = _parts(*shape)
        return {
            root: [each for part, sender, entry in parts for each in self._over_nics(part, box[sender], other[entry])]
            for root, parts in zip(box, self._by_shape[shape], strict=True)
        }

    def _over_nics(self, part: Fraction, sender: int, entry: int) -> list[Crossing]:
        edges = self._crossings.edges(sender, entry)
        return [(part / len(edges), edge) for edge in edges]

    def _of_box(self, box: Sequence[int], *, leaving: bool) -> _Nics:
        if (box, leaving) not in self._nics:
            own = self._crossings.leaving if leaving else self._crossings.entering
            self._nics[box, leaving] = _by_nic(box, own, last=leaving)
        return self._nics[box, leaving]


def _parts(size: int, other_size: int, leaving: _Nics, entering: _Nics) -> list[list[_Part]]:
    """Return for each place of a box how the data of its member crosses to another box.

    Args:
        size: the number of members of the box.
        other_size: that of the other box.
        leaving: the NICs by which data leaves the box.
        entering: the NICs by which data enters the other box.
    """
    if not leaving or not entering:
        raise DoesNotApplyError("a box has no link to others")
    by_sender = _senders(range(size), leaving)
    amounts = dict.fromkeys((member for nic in leaving for member in nic), Fraction(0))
    for parts in by_sender.values():
        for sender, part in parts.items():
            amounts[sender] += part
    room = _carried(entering, Fraction(size, len(entering)))
    flows = _flows(amounts, room, {place: place for place in range(min(size, other_size))})
    return [
        [
            (part * flow / amounts[sender], sender, entry)
            for sender, part in by_sender[root].items()
            for entry, flow in flows[sender].items()
        ]
        for root in range(size)
    ]


def _by_nic(box: Sequence[int], own: Mapping[int, tuple[Path, ...]], *, last: bool) -> _Nics:
    """Return the places of the members of a box that use each NIC; a member without a NIC is in none."""
    found: dict[Path, list[int]] = {}
    for place, member in enumerate(box):
        for path in own.get(member, ()):
            found.setdefault(path[-2:] if last else path[:2], []).append(place)
    return tuple(map(tuple, found.values()))


def _carried(nics: _Nics, share: Fraction) -> dict[int, Fraction]:
    """Return what each member sends or receives if each NIC carries a share of it for the members that use the NIC."""
    found: dict[int, Fraction] = {}
    for nic in nics:
        for member in nic:
            found[member] = found.get(member, Fraction(0)) + share / len(nic)
    return found


def _senders(box: Sequence[int], nics: _Nics) -> dict[int, dict[int, Fraction]]:
    """Return for each member of a box the parts of its data that each sender sends out of the box.

    A member uses its own NIC, up to the part that the NIC carries. The rest goes to NICs with room, in proportion.
    """
    carried = _carried(nics, Fraction(len(box), len(nics)))
    own = {member: min(Fraction(1), each) for member, each in carried.items()}
    room = {member: each - own[member] for member, each in carried.items()}
    total = sum(room.values(), Fraction(0))
    found = {}
    for root in box:
        parts = {root: own[root]} if root in own else {}
        rest = 1 - own.get(root, Fraction(0))
        if rest:
            parts |= {member: rest * left / total for member, left in room.items() if left}
        found[root] = parts
    return found


def _flows(
    amounts: Mapping[int, Fraction], room: Mapping[int, Fraction], peers: Mapping[int, int]
) -> dict[int, dict[int, Fraction]]:
    """Return what each sender sends to each entry: to its peer first, then to the entries that have room left."""
    left, flows = dict(room), {}
    for sender, amount in amounts.items():
        peer = peers.get(sender, -1)
        flow = min(amount, left.get(peer, Fraction(0)))
        flows[sender] = {peer: flow} if flow else {}
        if flow:
            left[peer] -= flow
    for sender, amount in amounts.items():
        rest = amount - sum(flows[sender].values(), Fraction(0))
        for entry, room_left in left.items():
            flow = min(rest, room_left)
            if flow:
                flows[sender][entry] = flows[sender].get(entry, Fraction(0)) + flow
                left[entry] = room_left - flow
                rest -= flow
    return flows
