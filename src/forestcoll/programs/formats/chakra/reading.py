"""Reads traces from untrusted files: with size limits, and with errors that name the file and the node."""

from pathlib import Path
from types import MappingProxyType
from typing import Any

from forestcoll.base.errors import InputError
from forestcoll.base.files import read_bytes
from forestcoll.programs.formats.chakra.bulk import decoded
from forestcoll.programs.formats.chakra.document import Kind, Node, Trace
from forestcoll.programs.formats.chakra.schema import message
from forestcoll.programs.formats.chakra.writing import trace_path

MAX_BYTES = 256 * 2**20
"""The largest trace that is read (256 MiB): about three million nodes."""

MAX_MESSAGE_BYTES = 16 * 2**20
"""The largest node or header."""

_LARGEST_VARINT = 5


def read_traces(prefix: Path) -> tuple[Trace, ...]:
    """Return the traces `PREFIX.0.et`, `PREFIX.1.et` and so on, until a file is missing.

    Raises:
        InputError: there is no trace, one cannot be read or is not a trace, or `protobuf` is not installed.
    """
    traces: list[Trace] = []
    while (path := trace_path(prefix, len(traces))).exists() or not traces:
        traces.append(read_trace(path, len(traces)))
    return tuple(traces)


def read_trace(path: Path, rank: int) -> Trace:
    """Return the trace of `rank` in a file. Raises `InputError` as `read_traces` does."""
    return parse_trace(bytes(read_bytes(path, limit=MAX_BYTES)), rank=rank, where=str(path))


def parse_trace(data: bytes, *, rank: int, where: str) -> Trace:
    """Return the trace of `rank` in `data`, as `read_traces` does; `where` begins every error message."""
    begins, ends = _pieces(data, where)
    first = data[begins[0] : ends[0]] if begins else b""
    header = _parsed("GlobalMetadata", first, f"{where}: header")
    attributes = {each.name: each.string_val for each in header.attr}
    nodes = decoded(data, begins[1:], ends[1:])
    if nodes is None:
        pieces = zip(begins[1:], ends[1:], strict=True)
        nodes = tuple(_node(data[low:high], f"{where}: node {place}") for place, (low, high) in enumerate(pieces))
    return Trace(rank, nodes, MappingProxyType(attributes))


def _pieces(data: bytes, where: str) -> tuple[list[int], list[int]]:
    """Return where the header and all nodes begin and end."""
    begins: list[int] = []
    ends: list[int] = []
    place = 0
    while place < len(data):
        length, begin = (data[place], place + 1) if data[place] < 128 else _varint(data, place, where)
        if length > MAX_MESSAGE_BYTES or begin + length > len(data):
            raise InputError(f"{where}: not a trace of Chakra: at byte {place} a piece of {length} bytes is announced")
        place = begin + length
        begins.append(begin)
        ends.append(place)
    return begins, ends


def _varint(data: bytes, place: int, where: str) -> tuple[int, int]:
    value = 0
    for count in range(_LARGEST_VARINT):
        if place + count >= len(data):
            break
        byte = data[place + count]
        value |= (byte & 127) << 7 * count
        if byte < 128:
            return value, place + count + 1
    raise InputError(f"{where}: not a trace of Chakra: there is no length at byte {place}")


def _parsed(name: str, data: bytes, where: str) -> Any:
    kind = message(name)
    from google.protobuf.message import DecodeError

    try:
        return kind.FromString(data)
    except (DecodeError, ValueError):
        raise InputError(f"{where} does not follow the schema of Chakra") from None


def _node(data: bytes, where: str) -> Node:
    node = _parsed("Node", data, where)
    if node.type not in tuple(Kind):
        raise InputError(f"{where} has type {node.type}; a collective has {', '.join(map(str, map(int, Kind)))}")
    kind = Kind(node.type)
    after = (*node.data_deps, *node.ctrl_deps)
    if kind is Kind.COMPUTE:
        return Node(node.id, node.name, kind, after)
    values = {each.name: _value(each) for each in node.attr}
    wanted = ("comm_size", "comm_dst" if kind is Kind.SEND else "comm_src", "comm_tag")
    for name in wanted:
        if not isinstance(values.get(name), int):
            raise InputError(f'{where} has no "{name}"; give it an integer')
    size, peer, tag = (values[name] for name in wanted)
    return Node(node.id, node.name, kind, after, size, peer, tag)


def _value(attribute: Any) -> Any:
    which = attribute.WhichOneof("value")
    return None if which is None else getattr(attribute, which)
