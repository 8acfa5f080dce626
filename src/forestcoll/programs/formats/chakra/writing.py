"""Writes traces: a header and the nodes, each preceded by its length; the same trace gives the same bytes.

The schema is 0.0.4 of `schema/protobuf/et_def.proto` in mlcommons/chakra (mlc-chakra 1.0.0 on PyPI). A node is

    length, id, name, type, data_deps, and for a message the attributes comm_size, comm_dst or comm_src, and comm_tag

Each field is its tag, and a number in groups of seven bits (a *varint*) or a length with that many bytes. Fields that
are 0 or empty are left out. All nodes of a trace are encoded at once, with arrays. The tests compare the bytes with
those of the library `protobuf`, which takes some microseconds for each value.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.base.errors import InputError
from forestcoll.programs.formats.chakra.document import NodeType, Trace, TraceNode

SCHEMA = "1.0.2-chakra.0.0.4"
"""The attribute `schema` of a trace."""

IntArray: TypeAlias = npt.NDArray[np.int64]
_Bits: TypeAlias = npt.NDArray[np.bool_]
_Bytes: TypeAlias = npt.NDArray[np.uint8]

_VERSION, _HEADER_ATTRIBUTE = b"\x0a", b"\x12"
_ID, _NAME, _TYPE, _DEPENDENCIES, _ATTRIBUTE = b"\x08", b"\x12", b"\x18", b"\x2a", b"\x52"
_ATTRIBUTE_NAME = b"\x0a"
_INT32, _INT64, _BOOL, _STRING = b"\x38", b"\x48", b"\xd8\x01", b"\xea\x01"
_MOST_INT32 = 2**31

_COLLECTIVE = 7
"""The type of a node that calls a collective, in the schema."""


class _Text(NamedTuple):
    """Parts of the encoded nodes side by side: a row of bytes for each node, and which of them are present."""

    data: _Bytes
    present: _Bits

    @property
    def lengths(self) -> IntArray:
        lengths: IntArray = self.present.sum(axis=1)
        return lengths


def trace_path(prefix: Path, rank: int) -> Path:
    """Return the file for the trace of a rank."""
    return prefix.with_name(f"{prefix.name}.{rank}.et")


def emit(trace: Trace) -> bytes:
    """Return the content of the file for `trace`.

    Raises:
        InputError: a number is too large for the schema.
    """
    try:
        return _header(trace.attributes) + _encoded(trace.nodes)
    except OverflowError:
        raise InputError(
            f"rank {trace.rank}: a number does not fit a trace, where ranks and tags are below 2^31, and other numbers "
            "below 2^63; give fewer bytes, chunks or pieces"
        ) from None


def call(name: str, collective: int, size: int) -> bytes:
    """Return the content of the file for a rank that calls one collective.

    Args:
        name: the name of the node.
        collective: the number of the collective in the schema.
        size: the total data M, in bytes.
    """
    node = _field(_NAME, name.encode()) + _TYPE + bytes([_COLLECTIVE])
    values = ((b"is_cpu_op", _BOOL, 0), (b"comm_type", _INT64, collective), (b"comm_size", _INT64, size))
    for key, kind, value in values:
        node += _field(_ATTRIBUTE, _field(_ATTRIBUTE_NAME, key) + kind + _varint(value))
    return _header({}) + _field(b"", node)


def _header(attributes: Mapping[str, str]) -> bytes:
    header = _field(_VERSION, b"0.0.4")
    for name, value in {"schema": SCHEMA, **attributes}.items():
        content = _field(_ATTRIBUTE_NAME, name.encode()) + _field(_STRING, value.encode())
        header += _field(_HEADER_ATTRIBUTE, content)
    return _field(b"", header)


def _field(tag: bytes, content: bytes) -> bytes:
    return tag + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    return _packed(_varints(np.array([value], dtype=np.int64)))


def _packed(text: _Text) -> bytes:
    return text.data[text.present].tobytes()


def _encoded(nodes: Sequence[TraceNode]) -> bytes:
    """Return the bytes of `nodes`, each after its length. Raises `OverflowError` if a number does not fit."""
    if not nodes:
        return b""
    rows = np.array([(n.number, n.kind, n.size, n.peer, n.tag) for n in nodes], dtype=np.int64)
    number, kind, size, peer, tag = rows.T
    messages = kind != NodeType.COMPUTE
    if rows[messages].min(initial=0) < 0 or number.min() < 0 or max(peer.max(), tag.max()) >= _MOST_INT32:
        raise OverflowError
    ends = [(kind == NodeType.SEND, b"comm_dst"), (kind == NodeType.RECEIVE, b"comm_src")]
    body = _beside(
        _number(_ID, number, number > 0),
        _bytes(_NAME, _strings([node.name.encode() for node in nodes])),
        _number(_TYPE, kind, kind > 0),
        _bytes(_DEPENDENCIES, _dependencies(nodes)),
        _attribute(b"comm_size", _INT64, size, messages),
        *(_attribute(name, _INT32, np.maximum(peer, 0), which) for which, name in ends),
        _attribute(b"comm_tag", _INT32, tag, messages),
    )
    return _packed(_beside(_varints(body.lengths), body))


def _beside(*parts: _Text) -> _Text:
    return _Text(np.hstack([each.data for each in parts]), np.hstack([each.present for each in parts]))


def _varints(values: IntArray) -> _Text:
    width = max(1, -(-int(values.max(initial=0)).bit_length() // 7))
    groups = values[:, None] >> 7 * np.arange(width)
    present = groups > 0
    present[:, 0] = True
    more = np.zeros_like(present)
    more[:, :-1] = present[:, 1:]
    return _Text(((groups & 127) | more * 128).astype(np.uint8), present)


def _constant(text: bytes, present: _Bits) -> _Text:
    row = np.frombuffer(text, dtype=np.uint8)
    return _Text(np.tile(row, (len(present), 1)), np.repeat(present[:, None], len(row), axis=1))


def _where(present: _Bits, text: _Text) -> _Text:
    return _Text(text.data, text.present & present[:, None])


def _number(tag: bytes, values: IntArray, present: _Bits) -> _Text:
    return _beside(_constant(tag, present), _where(present, _varints(values)))


def _bytes(tag: bytes, content: _Text) -> _Text:
    """Return a field with a length; it is left out if it is empty."""
    lengths = content.lengths
    return _beside(_number(tag, lengths, lengths > 0), content)


def _strings(texts: Sequence[bytes]) -> _Text:
    width = max(1, *map(len, texts))
    data = np.array(texts, dtype=f"S{width}").view(np.uint8).reshape(len(texts), width)
    lengths = np.array([len(text) for text in texts])
    return _Text(data, np.arange(width) < lengths[:, None])


def _dependencies(nodes: Sequence[TraceNode]) -> _Text:
    """Return the numbers of the nodes that each node waits for, as varints one after the other."""
    most = max(1, *(len(node.after) for node in nodes))
    table = np.array([(*node.after, *[-1] * (most - len(node.after))) for node in nodes], dtype=np.int64)
    texts = _varints(np.maximum(table, 0).reshape(-1))
    present = texts.present & (table >= 0).reshape(-1, 1)
    return _Text(texts.data.reshape(len(nodes), -1), present.reshape(len(nodes), -1))


def _attribute(name: bytes, kind: bytes, values: IntArray, present: _Bits) -> _Text:
    begin = _field(_ATTRIBUTE_NAME, name) + kind
    content = _where(present, _beside(_constant(begin, present), _varints(values)))
    return _bytes(_ATTRIBUTE, content)
