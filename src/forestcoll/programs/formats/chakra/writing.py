"""Writes traces: a header and the nodes, each preceded by its length; the same trace gives the same bytes."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from forestcoll.programs.formats.chakra.bulk import encoded
from forestcoll.programs.formats.chakra.document import Kind, Node, Trace
from forestcoll.programs.formats.chakra.schema import SCHEMA, message

_COLLECTIVE = 7
"""The type of a node that calls a collective, in the schema."""


def trace_path(prefix: Path, rank: int) -> Path:
    """Return the file for the trace of a rank."""
    return prefix.with_name(f"{prefix.name}.{rank}.et")


def emit(trace: Trace) -> Iterator[bytes]:
    """Yield the bytes of the file for `trace`, in pieces."""
    yield _delimited(_header(trace.attributes))
    whole = encoded(trace.nodes)
    if whole is not None:
        yield whole
        return
    for node in trace.nodes:
        yield _delimited(_node(node))


def call(name: str, collective: int, size: int) -> Iterator[bytes]:
    """Yield the bytes of the file for a rank that calls one collective, in pieces.

    Args:
        name: the name of the node.
        collective: the number of the collective in the schema.
        size: the total data M, in bytes.
    """
    yield _delimited(_header({}))
    node = message("Node")(id=0, name=name, type=_COLLECTIVE)
    node.attr.add(name="is_cpu_op", bool_val=False)
    node.attr.add(name="comm_type", int64_val=collective)
    node.attr.add(name="comm_size", int64_val=size)
    yield _delimited(node)


def _header(attributes: Mapping[str, str]) -> Any:
    header = message("GlobalMetadata")(version="0.0.4")
    for name, value in {"schema": SCHEMA, **attributes}.items():
        header.attr.add(name=name, string_val=value)
    return header


def _node(node: Node) -> Any:
    written = message("Node")(id=node.number, name=node.name, type=int(node.kind), data_deps=node.after)
    if node.kind is not Kind.COMPUTE:
        written.attr.add(name="comm_size", int64_val=node.size)
        written.attr.add(name="comm_dst" if node.kind is Kind.SEND else "comm_src", int32_val=node.peer)
        written.attr.add(name="comm_tag", int32_val=node.tag)
    return written


def _delimited(written: Any) -> bytes:
    data: bytes = written.SerializeToString(deterministic=True)
    return bytes(_varint(len(data))) + data


def _varint(value: int) -> Sequence[int]:
    """Return a number in groups of seven bits, the lowest first; all but the last group have the eighth bit set."""
    groups = [value & 127]
    while value := value >> 7:
        groups[-1] |= 128
        groups.append(value & 127)
    return groups
