"""Writes execution plans of MSCCL++: the same value gives the same bytes; one line for each operation."""

import json
from collections.abc import Iterator
from hashlib import sha256

from forestcoll.programs.formats.mscclpp.document import (
    Block,
    ChannelType,
    Chunks,
    ExecutionPlan,
    Gpu,
    Lists,
    Operation,
    OperationName,
    RemoteBuffer,
    SwitchChannel,
)
from forestcoll.programs.formats.mscclpp.operations import REQUIREMENTS


def text_of(plan: ExecutionPlan) -> str:
    """Return the text of the file for a new plan; digits made of all the rest follow its name.

    Plans that differ have different names then. The executor needs that: it finds what it has set up for a plan by the
    name and the memory of the call (`ExecutionContextKey` in `src/core/executor/executor.cc`), so for a second plan of
    the same name it would run the first.
    """
    opening, _, *rest = emit(plan)
    body = "".join(rest)
    digits = sha256(body.encode()).hexdigest()[:8]
    return opening + _entry("name", f"{plan.name} {digits}") + body


def emit(plan: ExecutionPlan) -> Iterator[str]:
    """Yield the text of the file for `plan`, in pieces."""
    head = {
        "name": plan.name,
        "collective": plan.collective,
        "protocol": plan.protocol,
        "inplace": plan.in_place,
        "reuse_resources": plan.reuse_resources,
        "use_double_scratch_buffer": plan.double_scratch,
        "num_threads_per_block": plan.threads,
        "buffer_alignment": plan.alignment,
        "min_message_size": plan.least_bytes,
        "max_message_size": plan.most_bytes,
    }
    yield "{\n"
    for key, value in head.items():
        yield _entry(key, value)
    yield ' "gpus": [\n'
    for place, gpu in enumerate(plan.gpus):
        yield from _gpu(gpu)
        yield ",\n" if place + 1 < len(plan.gpus) else "\n"
    yield " ]\n}\n"


def _entry(key: str, value: object) -> str:
    return f" {json.dumps(key)}: {json.dumps(value)},\n"


def _gpu(gpu: Gpu) -> Iterator[str]:
    head = {
        "id": gpu.rank,
        "input_chunks": gpu.input_chunks,
        "output_chunks": gpu.output_chunks,
        "scratch_chunks": gpu.scratch_chunks,
        "channels": _channels(gpu),
        "remote_buffers": [_remote_buffer(each) for each in gpu.remote_buffers],
        "semaphores": [{"init_value": value} for value in gpu.semaphores],
    }
    yield "  {\n"
    for key, value in head.items():
        yield f"   {json.dumps(key)}: {json.dumps(value)},\n"
    yield '   "threadblocks": [\n'
    yield ",\n".join(map(_block, gpu.blocks))
    yield "\n   ]\n  }"


def _channels(gpu: Gpu) -> list[dict[str, object]]:
    channels: list[dict[str, object]] = []
    for kind, peers in ((ChannelType.MEMORY, gpu.memory_peers), (ChannelType.PORT, gpu.port_peers)):
        if peers:
            channels.append({"channel_type": kind.value, "connected_to": list(peers)})
    return channels + [_switch(each) for each in gpu.switches]


def _switch(switch: SwitchChannel) -> dict[str, object]:
    group = {"size": len(switch.ranks), "ranks": list(switch.ranks)}
    return {"channel_type": ChannelType.SWITCH.value, "buffer_type": switch.buffer, "rank_groups": [group]}


def _remote_buffer(each: RemoteBuffer) -> dict[str, object]:
    return {"rank": each.rank, "type": each.buffer, "access_channel_types": [kind.value for kind in each.access]}


def _block(block: Block) -> str:
    channels = _lists(block.channels, "channel_type", "channel_ids")
    buffers = _lists(block.remote_buffers, "access_channel_type", "remote_buffer_ids")
    operations = ",\n".join(f"      {json.dumps(_operation(each))}" for each in block.operations)
    head = f'"id": {block.number},\n     "channels": {json.dumps(channels)}'
    head += f',\n     "remote_buffer_refs": {json.dumps(buffers)}'
    return f'    {{{head},\n     "ops": [\n{operations}\n     ]}}'


def _lists(lists: Lists, kind: str, numbers: str) -> list[dict[str, object]]:
    kinds = (ChannelType.MEMORY, ChannelType.PORT, ChannelType.SWITCH)
    return [{kind: each.value, numbers: list(lists.of(each))} for each in kinds if lists.of(each)]


def _operation(operation: Operation) -> dict[str, object]:
    document: dict[str, object] = {"name": operation.name.value}
    if operation.name is OperationName.PIPELINE:
        document["iter_context"] = {"unit_size": operation.unit_bytes, "num_chunks": operation.pipeline_chunks}
        return document | {"ops": [_operation(each) for each in operation.operations]}
    if operation.name is OperationName.BARRIER:
        return document | {"barrier_id": operation.barrier, "num_threadblocks": operation.barrier_blocks}
    for key, listed in (("src_buff", operation.sources), ("dst_buff", operation.targets)):
        if listed:
            document[key] = [_chunks(each) for each in listed]
    if operation.semaphores:
        document["semaphore_ids"] = list(operation.semaphores)
    if operation.channels:
        document["channel_ids"] = list(operation.channels)
    if operation.channel_type is not None:
        document["channel_type"] = operation.channel_type.value
    if REQUIREMENTS[operation.name].reduces:
        document["reduce_op"] = "sum"
    if operation.share is not None:
        document["tbg_info"] = {"tb_id": operation.share.part, "tbg_size": operation.share.parts}
    return document


def _chunks(chunks: Chunks) -> dict[str, object]:
    place = {"index": chunks.first, "size": chunks.size}
    if chunks.buffer is not None:
        return {"type": chunks.buffer, **place}
    if chunks.remote is not None:
        return {"buffer_id": chunks.remote, **place}
    return {"switch_channel_id": chunks.switch, **place}
