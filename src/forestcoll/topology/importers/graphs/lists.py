"""Lists of edges and of neighbours, as networkx and many others write them.

A list of edges has lines `one other`, `one other 25` or `one other {'capacity': 25}`; a list of neighbours has lines
`one neighbour neighbour ...`. `#` begins a comment. A table with commas has the same columns.
"""

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from forestcoll.base.errors import shown
from forestcoll.topology.importers.graphs.plain import GraphImporter, PlainEdge, PlainGraph, PlainNode
from forestcoll.topology.importers.importer import importers
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import Source

_NUMBER = r"[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?(?:\s?[KMGTkP]?i?[Bb](?:it)?(?:/s|ps))?"
_NO_NUMBER = r"-[0-9.]\S*|[+-]?(?:nan|inf|infinity)"
"""Values that a program writes in place of a bandwidth. Such a line is an edge, whose bandwidth is then refused."""
_NAME = r"[^\s,{}<>=\[\]\"':;()|]+"
_BLANK = r"[\s,;]+"
_EDGE = re.compile(rf"({_NAME}){_BLANK}({_NAME})(?:{_BLANK}(?:({_NUMBER}|(?i:{_NO_NUMBER}))|(\{{.*\}})))?")
_NAMES = re.compile(rf"{_NAME}(?:[ \t]+{_NAME})*")
_MAX_LINE = 2**12
"""The most characters of a line of a list of edges."""
_TITLES = {"source", "src", "from", "target", "dst", "to", "node1", "node2", "u", "v"}


def _lines(text: str) -> list[str]:
    return [line for each in text.splitlines() if (line := each.partition("#")[0].strip())]


def _edge(line: str) -> "re.Match[str] | None":
    return _EDGE.fullmatch(line) if len(line) < _MAX_LINE else None


@importers.add("edge-list", summary="a list of edges", tried=910)
@dataclass(frozen=True)
class EdgeList(GraphImporter):
    """Reads a list of edges."""

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether every line names two nodes, and at most a number or attributes."""
        lines = _lines(text[: 2**20])
        lines = lines[1:] if lines and _is_title(lines[0]) else lines
        return len(lines) > 1 and all(_edge(line) for line in lines[:-1])

    def graph(self, source: Source, notes: Notes) -> PlainGraph:
        """Return the graph of a list of edges."""
        edges: list[PlainEdge] = []
        for number, each in source.numbered():
            line = each.partition("#")[0].strip()
            if not line or (not edges and _is_title(line)):
                continue
            found = _edge(line)
            if found is None:
                expected = "two names and a bandwidth, as in 'a b 25'"
                raise source.error(f"{shown(line)} is no edge; expected {expected}", number)
            attributes: dict[str, object] = {"bandwidth": found[3]} if found[3] else {}
            if found[4]:
                attributes = _attributes(source, found[4], number)
            edges.append(PlainEdge(found[1], found[2], attributes, number))
        return _graph(edges, notes)


@importers.add("adjacency-list", summary="a list of nodes and their neighbours", tried=920)
@dataclass(frozen=True)
class AdjacencyList(GraphImporter):
    """Reads a list of nodes and their neighbours."""

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether every line is a node and its neighbours, each of which has a line of its own."""
        lines = _lines(text[: 2**20])
        if len(lines) < 2 or not all(_NAMES.fullmatch(line) for line in lines):
            return False
        firsts = {line.split()[0] for line in lines}
        return len(firsts) == len(lines) and all(word in firsts for line in lines for word in line.split())

    def graph(self, source: Source, notes: Notes) -> PlainGraph:
        """Return the graph of a list of neighbours; an edge that both ends list counts once."""
        edges: dict[tuple[str, str], PlainEdge] = {}
        names: dict[str, None] = {}
        for number, each in source.numbered():
            words = each.partition("#")[0].split()
            names.update(dict.fromkeys(words))
            for other in words[1:]:
                if (other, words[0]) not in edges:
                    edges[words[0], other] = PlainEdge(words[0], other, {}, number)
        return _graph(list(edges.values()), notes, list(names))


def _is_title(line: str) -> bool:
    words = re.split(_BLANK, line.lower())
    return len(words) > 1 and words[0] in _TITLES and words[1] in _TITLES


def _attributes(source: Source, text: str, line: int) -> dict[str, object]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of a number such as 1and, which is refused
            value = ast.literal_eval(text) if len(text) < 2**12 else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise source.error(f"{shown(text)} are no attributes; expected {{'capacity': 25}}", line)
    return {str(name): each for name, each in value.items()}


def _graph(edges: list[PlainEdge], notes: Notes, names: Sequence[str] = ()) -> PlainGraph:
    pairs = {(edge.source, edge.target) for edge in edges}
    directed = any((edge.target, edge.source) in pairs for edge in edges)
    known = dict.fromkeys([*names, *(end for edge in edges for end in (edge.source, edge.target))])
    notes.assume("an edge goes one way, as the list has edges both ways" if directed else "an edge is full duplex")
    return PlainGraph(directed, [PlainNode(name) for name in known], edges)
