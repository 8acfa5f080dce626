"""The messages of the schema 0.0.4 of Chakra that traces of collectives use, for the library `protobuf`.

Only the fields that are used are listed, with the numbers and types of `schema/protobuf/et_def.proto` in
mlcommons/chakra (mlc-chakra 1.0.0 on PyPI). Other fields are ignored when a trace is read.
"""

from functools import cache
from typing import Any

from forestcoll.base.errors import InputError

SCHEMA = "1.0.2-chakra.0.0.4"
"""The attributes of a trace."""

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
    """Return the class of the message called `name`.

    Raises:
        InputError: `protobuf` is not installed.
    """
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        raise InputError(
            "traces of Chakra need protobuf, which is not installed; pip install 'forestcoll[chakra]'"
        ) from None
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file(descriptor_pb2))
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


def _file(descriptors: Any) -> Any:
    file = descriptors.FileDescriptorProto(name="chakra.proto", package=_PACKAGE, syntax="proto3")
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
