"""Chakra's execution trace of a rank as a value: sends, receives and sums, and what each waits for."""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple


class Kind(IntEnum):
    """What a node does, by its number in the schema; others than these have no place in a collective."""

    COMPUTE = 4
    SEND = 5
    RECEIVE = 6


class Node(NamedTuple):
    """One node of a trace.

    Attributes:
        number: `id`, its own in the trace.
        name: what it is called.
        kind: what it does.
        after: `data_deps` and `ctrl_deps`: the nodes that must be over before.
        size: `comm_size`, in bytes.
        peer: `comm_dst` of a send, `comm_src` of a receive; -1 of a sum.
        tag: `comm_tag`: a receive gets what was sent to it with its tag.
    """

    number: int
    name: str
    kind: Kind
    after: tuple[int, ...] = ()
    size: int = 0
    peer: int = -1
    tag: int = 0


class Trace(NamedTuple):
    """The trace of one rank: its nodes, and what the file says of itself."""

    rank: int
    nodes: tuple[Node, ...]
    attributes: Mapping[str, str] = MappingProxyType({})
