"""A direct-connect network as a list of cables from port to port, for a patch panel: CSV.

    action,cable,node,port,other_node,other_port
    connect,duplex,0,1,2,0

Each compute node has ports, numbered from 0. A duplex cable joins a port to a port, and carries data both ways. If some
link has no link of the same bandwidth back, as in a Kautz graph, cables are simplex: from the sending side of a port to
the receiving side of one. A link of k times the least bandwidth is k cables.

With the list of the cables that are there, as many as possible stay where they are (`keep`). First, the others are
taken out (`remove`), then new ones are put in (`connect`), each into the lowest port that is free.
"""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from forestcoll.base.errors import InputError, shown
from forestcoll.base.files import PathLike, as_path, read_text, write_text
from forestcoll.topology.model import Topology

COLUMNS = ("action", "cable", "node", "port", "other_node", "other_port")
DUPLEX, SIMPLEX = "duplex", "simplex"
_ACTIONS = ("remove", "keep", "connect")
"""The actions, in the order of the list."""


class End(NamedTuple):
    """An end of a cable: a port of a node."""

    node: str
    port: int


class Cable(NamedTuple):
    """A cable; a simplex one goes from the first end to the second."""

    kind: str
    first: End
    second: End

    @property
    def pair(self) -> tuple[str, str, str]:
        """The kind and the nodes that it joins."""
        return self.kind, self.first.node, self.second.node


def text_of(topology: Topology) -> str:
    """Return the list of the cables of a network.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> print(text_of(build_topology("ring:nodes=3")), end="")
        action,cable,node,port,other_node,other_port
        connect,duplex,0,0,1,0
        connect,duplex,0,1,2,0
        connect,duplex,1,1,2,1

    Raises:
        InputError: the network has switches, or a link is no multiple of the least bandwidth.
    """
    return _text(_steps(topology, ()))


def write_cabling(topology: Topology, path: PathLike, before: PathLike | None = None) -> dict[str, int]:
    """Write the list of the cables of a network, and return how many there are for each action.

    Args:
        topology: the network.
        path: the file.
        before: the list of the cables that are there, whose rows `remove` have been done; None if there are none.

    Raises:
        InputError: as for `text_of`; `before` is no such list; or a file cannot be read or written.
    """
    steps = _steps(topology, () if before is None else read_cabling(before))
    write_text(as_path(path), [_text(steps)])
    counted = Counter(action for action, _ in steps)
    return {action: counted[action] for action in _ACTIONS}


def read_cabling(path: PathLike) -> tuple[Cable, ...]:
    """Return the cables that are there after the steps of a list.

    Raises:
        InputError: the file cannot be read or is no list of cables, or two cables share a port. The message names the
            line.
    """
    name = as_path(path)
    rows = list(csv.reader(read_text(name).splitlines()))
    if not rows or tuple(cell.strip() for cell in rows[0]) != COLUMNS:
        raise InputError(f"{name}: is no list of cables; the first line must be {','.join(COLUMNS)}")
    found = [
        _cable(f"{name}: line {number}", [cell.strip() for cell in cells])
        for number, cells in enumerate(rows[1:], 2)
        if any(cells) and cells[0].strip() != _ACTIONS[0]
    ]
    _check_ports(name, found)
    return tuple(found)


def _cable(where: str, cells: Sequence[str]) -> Cable:
    if len(cells) != len(COLUMNS):
        raise InputError(f"{where}: has {len(cells)} columns; expected {', '.join(COLUMNS)}")
    action, kind, node, port, other_node, other_port = cells
    for what, value, known in (("action", action, _ACTIONS), ("cable", kind, (DUPLEX, SIMPLEX))):
        if value not in known:
            raise InputError(f"{where}: {what} is {shown(value)}; expected {', '.join(known)}")
    for what, value in (("port", port), ("other_port", other_port)):
        if not (value.isascii() and value.isdigit() and len(value) <= 9):
            raise InputError(f"{where}: {what} is {shown(value)}; expected the number of a port, from 0")
    return Cable(kind, End(node, int(port)), End(other_node, int(other_port)))


