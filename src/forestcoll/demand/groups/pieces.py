"""Pieces of data: which compute nodes hold a piece, or what it is the sum of, and which compute nodes need it.

Each piece is moved by a group (`groups.value`), so that all pieces together are groups that run at the same time:

| a piece | is moved by |
| --- | --- |
| that one node holds | a broadcast from this node |
| that several nodes hold | a broadcast in which each part of the data may come from any of these nodes |
| that is a sum and is needed by one node | a reduce to this node |
| that is a sum and is needed by the nodes whose data is added up | an allreduce |
| that is a sum and is needed by other nodes | an allreduce with sources and targets |

Pieces that the same nodes hold and the same nodes need are one group, whose data is these pieces one after the other.
A node that needs a piece and holds it already receives nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import InputError, did_you_mean, shown
from forestcoll.base.file_kinds import PIECES, check_kind
from forestcoll.base.files import PathLike, as_path, read_document
from forestcoll.base.json_parts import list_of, object_of, require, text_of
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.groups.value import MOST_GROUPS, Group, size_of
from forestcoll.demand.ranks import RanksLike, nodes_of
from forestcoll.topology import Topology
from forestcoll.topology.graph.walks import reached_from

FORMAT = "forestcoll.demand/1"

_KEYS = ("id", "size", "held_by", "sum_of", "needed_by")


@dataclass(frozen=True)
class Piece:
    """A piece of data, the compute nodes that have it or parts of its sum, and the compute nodes that need it.

    Nodes are given as for `ranks_of`: positions or ids, or a text such as `0-7,16`; one node is enough.

    Attributes:
        id: the name of the piece, different for each piece.
        needed_by: the nodes that need the piece.
        held_by: the nodes that hold the piece; each of them has all of it. None if the piece is a sum.
        sum_of: the nodes whose data is added up, one vector of the size of the piece from each; None if it is no sum.
        size: the size of the piece in multiples of M, the data size that algbw refers to; greater than 0.

    Example:
        >>> from forestcoll import Groups, Piece, optimum, load_topology
        >>> from forestcoll.demand import groups_of_pieces
        >>> ring = load_topology("ring:nodes=4")
        >>> pieces = [Piece("weights", "1,2", held_by=[0]), Piece("loss", [3], sum_of="0-2", size="1/2")]
        >>> str(optimum(ring, Groups(groups_of_pieces(ring, pieces))).algbw)
        '4/3'
    """

    id: str
    needed_by: RanksLike
    held_by: RanksLike | None = None
    sum_of: RanksLike | None = None
    size: object = 1


def groups_of_pieces(topology: Topology, pieces: Iterable[Piece], *, where: str = "") -> tuple[Group, ...]:
    """Return the groups that move pieces of data, as `optimum` and `generate` take them.

    Pieces that the same nodes hold (or are the sum of) and the same nodes need are one group. A piece that is needed
    only by nodes that hold it is in no group.

    Args:
        topology: the network.
        pieces: the pieces.
        where: the text that begins error messages, such as the name of a file.

    Returns:
        The groups, in the order of their first pieces. `Group.pieces` names the pieces of each.

    Raises:
        InputError: a piece is not valid, or the nodes that need it cannot be reached; the message names the piece. Or
            no data must move, or there are too many groups.

    Example:
        >>> from forestcoll import Piece, load_topology
        >>> from forestcoll.demand import groups_of_pieces
        >>> pieces = [Piece("a", [1, 2], held_by=[0]), Piece("b", [1, 2], held_by=[0]), Piece("c", [0], held_by=[3])]
        >>> [[name for name, _ in group.pieces] for group in groups_of_pieces(load_topology("ring:nodes=4"), pieces)]
        [['a', 'b'], ['c']]
    """
    checked, found = _Checked(topology), dict[NodeDemand, list[tuple[str, Fraction]]]()
    for piece in pieces:
        try:
            name = checked.name(piece)
        except InputError as error:
            raise InputError(f"{where}{error}") from None
        try:
            demand, size = checked.demand(piece), size_of(piece.size, "size")
        except InputError as error:
            raise InputError(f"{where}piece {shown(name)}: {error}") from None
        if demand is not None:
            found.setdefault(demand, []).append((name, size))
    if not found:
        raise InputError(f"{where}no piece must move; give a piece that is needed by a node that does not hold it")
    if len(found) > MOST_GROUPS:
        raise InputError(
            f"{where}the pieces make {len(found)} groups of pieces with the same nodes; at most {MOST_GROUPS} are "
            "possible; divide the demand"
        )
    return tuple(
        Group(demand, sum((size for _, size in listed), Fraction(0)), tuple(listed)) for demand, listed in found.items()
    )


def read_pieces(path: PathLike) -> tuple[Piece, ...]:
    """Return the pieces in a file of the format `forestcoll.demand/1`.

    Args:
        path: the file; `-` is standard input.

    Returns:
        The pieces, as `groups_of_pieces` takes them.

    Raises:
        InputError: the file cannot be read, or does not have the form of the format; the message names the place.

    Example:
        >>> from pathlib import Path
        >>> piece = '{"id": "weights", "held_by": [0], "needed_by": "1-3"}'
        >>> _ = Path("demand.json").write_text('{"format": "forestcoll.demand/1", "pieces": [' + piece + "]}")
        >>> read_pieces("demand.json")
        (Piece(id='weights', needed_by='1-3', held_by=[0], sum_of=None, size=1),)
    """
    path = as_path(path)
    document = read_document(path)
    check_kind(document, PIECES, str(path))
    if document.get("format") != FORMAT:
        raise InputError(f"{path}: format is {shown(document.get('format'))}; expected {FORMAT!r}")
    require(document, ("pieces",), f"{path}:", "a demand")
    listed = list_of(document["pieces"], f"{path}: pieces")
    return tuple(_piece(each, f"{path}: pieces[{place}]") for place, each in enumerate(listed))


def _piece(value: object, where: str) -> Piece:
    piece = object_of(value, where, '{"id": ..., "held_by": [...], "needed_by": [...]}')
    for key in piece:
        if key not in _KEYS:
            raise InputError(f"{where}: there is no key {shown(key)}; {did_you_mean(key, _KEYS)}remove it")
    require(piece, ("id", "needed_by"), where, "a piece")
    nodes = {key: _nodes(piece, key, where) for key in ("needed_by", "held_by", "sum_of") if key in piece}
    return Piece(id=text_of(piece["id"], f"{where}.id"), size=piece.get("size", 1), **nodes)


def _nodes(piece: Mapping[str, object], key: str, where: str) -> RanksLike:
    value = piece[key]
    if isinstance(value, str | list):
        return value
    raise InputError(f"{where}.{key} is {shown(value)}; expected a text such as '0-7', or a list of ranks")


class _Checked:
    """Turns pieces into demands, after all checks."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._names: set[str] = set()
        self._reached: dict[tuple[int, bool], set[int]] = {}

    def name(self, piece: Piece) -> str:
        """Return the id of a piece, which no piece before it may have."""
        if not isinstance(piece.id, str) or not piece.id or piece.id in self._names:
            why = "is the id of two pieces" if piece.id in self._names else "is no text"
            raise InputError(f"pieces: {shown(piece.id)} {why}; give each piece an id of its own")
        self._names.add(piece.id)
        return piece.id

    def demand(self, piece: Piece) -> NodeDemand | None:
        """Return what moves a piece; None if nothing must move."""
        if (piece.held_by is None) == (piece.sum_of is None):
            raise InputError("has both held_by and sum_of, or none of them; give one of them")
        targets = self._listed(piece.needed_by, "needed_by")
        if piece.sum_of is not None:
            sources = self._listed(piece.sum_of, "sum_of")
            if len(sources) > 1:
                return self._of_sum(sources, targets)
        else:
            sources = self._listed(piece.held_by or (), "held_by")
        missing = tuple(node for node in targets if node not in sources)
        return self._of_copies(sources, missing) if missing else None

    def _listed(self, given: RanksLike, key: str) -> tuple[int, ...]:
        try:
            nodes = nodes_of(self._topology, given)
        except InputError as error:
            raise InputError(f"{key}: {error}") from None
        if not nodes:
            raise InputError(f"{key} names no compute node; name one or more")
        return nodes

    def _of_copies(self, sources: tuple[int, ...], targets: tuple[int, ...]) -> NodeDemand:
        """Return the broadcast of a piece that the sources hold."""
        reached = set[int]().union(*(self._reach(source) for source in sources))
        for target in targets:
            if target not in reached:
                raise InputError(f"no node that holds it can reach {self._id(target)}; add links on the way")
        ranks = tuple(sorted({*sources, *targets}))
        if len(sources) == 1:
            return NodeDemand(Collective.BROADCAST, root=sources[0], ranks=ranks)
        return NodeDemand(Collective.BROADCAST, root=sources[0], ranks=ranks, sources=sources, targets=targets)

    def _of_sum(self, sources: tuple[int, ...], targets: tuple[int, ...]) -> NodeDemand:
        """Return the reduce or the allreduce of a sum."""
        ranks = tuple(sorted({*sources, *targets}))
        if len(targets) == 1:
            back = self._reach(targets[0], backwards=True)
            for source in sources:
                if source not in back:
                    raise InputError(f"{self._id(source)} cannot reach {self._id(targets[0])}; add links on the way")
            return NodeDemand(Collective.REDUCE, root=targets[0], ranks=ranks)
        self._check_root(sources, targets)
        if sources == targets:
            return NodeDemand(Collective.ALLREDUCE, ranks=ranks)
        return NodeDemand(Collective.ALLREDUCE, ranks=ranks, sources=sources, targets=targets)

    def _check_root(self, sources: Sequence[int], targets: Sequence[int]) -> None:
        """Check that a node that can add up and copy is between all sources and all targets."""
        roots = {
            number
            for number, node in enumerate(self._topology.nodes)
            if node.is_compute or (node.multicast and node.aggregation)
        }
        for source in sources:
            roots &= self._reach(source)
        for target in targets:
            roots &= self._reach(target, backwards=True)
        if not roots:
            raise InputError(
                "no node is reached from all nodes of sum_of and reaches all nodes of needed_by, so the sum cannot be "
                "added up at one node; add links, or give a piece for each node that needs the sum"
            )

    def _reach(self, node: int, *, backwards: bool = False) -> set[int]:
        key = (node, backwards)
        if key not in self._reached:
            self._reached[key] = set(reached_from(self._topology, (node,), backwards=backwards))
        return self._reached[key]

    def _id(self, node: int) -> str:
        return shown(self._topology.nodes[node].id)
