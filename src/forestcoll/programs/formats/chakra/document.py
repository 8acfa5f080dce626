"""The execution trace of a rank as a value: sends, receives and sums, and what each waits for."""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple


class NodeType(IntEnum):
    """What a node does; the value is its number in the schema. Other kinds do not occur in collectives."""

    COMPUTE = 4
    SEND = 5
    RECEIVE = 6


class TraceNode(NamedTuple):
    """One node of a trace.

    Attributes:
        number: `id`, unique in the trace.
        name: the name of the node.
        kind: what it does.
        after: `data_deps` and `ctrl_deps`: the nodes that must be done before.
        size: `comm_size`, in bytes.
        peer: `comm_dst` of a send, `comm_src` of a receive; -1 for a sum.
        tag: `comm_tag`: a receive gets the message that was sent to it with the same tag.
    """

    number: int
    name: str
    kind: NodeType
    after: tuple[int, ...] = ()
    size: int = 0
    peer: int = -1
    tag: int = 0


class Trace(NamedTuple):
    """The trace of one rank: its nodes, and the attributes of the file."""

    rank: int
    nodes: tuple[TraceNode, ...]
    attributes: Mapping[str, str] = MappingProxyType({})