def _check_ports(name: Path, cables: Iterable[Cable]) -> None:
    used: set[tuple[str, End]] = set()
    for cable in cables:
        for side, end in _sides(cable):
            if (side, end) in used:
                raise InputError(f"{name}: port {end.port} of {shown(end.node)} has two cables; correct the list")
            used.add((side, end))


def _sides(cable: Cable) -> Iterator[tuple[str, End]]:
    """Yield the sides of ports that a cable uses: a duplex cable uses both sides at both ends."""
    for end, side in ((cable.first, "send"), (cable.second, "receive")):
        yield side, end
        if cable.kind == DUPLEX:
            yield "receive" if side == "send" else "send", end


def _steps(topology: Topology, before: Sequence[Cable]) -> list[tuple[str, Cable]]:
    """Return the steps from some cables to those of a network."""
    wanted = _wanted(topology)
    steps, kept = [], list[Cable]()
    left = Counter(wanted)
    for cable in before:
        turned = (cable.kind, cable.second.node, cable.first.node)
        pair = turned if cable.kind == DUPLEX and not left[cable.pair] else cable.pair
        if left[pair]:
            left[pair] -= 1
            kept.append(cable)
        else:
            steps.append((_ACTIONS[0], cable))
    steps += [(_ACTIONS[1], cable) for cable in kept]
    ports = _FreePorts(wanted, kept)
    steps += [(_ACTIONS[2], ports.cable(*pair)) for pair in wanted for _ in range(left[pair])]
    return steps


class _FreePorts:
    """The ports of each node that have no cable, by side; a port has the lowest number that is free."""

    def __init__(self, wanted: Mapping[tuple[str, str, str], int], kept: Iterable[Cable]) -> None:
        used: dict[tuple[str, str], set[int]] = defaultdict(set)
        for cable in kept:
            for side, end in _sides(cable):
                used[side, end.node].add(end.port)
        degrees = Counter[tuple[str, str]]()
        for (kind, node, other), count in wanted.items():
            for side, end in _sides(Cable(kind, End(node, 0), End(other, 0))):
                degrees[side, end.node] += count
        self._duplex = any(kind == DUPLEX for kind, _, _ in wanted)
        self._free = {}
        for key, count in degrees.items():
            taken = used.get(key, set())
            free = [port for port in range(count + len(taken)) if port not in taken][:count]
            self._free[key] = free[::-1]

    def cable(self, kind: str, node: str, other: str) -> Cable:
        """Return a cable between the lowest free ports of two nodes."""
        return Cable(kind, End(node, self._take("send", node)), End(other, self._take("receive", other)))

    def _take(self, side: str, node: str) -> int:
        # The two sides of a duplex port are taken together, so their lists are equal.
        port = self._free[side, node].pop()
        if self._duplex:
            self._free["receive" if side == "send" else "send", node].pop()
        return port


def _wanted(topology: Topology) -> dict[tuple[str, str, str], int]:
    """Return the number of cables of each kind between two nodes, in the order of the nodes."""
    if topology.switches:
        raise InputError(
            f"{topology.name}: has switches; a list of cables is for networks whose compute nodes are joined directly"
        )
    least = min((link.bandwidth for link in topology.links), default=None)
    widths = topology.bandwidths
    is_duplex = all(widths.get((target, source)) == each for (source, target), each in widths.items())
    found: dict[tuple[str, str, str], int] = {}
    for (source, target), each in sorted(widths.items()):
        count = each / least if least else each
        if count.denominator != 1:
            names = " -> ".join(map(shown, topology.ids([source, target])))
            raise InputError(
                f"{topology.name}: link {names} has {each} and is no multiple of the least bandwidth, {least}; a cable "
                "has one bandwidth"
            )
        first, second = map(str, topology.ids([source, target]))
        if not is_duplex:
            found[SIMPLEX, first, second] = int(count)
        elif source < target:
            found[DUPLEX, first, second] = int(count)
    return found


def _text(steps: Iterable[tuple[str, Cable]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((action, cable.kind, *cable.first, *cable.second) for action, cable in steps)
    return file.getvalue()
