"""The sends with which the data of a box crosses to another box, divided among the NICs of both.

All NICs of a box carry equal parts of the data that leaves it, and of the data that enters it. A member uses its own
NIC first, so if each has one, it sends to the member with the same place in the other box. The data of a member without
a NIC uses those of the other members.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from forestcoll.baselines.baseline import DoesNotApplyError, Problem
from forestcoll.baselines.crossings import Crossings
from forestcoll.baselines.forests import Edge
from forestcoll.baselines.routes import Path

Crossing: TypeAlias = tuple[Fraction, Edge]
"""A part of the data of a member, and the send with which it crosses to another box. Another member may send it."""


class Plans:
    """The sends between the boxes of a problem."""

    def __init__(self, problem: Problem) -> None:
        self._crossings = Crossings(problem)

    def of(self, box: Sequence[int], other: Sequence[int]) -> dict[int, list[Crossing]]:
        """Return for each member of a box the sends with which its data crosses to `other`.

        Raises:
            DoesNotApplyError: a box has no link to others.
        """
        leaving = _by_nic(box, self._crossings.departures, last=True)
        entering = _by_nic(other, self._crossings.arrivals, last=False)
        if not leaving or not entering:
            raise DoesNotApplyError("a box has no link to others")
        by_sender = _senders(box, leaving)
        amounts = dict.fromkeys((member for nic in leaving for member in nic), Fraction(0))
        for parts in by_sender.values():
            for sender, part in parts.items():
                amounts[sender] += part
        share = Fraction(len(box), len(entering))
        room = {member: share / len(nic) for nic in entering for member in nic}
        flows = _flows(amounts, room, {sender: other[place] for place, sender in enumerate(box) if place < len(other)})
        return {
            root: [
                (part * flow / amounts[sender], self._crossings.edge(sender, entry))
                for sender, part in parts.items()
                for entry, flow in flows[sender].items()
            ]
            for root, parts in by_sender.items()
        }


def _by_nic(box: Sequence[int], own: Mapping[int, Path], *, last: bool) -> list[list[int]]:
    """Return the members of a box that use each NIC; a member without a NIC is in none."""
    found: dict[Path, list[int]] = {}
    for member in box:
        if member in own:
            path = own[member]
            found.setdefault(path[-2:] if last else path[:2], []).append(member)
    return list(found.values())


def _senders(box: Sequence[int], nics: Sequence[Sequence[int]]) -> dict[int, dict[int, Fraction]]:
    """Return for each member of a box the parts of its data that each sender sends out of the box.

    A member uses its own NIC, up to the part that the NIC carries. The rest goes to NICs with room, in proportion.
    """
    share = Fraction(len(box), len(nics))
    own = {member: min(Fraction(1), share / len(nic)) for nic in nics for member in nic}
    room = {member: share / len(nic) - own[member] for nic in nics for member in nic}
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
