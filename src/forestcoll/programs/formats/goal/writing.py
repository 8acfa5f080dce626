"""Writes a GOAL schedule as text; the same schedule gives the same bytes.

The text follows the grammar of `txt2bin.re` of LogGOPSim: each operation and each dependency has a line of its own, a
comment begins at the start of a line, and a label comes before the lines that use it.
"""

import json
from collections.abc import Iterator, Sequence

from forestcoll.programs.formats.goal.document import Data, Goal, Header, Operation, OperationKind
from forestcoll.programs.model import Span

HEADER = "// forestcoll "
"""The start of the line with the header."""

DATA = "// data "
"""The start of a line that says which data the next operation moves."""


def emit(goal: Goal) -> Iterator[str]:
    """Yield the lines of the file for `goal`."""
    if goal.header is not None:
        yield f"{HEADER}{_header(goal.header)}\n"
    yield f"num_ranks {len(goal.ranks)}\n"
    for rank, operations in enumerate(goal.ranks):
        yield f"\nrank {rank} {{\n"
        yield from _rank(operations)
        yield "}\n"


def _header(header: Header) -> str:
    document: dict[str, object] = {
        "name": header.name,
        "collective": header.collective,
        "bytes": header.size,
        "chunks": header.chunks,
    }
    if header.shards:
        document["shards"] = header.shards
    if header.root is not None:
        document["root"] = header.root
    return json.dumps(document)


def _rank(operations: Sequence[Operation]) -> Iterator[str]:
    for place, operation in enumerate(operations):
        if operation.data is not None:
            yield f"{DATA}{_data(operation.data)}\n"
        yield f"l{place}: {_operation(operation)}\n"
    for place, operation in enumerate(operations):
        for word, others in (("requires", operation.after), ("irequires", operation.after_start)):
            yield from (f"l{place} {word} l{other}\n" for other in others)


def _operation(operation: Operation) -> str:
    if operation.kind is OperationKind.COMPUTE:
        return f"calc {operation.size}"
    word = "to" if operation.kind is OperationKind.SEND else "from"
    return f"{operation.kind.value} {operation.size}b {word} {operation.peer} tag {operation.tag}"


def _data(data: Data) -> str:
    sources, targets = (
        sign.join(_span(each) for each in spans) for sign, spans in ((" + ", data.sources), (", ", data.targets))
    )
    return f"{sources} -> {targets}".strip()


def _span(span: Span) -> str:
    return f"{span.buffer.value} {span.offset} {span.count}"
