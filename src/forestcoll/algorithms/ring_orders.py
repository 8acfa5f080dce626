"""Orders of the members of a box, for the rings of NCCL: closed ones for a single box, open ones between NICs.

On switches, any order loads the links of a member in the same way, so there is one ring for each NIC, in proportion to
their bandwidths. On a full mesh with an even number of members, the open orders are the rows of a row-complete Latin
square, which use each link once. On other direct links, rings are packed (`ring_packing`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.ring_packing import Links, Order, RingHops, packed_rings
from forestcoll.topology.graph.routes import Path, Routes


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of the data on its way through a box.

    Attributes:
        part: the part of the data; all passages through a box add up to 1.
        order: the members of the box.
        arrival: the path from outside the box to the first of them.
        departure: the path from the last of them to outside the box.
    """

    part: Fraction
    order: Order
    arrival: Path
    departure: Path


def closed_orders(problem: Problem, box: Sequence[int]) -> list[tuple[Fraction, Order]]:
    """Return orders of a single box whose last member sends to the first, each with its part of the data.

    Raises:
        DoesNotApplyError: no order was found.
    """
    inside = Inside(problem, box)
    if inside.crosses_switches:
        return [(Fraction(1), tuple(box))]
    found = packed_rings(box, inside.hops({}, {}))
    if not found:
        raise DoesNotApplyError("no ring through all compute nodes of the box was found")
    return found


def passages(problem: Problem, box: Sequence[int]) -> list[Passage]:
    """Return the passages of the data through a box, in the order of NICs.

    Raises:
        DoesNotApplyError: the box has no NIC, or no order between its NICs was found.
    """
    doors = nics_of(problem, box)
    if not doors:
        raise DoesNotApplyError("a box has no link to others")
    inside = Inside(problem, box)
    if len(box) == 1 or inside.crosses_switches:
        return _one_for_each_nic(problem, box, doors)
    own = _own_doors(box, doors)
    if inside.is_mesh and len(box) % 2 == 0 and len(own) == len(box) and len(_bandwidths(problem, doors)) == 1:
        part, rows = Fraction(1, len(box)), _latin_rows(box)
        return [Passage(part, row, own[row[0]].arrival, own[row[-1]].departure) for row in rows]
    arrivals = {member: _links(door.arrival) for member, door in own.items()}
    departures = {member: _links(door.departure) for member, door in own.items()}
    found = packed_rings(box, inside.hops(arrivals, departures))
    if not found:
        raise DoesNotApplyError("no path through all compute nodes of a box was found between two of its NICs")
    return [Passage(part, order, own[order[0]].arrival, own[order[-1]].departure) for part, order in found]


def crosses_switches(problem: Problem, box: Sequence[int]) -> bool:
    """Return whether all routes inside a box are through switches."""
    return Inside(problem, box).crosses_switches


@dataclass(frozen=True, slots=True)
class Door:
    """A NIC as one member uses it.

    Attributes:
        arrival: the path from outside the box to the member.
        departure: the path from the member to outside the box.
    """

    arrival: Path
    departure: Path


Nic: TypeAlias = Mapping[int, Door]
"""The members that can use a NIC in both directions."""


def nics_of(problem: Problem, box: Sequence[int]) -> list[Nic]:
    """Return the NICs of a box, in the order of the members that can use them."""
    found: dict[tuple[object, int], dict[int, Door]] = {}
    for member in box:
        arrivals = {_nic(problem, path): path[::-1] for path in problem.transposed_boxes.exits(member)}
        for path in problem.boxes.exits(member):
            nic = _nic(problem, path)
            if nic in arrivals:
                found.setdefault(nic, {})[member] = Door(arrivals[nic], path)
    return list(found.values())


def _nic(problem: Problem, path: Path) -> tuple[object, int]:
    """Return the NIC at the end of a path out of a box; its attribute `nic` is the same for both directions."""
    return problem.topology.nodes[path[-2]].attributes.get("nic", path[-2]), path[-1]


def port_numbers(problem: Problem, nics: Sequence[Nic]) -> list[tuple[int, ...]]:
    """Return for each NIC the numbers by which NCCL knows its ports.

    They are the attribute `devices` of its node, where an importer has written it for all NICs; otherwise its place.
    """
    found = []
    for nic in nics:
        path = next(iter(nic.values())).departure
        numbers = [problem.topology.nodes[node].attributes.get("devices") for node in path]
        found.append(next((tuple(each) for each in numbers if isinstance(each, list | tuple)), ()))
    return found if all(found) else [(place,) for place in range(len(nics))]


def _own_doors(box: Sequence[int], doors: Sequence[Nic]) -> dict[int, Door]:
    """Return for each member with a NIC one that it uses; members with the same NICs use different ones."""
    own = {}
    for place, member in enumerate(box):
        usable = [nic[member] for nic in doors if member in nic]
        if usable:
            own[member] = usable[place % len(usable)]
    return own


