"""Reads traces of Chakra with the library `protobuf`, and encodes nodes with it: what the tests compare files with.

Only the fields of the schema 0.0.4 that traces of collectives use are listed, with the numbers and types of
`schema/protobuf/et_def.proto` in mlcommons/chakra (mlc-chakra 1.0.0 on PyPI).
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from forestcoll.programs.formats.chakra import NodeType, Trace, TraceNode

_UINT64, _INT32, _INT64, _BOOL, _STRING, _UINT32, _MESSAGE = 4, 5, 3, 8, 9, 13, 11
_OPTIONAL, _REPEATED = 1, 3
_PACKAGE = "ChakraProtoMsg"

_FIELDS = {
    "AttributeProto": (
        ("name", 1, _STRING, _OPTIONAL),
        ("int32_val", 7, _INT32, _OPTIONAL),
        ("int64_val", 9, _INT64, _OPTIONAL),
        ("uint32_val", 11, _UINT32, _OPTIONAL),
        ("uint64_val", 13, _UINT64, _OPTIONAL),
        ("bool_val", 27, _BOOL, _OPTIONAL),
        ("string_val", 29, _STRING, _OPTIONAL),
    ),
    "GlobalMetadata": (("version", 1, _STRING, _OPTIONAL), ("attr", 2, _MESSAGE, _REPEATED)),
    "Node": (
        ("id", 1, _UINT64, _OPTIONAL),
        ("name", 2, _STRING, _OPTIONAL),
        ("type", 3, _UINT32, _OPTIONAL),
        ("ctrl_deps", 4, _UINT64, _REPEATED),
        ("data_deps", 5, _UINT64, _REPEATED),
        ("duration_micros", 7, _UINT64, _OPTIONAL),
        ("attr", 10, _MESSAGE, _REPEATED),
    ),
}
"""For each message, its fields: name, number, type, and whether it repeats. Enumerations are encoded as integers."""


@cache
def message(name: str) -> Any:
    """Return the class of the message called `name`."""
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


def _file() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="chakra.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _FIELDS.items():
        described = file.message_type.add(name=name)
        values = [field for field in fields if field[0].endswith("_val")]
        if values:
            described.oneof_decl.add(name="value")
        for field, number, kind, label in fields:
            added = described.field.add(name=field, number=number, type=kind, label=label)
            if kind == _MESSAGE:
                added.type_name = f".{_PACKAGE}.AttributeProto"
            if field.endswith("_val"):
                added.oneof_index = 0
    return file


def read_trace(data: bytes, rank: int = 0) -> Trace:
    """Return the trace of `rank` in the content of a file."""
    header, *nodes = _pieces(data)
    attributes = {each.name: each.string_val for each in message("GlobalMetadata").FromString(header).attr}
    return Trace(rank, tuple(_node(piece) for piece in nodes), attributes)


def attributes_of(node: Any) -> dict[str, Any]:
    """Return the attributes of an encoded node."""
    return {each.name: getattr(each, each.WhichOneof("value")) for each in node.attr}


def written_by_protobuf(trace: Trace) -> bytes:
    """Return the content of the file for `trace`."""
    header = message("GlobalMetadata")(version="0.0.4")
    for name, value in trace.attributes.items():
        header.attr.add(name=name, string_val=value)
    return b"".join(_delimited(each) for each in (header, *map(_encoded, trace.nodes)))


def nodes_of(data: bytes) -> list[Any]:
    """Return the nodes in the content of a file, as values of the library."""
    return [message("Node").FromString(piece) for piece in list(_pieces(data))[1:]]


def _pieces(data: bytes) -> Iterator[bytes]:
    place = 0
    while place < len(data):
        length = shift = 0
        while True:
            byte, place = data[place], place + 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        yield data[place : place + length]
        place += length


def _node(data: bytes) -> TraceNode:
    node = message("Node").FromString(data)
    kind, values = NodeType(node.type), attributes_of(node)
    if kind is NodeType.COMPUTE:
        return TraceNode(node.id, node.name, kind, tuple(node.data_deps))
    end = "comm_dst" if kind is NodeType.SEND else "comm_src"
    return TraceNode(
        node.id, node.name, kind, tuple(node.data_deps), *(values[x] for x in ("comm_size", end, "comm_tag"))
    )


def _encoded(node: TraceNode) -> Any:
    written = message("Node")(id=node.number, name=node.name, type=int(node.kind), data_deps=node.after)
    if node.kind is not NodeType.COMPUTE:
        written.attr.add(name="comm_size", int64_val=node.size)
        written.attr.add(name="comm_dst" if node.kind is NodeType.SEND else "comm_src", int32_val=node.peer)
        written.attr.add(name="comm_tag", int32_val=node.tag)
    return written


def _delimited(written: Any) -> bytes:
    data: bytes = written.SerializeToString(deterministic=True)
    length, groups = len(data), []
    while length > 127:
        groups.append(length & 127 | 128)
        length >>= 7
    return bytes([*groups, length]) + data
