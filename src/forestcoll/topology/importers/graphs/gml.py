"""GML: `graph [ node [ id 0 label "a" ] edge [ source 0 target 1 capacity 10 ] ]`, as the Topology Zoo publishes it.

Repeated edges are parallel links. Numbers keep their digits.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from forestcoll.base.errors import shown
from forestcoll.base.exact import WrittenFloat
from forestcoll.topology.importers.graphs.names import use_labels
from forestcoll.topology.importers.graphs.plain import GraphImporter, PlainEdge, PlainGraph, PlainNode
from forestcoll.topology.importers.importer import importers
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import Source

_WORD = re.compile(r'"([^"]*)"|#[^\n]*|(\[)|(\])|([^\s\[\]"]+)|(\n)|(")')
_MAX_DEPTH = 50
_MOST_DIGITS = 100
"""The most characters of a number; a longer word is a text."""

Pairs = list[tuple[str, object, int]]


@importers.add("gml", summary="GML", tried=110)
@dataclass(frozen=True)
class Gml(GraphImporter):
    """Reads GML."""

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text is GML."""
        return (
            re.search(r"^[ \t]*graph\s*\[", text, re.MULTILINE) is not None
            and re.search(r"\bnode\s*\[", text) is not None
        )

    def graph(self, source: Source, _notes: Notes) -> PlainGraph:
        """Return the graph in a file."""
        top = _pairs(source, _tokens(source), depth=0)
        found = next((value for key, value, _ in top if key == "graph" and isinstance(value, list)), None)
        if found is None:
            raise source.error("holds no graph [ ... ]; is the file complete?")
        graph = PlainGraph(directed=_plain(found).get("directed") in (1, "1"), attributes=_plain(found))
        for key, value, line in found:
            if key in ("node", "edge") and isinstance(value, list):
                _add(source, graph, key, _plain(value), line)
        use_labels(graph)
        return graph


def _add(source: Source, graph: PlainGraph, kind: str, attributes: dict[str, object], line: int) -> None:
    ends = [attributes.pop(name, None) for name in (("id",) if kind == "node" else ("source", "target"))]
    for end in ends:
        if not isinstance(end, int | str):
            name = "an id" if kind == "node" else "source and target"
            raise source.error(f"a {kind} needs {name}, an integer or a text; it has {shown(end)}", line)
    names = [end for end in ends if isinstance(end, int | str)]
    if kind == "node":
        graph.nodes.append(PlainNode(names[0], attributes, line))
    else:
        graph.edges.append(PlainEdge(names[0], names[1], attributes, line))


def _plain(pairs: Pairs) -> dict[str, object]:
    return {key: value for key, value, _ in pairs if not isinstance(value, list)}


def _tokens(source: Source) -> Iterator[tuple[str, object, int]]:
    """Yield the kind, the value and the line of each word: `[`, `]`, `text` or `word`."""
    line = 1
    for found in _WORD.finditer(source.text):
        if found[0] == "\n":
            line += 1
        elif found[0] in ("[", "]"):
            yield found[0], found[0], line
        elif found[6]:
            raise source.error("a text has no closing quote; add it", line)
        elif found[1] is not None:
            yield "text", found[1], line
            line += found[1].count("\n")
        elif found[4]:
            yield "word", found[4], line


def _pairs(source: Source, tokens: Iterator[tuple[str, object, int]], depth: int) -> Pairs:
    """Return keys and values up to the closing bracket."""
    if depth > _MAX_DEPTH:
        raise source.error(f"GML nested deeper than {_MAX_DEPTH} levels; a graph needs two")
    pairs: Pairs = []
    for kind, key, line in tokens:
        if kind == "]":
            return pairs
        if kind != "word":
            raise source.error(f"{shown(key)} where a key is expected; fix it there", line)
        form, value, _ = next(tokens, ("end", "", line))
        if form in ("end", "]"):
            raise source.error(f"{shown(key)} has no value; give it one", line)
        pairs.append((str(key), _pairs(source, tokens, depth + 1) if form == "[" else _value(form, value), line))
    if depth:
        raise source.error("a closing bracket is missing; the file is cut off")
    return pairs


def _value(kind: str, value: object) -> object:
    text = str(value)
    kind = "text" if len(text) > _MOST_DIGITS else kind
    if kind == "word" and re.fullmatch(r"[+-]?[0-9]{1,40}", text):
        return int(text)
    if kind == "word" and re.fullmatch(r"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]{1,6})?\.?|[+-]?[0-9]+\.[0-9]*", text):
        return WrittenFloat(text)
    return text