def _one_for_each_nic(problem: Problem, box: Sequence[int], doors: Sequence[Nic]) -> list[Passage]:
    """Return a passage for each NIC, in proportion to the bandwidths of the NICs.

    A ring leaves by the NIC by which it enters if another member can use it. Otherwise NICs are taken in pairs, and two
    rings enter and leave by a pair in opposite directions. If their number is odd, each leaves by the next NIC. Where
    members have several NICs of their own, the first ones of all members come first, then the second ones, and so on.
    """
    routes = problem.routes
    ends = _ends(box, _in_turn(doors))
    widths = [min(routes.width(entry.arrival), routes.width(leaving.departure)) for entry, leaving in ends]
    return [
        Passage(
            width / sum(widths),
            _through_switch(box, entry.arrival[-1], leaving.departure[0]),
            entry.arrival,
            leaving.departure,
        )
        for width, (entry, leaving) in zip(widths, ends, strict=True)
    ]


def _in_turn(doors: Sequence[Nic]) -> list[Nic]:
    """Return NICs so that those of one member are as far from each other as possible."""
    seen: Counter[frozenset[int]] = Counter()
    turns = []
    for nic in doors:
        turns.append(seen[frozenset(nic)] if len(nic) == 1 else 0)
        seen[frozenset(nic)] += 1
    return [nic for _, nic in sorted(zip(turns, doors, strict=True), key=lambda each: each[0])]


def _ends(box: Sequence[int], doors: Sequence[Nic]) -> list[tuple[Door, Door]]:
    """Return for each NIC the doors by which its ring enters and leaves the box."""
    alone = [next(iter(nic.values())) for nic in doors if len(nic) == 1]
    seen: Counter[frozenset[int]] = Counter()
    ends, place = [], 0
    for nic in doors:
        members = list(nic)
        number, seen[frozenset(members)] = seen[frozenset(members)], seen[frozenset(members)] + 1
        if len(members) > 1:
            entry, leaving = members[number % len(members)], members[(number + 1) % len(members)]
            ends.append((nic[entry], nic[leaving]))
        else:
            ends.append((alone[place], alone[place] if len(box) == 1 else _partner(alone, place)))
            place += 1
    return ends


def _partner(alone: Sequence[Door], place: int) -> Door:
    """Return the door by which a ring leaves that enters by a NIC of one member."""
    paired = alone[place ^ 1] if len(alone) % 2 == 0 else alone[(place + 1) % len(alone)]
    around = (paired, *alone[place + 1 :], *alone[:place])
    for door in around:
        if door.departure[0] != alone[place].departure[0]:
            return door
    raise DoesNotApplyError("a box has NICs at one compute node only, so a ring cannot enter and leave it")


def _bandwidths(problem: Problem, doors: Sequence[Nic]) -> set[Fraction]:
    paths = (path for nic in doors for door in nic.values() for path in (door.arrival, door.departure))
    return {problem.routes.width(path) for path in paths}


def _links(path: Path) -> Links:
    return tuple(pairwise(path))


def _through_switch(box: Sequence[int], entry: int, leaving: int) -> Order:
    """Return the members in cyclic order from `entry`, with `leaving` as the last.

    The order is downwards, or upwards if `leaving` is just before `entry`. So the second members are distinct, too.
    """
    place = box.index(entry)
    is_before = leaving == box[place - 1] and len(box) > 2
    around = [*box[place:], *box[:place]] if is_before else [*box[place::-1], *box[:place:-1]]
    return (*(node for node in around if node != leaving), leaving)


def _latin_rows(box: Sequence[int]) -> list[Order]:
    """Return the rows of a row-complete Latin square: row i is i + (0, n-1, 1, n-2, 2, ...) modulo n."""
    size = len(box)
    zigzag = [step // 2 if step % 2 == 0 else size - 1 - step // 2 for step in range(size)]
    return [tuple(box[(row + step) % size] for step in zigzag) for row in range(size)]


class Inside:
    """The routes between the members of a box over its own links.

    Args:
        problem: the network.
        box: the members of the box.

    Attributes:
        crosses_switches: whether all routes are through switches.
        is_mesh: whether every member has a route to every other.
    """

    def __init__(self, problem: Problem, box: Sequence[int]) -> None:
        nodes = problem.topology.nodes
        usable = {node for node in problem.boxes.inside(box[0]) if node in box or not nodes[node].is_compute}
        found = Routes(problem.topology, usable)
        pairs = ((one, other) for one in box for other in box if one != other)
        routes = {pair: route for pair in pairs if (route := found.find(*pair)) is not None}
        self.is_mesh = len(routes) == len(box) * (len(box) - 1)
        self.crosses_switches = self.is_mesh and all(len(route) > 2 for route in routes.values())
        self._routes = {pair: _links(route) for pair, route in routes.items()}
        self._bandwidths = found.bandwidths

    def links(self, hop: tuple[int, int]) -> Links:
        """Return the links of the route between two members."""
        return self._routes[hop]

    def hops(self, arrivals: Mapping[int, Links], departures: Mapping[int, Links]) -> RingHops:
        """Return the sends for a packing of rings between these ends."""
        paths = (*self._routes.values(), *arrivals.values(), *departures.values())
        bandwidths = {link: self._bandwidths[link] for path in paths for link in path}
        return RingHops(self._routes, arrivals, departures, bandwidths)
