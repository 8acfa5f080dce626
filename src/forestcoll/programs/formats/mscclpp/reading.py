"""Reads execution plans of MSCCL++ from untrusted files: with size limits, and with errors that name the place.

A file becomes an `ExecutionPlan` if everything that the executor reads is present and has the right type. Whether the
plan makes sense is checked by `rules.py`.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, cast

from forestcoll.base.errors import InputError, shown
from forestcoll.base.files import read_document
from forestcoll.programs.formats.mscclpp.document import (
    NO_LIMIT,
    Block,
    ChannelType,
    Chunks,
    ExecutionPlan,
    Gpu,
    Lists,
    Operation,
    OperationName,
    RemoteBuffer,
    Share,
    SwitchChannel,
)

MAX_BYTES = 512 * 2**20
"""The largest file that is read (512 MiB): about two million operations."""

_NAMES = {name.value: name for name in OperationName}
_TYPES = {kind.value: kind for kind in ChannelType}
_Value = TypeVar("_Value")


def read_plan(path: Path) -> ExecutionPlan:
    """Return the content of the execution plan at `path`.

    Raises:
        InputError: the file cannot be read, is not JSON, or lacks something that the executor reads; the message names
            the place.
    """
    return plan_from_document(read_document(path, limit=MAX_BYTES), where=str(path))


def parse_plan(text: str, *, where: str) -> ExecutionPlan:
    """Return the plan in a text that `emit` made, rank by rank: the JSON objects of all ranks would take gigabytes."""
    decoder = json.JSONDecoder()
    begin = end = text.index(_RANKS) + len(_RANKS)
    gpus: list[Gpu] = []
    while text[end := _SPACE.match(text, end).end()] != "]":  # type: ignore[union-attr]  # it may be empty
        document, end = decoder.raw_decode(text, end)
        gpus.append(_gpu(_Object(document, f"{where}: gpus[{len(gpus)}]")))
    rest = json.loads(text[:begin] + text[end:])
    return replace(plan_from_document(rest, where=where), gpus=tuple(gpus))


_RANKS = '"gpus": ['
_SPACE = re.compile(r"[\s,]*")


def plan_from_document(document: Mapping[str, object], *, where: str) -> ExecutionPlan:
    """Return the execution plan in a JSON object, as `read_plan` does; `where` begins every error message."""
    top = _Object(document, where)
    return ExecutionPlan(
        name=top.text("name"),
        collective=top.text("collective"),
        protocol=top.text("protocol"),
        in_place=top.flag("inplace"),
        gpus=tuple(_gpu(gpu) for gpu in top.objects("gpus")),
        reuse_resources=top.flag("reuse_resources", default=False),
        double_scratch=top.flag("use_double_scratch_buffer", default=False),
        threads=top.count("num_threads_per_block", default=1024),
        alignment=top.count("buffer_alignment", default=16),
        least_bytes=top.count("min_message_size", default=0),
        most_bytes=top.count("max_message_size", default=NO_LIMIT),
    )


class _Object:
    """A JSON object and its place in the file."""

    __slots__ = ("_place", "values")

    def __init__(self, values: Mapping[str, object], place: "str | tuple[_Object, str, int]") -> None:
        """Start with the place in words, or the object that contains it, the key of the list there, and the index."""
        self.values = values
        self._place = place

    @property
    def where(self) -> str:
        """Return the place in words; they are needed in error messages only."""
        if isinstance(self._place, str):
            return self._place
        parent, key, number = self._place
        return f"{parent.where}: {key}[{number}]"

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def _value(self, key: str) -> object:
        if key not in self.values:
            raise InputError(f'{self.where}: has no "{key}"; give it one')
        return self.values[key]

    def text(self, key: str) -> str:
        if not isinstance(value := self._value(key), str):
            raise InputError(f"{self.where}: {key} is {shown(value)}; expected a string")
        return value

    def flag(self, key: str, *, default: bool | None = None) -> bool:
        if default is not None and key not in self.values:
            return default
        if not isinstance(value := self._value(key), bool):
            raise InputError(f"{self.where}: {key} is {shown(value)}; expected true or false")
        return value

    def count(self, key: str, *, default: int | None = None) -> int:
        if default is not None and key not in self.values:
            return default
        value = self.values.get(key)
        if type(value) is int and 0 <= value < 2**64:
            return value
        return _count(self._value(key), f"{self.where}: {key}")

    def counts(self, key: str) -> tuple[int, ...]:
        return tuple(
            each if type(each) is int and 0 <= each < 2**64 else _count(each, f"{self.where}: {key}[{i}]")
            for i, each in enumerate(self._list(key))
        )

    def objects(self, key: str, *, optional: bool = False) -> "list[_Object]":
        if optional and key not in self.values:
            return []
        found = []
        for place, value in enumerate(self._list(key)):
            if not isinstance(value, dict):
                raise InputError(f"{self.where}: {key}[{place}] is {shown(value)}; expected an object")
            found.append(_Object(value, (self, key, place)))
        return found

    def part(self, key: str) -> "_Object":
        if not isinstance(value := self._value(key), Mapping):
            raise InputError(f"{self.where}: {key} is {shown(value)}; expected an object")
        return _Object(value, f"{self.where}: {key}")

    def choice(self, key: str, choices: Mapping[str, _Value]) -> _Value:
        if (value := self.text(key)) not in choices:
            raise InputError(f"{self.where}: {key} is {shown(value)}; expected one of {', '.join(choices)}")
        return choices[value]

    def texts(self, key: str, read: Callable[[str, str], _Value]) -> tuple[_Value, ...]:
        return tuple(read(cast("str", each), f"{self.where}: {key}[{i}]") for i, each in enumerate(self._list(key)))

    def _list(self, key: str) -> Sequence[object]:
        if not isinstance(value := self._value(key), list):
            raise InputError(f"{self.where}: {key} is {shown(value)}; expected a list")
        return value


def _count(value: object, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**64:
        raise InputError(f"{where} is {shown(value)}; expected an integer of 0 or more")
    return value


def _channel_type(value: str, where: str) -> ChannelType:
    if not isinstance(value, str) or value not in _TYPES:
        raise InputError(f"{where} is {shown(value)}; expected one of {', '.join(_TYPES)}")
    return _TYPES[value]


_BUFFERS = {name: name for name in ("i", "o", "s")}


def _gpu(gpu: _Object) -> Gpu:
    memory: list[int] = []
    port: list[int] = []
    switches: list[SwitchChannel] = []
    for channel in gpu.objects("channels"):
        kind = channel.choice("channel_type", _TYPES)
        if kind is ChannelType.SWITCH:
            switches += _switches(channel)
        else:
            (memory if kind is ChannelType.MEMORY else port).extend(channel.counts("connected_to"))
    return Gpu(
        rank=gpu.count("id"),
        input_chunks=gpu.count("input_chunks"),
        output_chunks=gpu.count("output_chunks"),
        scratch_chunks=gpu.count("scratch_chunks"),
        memory_peers=tuple(memory),
        port_peers=tuple(port),
        switches=tuple(switches),
        remote_buffers=tuple(_remote_buffer(each) for each in gpu.objects("remote_buffers", optional=True)),
        semaphores=tuple(each.count("init_value") for each in gpu.objects("semaphores", optional=True)),
        blocks=tuple(_block(each) for each in gpu.objects("threadblocks")),
    )


def _switches(channel: _Object) -> list[SwitchChannel]:
    key = "buffer_type" if "buffer_type" in channel else "buff"  # its name before 0.8
    buffer = channel.choice(key, _BUFFERS)
    return [SwitchChannel(buffer, group.counts("ranks")) for group in channel.objects("rank_groups")]


def _remote_buffer(each: _Object) -> RemoteBuffer:
    access = each.texts("access_channel_types", _channel_type)
    return RemoteBuffer(each.count("rank"), each.choice("type", _BUFFERS), access)


def _block(block: _Object) -> Block:
    return Block(
        number=block.count("id"),
        channels=_lists(block.objects("channels", optional=True), "channel_type", "channel_ids"),
        remote_buffers=_lists(
            block.objects("remote_buffer_refs", optional=True), "access_channel_type", "remote_buffer_ids"
        ),
        operations=tuple(_operation(each) for each in block.objects("ops")),
    )


def _lists(objects: Sequence[_Object], kind: str, numbers: str) -> Lists:
    found: dict[ChannelType, tuple[int, ...]] = {}
    for each in objects:
        found[each.choice(kind, _TYPES)] = found.get(each.choice(kind, _TYPES), ()) + each.counts(numbers)
    return Lists(*(found.get(each, ()) for each in (ChannelType.MEMORY, ChannelType.PORT, ChannelType.SWITCH)))


def _operation(operation: _Object, *, inner: bool = False) -> Operation:
    name = operation.choice("name", _NAMES)
    if name is OperationName.PIPELINE:
        if inner:
            raise InputError(f"{operation.where}: a pipeline inside a pipeline; the executor does not support this")
        context = operation.part("iter_context")
        return Operation(
            name,
            unit_bytes=context.count("unit_size"),
            pipeline_chunks=context.count("num_chunks"),
            operations=tuple(_operation(each, inner=True) for each in operation.objects("ops")),
        )
    share = operation.part("tbg_info") if "tbg_info" in operation else None
    return Operation(
        name,
        sources=tuple(_chunks(each) for each in operation.objects("src_buff", optional=True)),
        targets=tuple(_chunks(each) for each in operation.objects("dst_buff", optional=True)),
        channel_type=operation.choice("channel_type", _TYPES) if "channel_type" in operation else None,
        channels=operation.counts("channel_ids") if "channel_ids" in operation else (),
        share=None if share is None else Share(share.count("tb_id"), share.count("tbg_size")),
        barrier=operation.count("barrier_id", default=0),
        barrier_blocks=operation.count("num_threadblocks", default=0),
        semaphores=operation.counts("semaphore_ids") if "semaphore_ids" in operation else (),
    )


def _chunks(chunks: _Object) -> Chunks:
    index, size = chunks.count("index"), chunks.count("size")
    if "buffer_id" in chunks:
        return Chunks(index, size, remote=chunks.count("buffer_id"))
    if "switch_channel_id" in chunks:
        return Chunks(index, size, switch=chunks.count("switch_channel_id"))
    return Chunks(index, size, buffer=chunks.choice("type", _BUFFERS))
