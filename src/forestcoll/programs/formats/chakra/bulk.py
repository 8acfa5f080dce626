"""Encodes and decodes all nodes of a trace at once, with arrays; `protobuf` takes some microseconds for each value.

Nodes that this project writes, and those of other tools with the same fields in the same order, have the layout

    length, id, name, type, data_deps, and for a message the attributes comm_size, comm_dst or comm_src, and comm_tag

Each field is its tag, and a number in groups of seven bits (a *varint*) or a length with that many bytes. The result is
the same as that of `protobuf`, byte by byte; the tests compare them. Other nodes are left to `protobuf`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.programs.formats.chakra.document import Kind, Node

IntArray: TypeAlias = npt.NDArray[np.int64]
_Bits: TypeAlias = npt.NDArray[np.bool_]
_Bytes: TypeAlias = npt.NDArray[np.uint8]

_ID, _NAME, _TYPE, _DEPENDENCIES = 0x08, 0x12, 0x18, 0x2A
_ATTRIBUTE = 0x52
_INT32, _INT64 = b"\x38", b"\x48"
_MOST_INT32 = 2**31
_LONGEST = 9
"""The most bytes of a varint that are decoded: all numbers of 63 bits."""


class _Text(NamedTuple):
    """Parts of the encoded nodes side by side: a row of bytes for each node, and which of them are present."""

    data: _Bytes
    present: _Bits

    @property
    def lengths(self) -> IntArray:
        lengths: IntArray = self.present.sum(axis=1)
        return lengths


def encoded(nodes: Sequence[Node]) -> bytes | None:
    """Return the bytes of `nodes`, each after its length; None if `protobuf` must encode them."""
    if not nodes:
        return b""
    columns = [np.array(column, dtype=np.int64) for column in list(zip(*nodes, strict=True))[4:]]
    size, peer, tag = columns
    number, kind = (np.array([node[place] for node in nodes], dtype=np.int64) for place in (0, 2))
    if min(number.min(), size.min(), tag.min()) < 0 or peer[kind != Kind.COMPUTE].min(initial=0) < 0:
        return None
    if max(peer.max(), tag.max()) >= _MOST_INT32:
        return None
    names = [node.name.encode() for node in nodes]
    messages = kind != Kind.COMPUTE
    ends = [(kind == Kind.SEND, b"comm_dst"), (kind == Kind.RECEIVE, b"comm_src")]
    body = _beside(
        _number(_ID, number, number > 0),
        _bytes(_NAME, _strings(names)),
        _number(_TYPE, kind, kind > 0),
        _bytes(_DEPENDENCIES, _dependencies(nodes)),
        _attribute(b"comm_size", _INT64, size, messages),
        *(_attribute(name, _INT32, np.maximum(peer, 0), which) for which, name in ends),
        _attribute(b"comm_tag", _INT32, tag, messages),
    )
    whole = _beside(_varints(body.lengths), body)
    return whole.data[whole.present].tobytes()


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


def _number(tag: int, values: IntArray, present: _Bits) -> _Text:
    return _beside(_constant(bytes([tag]), present), _where(present, _varints(values)))


def _bytes(tag: int, content: _Text) -> _Text:
    """Return a field with a length; it is left out if it is empty."""
    lengths = content.lengths
    return _beside(_number(tag, lengths, lengths > 0), content)


def _strings(texts: Sequence[bytes]) -> _Text:
    width = max(1, *map(len, texts))
    data = np.array(texts, dtype=f"S{width}").view(np.uint8).reshape(len(texts), width)
    lengths = np.array([len(text) for text in texts])
    return _Text(data, np.arange(width) < lengths[:, None])


def _dependencies(nodes: Sequence[Node]) -> _Text:
    """Return the numbers of the nodes that each node waits for, as varints one after the other."""
    most = max(1, *(len(node.after) for node in nodes))
    table = np.array([(*node.after, *[-1] * (most - len(node.after))) for node in nodes], dtype=np.int64)
    texts = _varints(np.maximum(table, 0).reshape(-1))
    present = texts.present & (table >= 0).reshape(-1, 1)
    return _Text(texts.data.reshape(len(nodes), -1), present.reshape(len(nodes), -1))


def _attribute(name: bytes, kind: bytes, values: IntArray, present: _Bits) -> _Text:
    begin = bytes([0x0A, len(name)]) + name + kind
    content = _where(present, _beside(_constant(begin, present), _varints(values)))
    return _bytes(_ATTRIBUTE, content)


def decoded(data: bytes, begins: Sequence[int], ends: Sequence[int]) -> tuple[Node, ...] | None:
    """Return the nodes in `data` from `begins` to `ends`; None if one of them has another layout."""
    if not begins:
        return ()
    reader = _Reader(data, begins, ends)
    number = reader.optional(_ID)
    name = reader.optional(_NAME)
    name_begins = reader.skip(name)
    kind = reader.optional(_TYPE)
    lengths = reader.optional(_DEPENDENCIES)
    after = reader.varints(reader.skip(lengths), lengths)
    messages = (kind == Kind.SEND) | (kind == Kind.RECEIVE)
    size = reader.attribute(messages, [(messages, b"comm_size")], _INT64)
    ends_of = [(kind == Kind.SEND, b"comm_dst"), (kind == Kind.RECEIVE, b"comm_src")]
    peer = reader.attribute(messages, ends_of, _INT32)
    tag = reader.attribute(messages, [(messages, b"comm_tag")], _INT32)
    too_large = max(peer.max(), tag.max()) >= _MOST_INT32
    if after is None or too_large or not reader.is_complete or not (messages | (kind == Kind.COMPUTE)).all():
        return None
    peer[~messages] = -1
    kinds = {int(each): each for each in Kind}
    names = [data[begin : begin + length] for begin, length in zip(name_begins.tolist(), name.tolist(), strict=True)]
    columns = (kind.tolist(), after, size.tolist(), peer.tolist(), tag.tolist())
    try:
        return tuple(
            Node(each, text.decode(), kinds[what], *rest)
            for each, text, what, *rest in zip(number.tolist(), names, *columns, strict=True)
        )
    except UnicodeDecodeError:
        return None


class _Reader:
    """Reads the next field of all nodes at once; `fits` says whether each node had the expected layout so far."""

    def __init__(self, data: bytes, begins: Sequence[int], ends: Sequence[int]) -> None:
        self._data = np.frombuffer(data + bytes(64), dtype=np.uint8)
        self._place = np.array(begins, dtype=np.int64)
        self._ends = np.array(ends, dtype=np.int64)
        self._fits = True

    @property
    def is_complete(self) -> bool:
        """Return whether every node had the layout, and ended after the last field."""
        return self._fits and bool((self._place == self._ends).all())

    def optional(self, tag: int) -> IntArray:
        """Return the number after `tag`, 0 for nodes without the field."""
        present = (self._at(self._place) == tag) & (self._place < self._ends)
        self._place += present
        return self._number(present)

    def skip(self, lengths: IntArray) -> IntArray:
        """Skip some bytes, and return where they begin."""
        begins, left = self._place.copy(), np.maximum(self._ends - self._place, 0)
        self._fits &= bool(((lengths >= 0) & (lengths <= left)).all())  # a length of ten bytes may wrap around
        self._place = begins + np.clip(lengths, 0, left)
        return begins

    def attribute(self, present: _Bits, names: Sequence[tuple[_Bits, bytes]], kind: bytes) -> IntArray:
        """Return the value of an attribute, whose name depends on the node; 0 for nodes that are not `present`."""
        self._expect(present, bytes([_ATTRIBUTE]))
        lengths = self._number(present)
        begins = self._place.copy()
        for which, name in names:
            self._expect(which, bytes([0x0A, len(name)]) + name + kind)
        values = self._number(present)
        self._fits &= bool((self._place - begins == lengths).all())
        return values

    def varints(self, begins: IntArray, lengths: IntArray) -> list[tuple[int, ...]] | None:
        """Return the numbers in some bytes of each node; None if a number is not complete or too large."""
        if not self._fits:
            return None
        total, starts = int(lengths.sum()), np.cumsum(lengths) - lengths
        owners = np.repeat(np.arange(len(lengths)), lengths)
        data = self._data[np.arange(total) + (begins - starts)[owners]].astype(np.int64)
        last = data < 128
        if not last[(starts + lengths - 1)[lengths > 0]].all():
            return None
        firsts = np.flatnonzero(np.concatenate(([True], last[:-1]))) if total else np.zeros(0, dtype=np.int64)
        within = np.arange(total) - np.repeat(firsts, np.diff(np.append(firsts, total)))
        if within.max(initial=0) >= _LONGEST:
            return None
        values = np.add.reduceat((data & 127) << 7 * within, firsts).tolist() if total else []
        counts = np.cumsum(np.bincount(owners[last], minlength=len(lengths))).tolist()
        return [tuple(values[low:high]) for low, high in zip([0, *counts], counts, strict=False)]

    def _at(self, places: IntArray) -> Any:
        return self._data[np.minimum(places, len(self._data) - 1)]

    def _expect(self, present: _Bits, text: bytes) -> None:
        for byte in text:
            self._fits &= bool((self._at(self._place) == byte)[present].all())
            self._place = self._place + present

    def _number(self, present: _Bits) -> IntArray:
        values = np.zeros(len(present), dtype=np.int64)
        active = present.copy()
        for group in range(_LONGEST):
            byte = self._at(self._place).astype(np.int64)
            values += np.where(active, (byte & 127) << 7 * group, 0)
            self._place = self._place + active
            active &= byte >= 128
            if not active.any():
                break
        self._fits &= not active.any() and bool((self._place <= self._ends).all())
        return values
