"""The rules of the loader and the kernel of MSCCL++ for execution plans, as checks.

From the source code of microsoft/mscclpp 0.9: `src/core/executor/execution_plan.cc`, `executor.cc`, `src/core/include/`
`execution_common.hpp`, `execution_kernel.hpp`. MSCCL++ does not check most of these rules: it writes past the ends of
arrays or buffers. A rule may rely on the rules before it. The data of a plan is not checked here, but by running it.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from forestcoll.programs.formats.location import Location
from forestcoll.programs.formats.mscclpp.document import (
    Block,
    ChannelType,
    Chunks,
    ExecutionPlan,
    Gpu,
    Operation,
    OperationName,
    numbered,
)
from forestcoll.programs.formats.mscclpp.operations import REQUIREMENTS, fits
from forestcoll.programs.formats.rule import FormatRule, first_broken
from forestcoll.programs.model import ProgramFault, Task
from forestcoll.programs.model.limits import Limits

MAX_OPERATIONS = 64
"""The most operations of a block; a pipeline counts as one, plus the operations in it."""

MAX_CHANNELS = 16
"""The most channels of one type that a block uses, and the most remote buffers that it uses over one type."""

MAX_CHANNELS_OF_OPERATION = 8
"""The most channels that an operation uses."""

MAX_CHUNKS_OF_OPERATION = 10
"""The most sources, and the most targets, of an operation: one for each channel, and two of the rank itself."""

MAX_BARRIERS = 16
"""The number of barriers of a rank."""

MAX_SEMAPHORES = 16
"""The most semaphores that an operation uses; a rank has any number."""

MAX_THREADS = 1024
"""The most threads of a block."""

SIXTEEN_BYTES = 16
"""The size in bytes that reductions and packets move at once; offsets are rounded down to a multiple."""

MAX_BLOCKS = 104
"""The most blocks that are used: all must be on the GPU at once, one for each processor, and an MI250 has 104."""

TASKS = {
    "allgather": Task.ALLGATHER,
    "allreduce": Task.ALLREDUCE,
    "reducescatter": Task.REDUCE_SCATTER,
    "broadcast": Task.BROADCAST,
    "reduce": Task.REDUCE,
    "alltoall": Task.ALL_TO_ALL,
    "sendrecv": Task.SEND_RECEIVE,
}
"""The names of collectives in MSCCL++; other names are allowed, but have no defined result."""

_NEW = (OperationName.GROUP_STORE, OperationName.GROUP_STORE_PACKETS)
_NEW_IN_0_9 = (OperationName.REDUCE_COPY_PACKETS, OperationName.REDUCE_COPY_SEND_PACKETS)

RELEASES = {"mscclpp 0.8": (*_NEW_IN_0_9, *_NEW), "mscclpp 0.9": _NEW, "mscclpp 0.10": ()}
"""For each release that loads plans of this format, the operations that its loader does not have.

From `getOpType` in `execution_plan.cc` of the tags v0.8.0, v0.9.0 and v0.10.0. Version 0.7 has another format."""

Found: TypeAlias = Iterator[tuple[Location, str]]


def plan_fault(plan: ExecutionPlan) -> ProgramFault | None:
    """Return the first rule of `RULES` that `plan` breaks, at the first place; None if it breaks none."""
    return first_broken(RULES, plan)


def refusals(plan: ExecutionPlan) -> dict[str, str | None]:
    """Return, for each release, why it does not load a plan that breaks no rule, or None if it loads it."""
    used = {operation.name for *_, operation in plan.operations()}
    return {
        release: next((f"the release has no operation {name.value}" for name in missing if name in used), None)
        for release, missing in RELEASES.items()
    }


def limits() -> Limits:
    """Return the limits of a program that is to be written as a plan."""
    return Limits(name="MSCCL++", blocks=MAX_BLOCKS, steps=MAX_OPERATIONS, channels_of_block=MAX_CHANNELS)


def remarks(plan: ExecutionPlan) -> Iterator[str]:
    """Yield cases in which the executor does not do what `plan` says, although the data may be right."""
    if any(0 in (gpu.input_chunks, gpu.output_chunks) for gpu in plan.gpus):
        yield "input_chunks or output_chunks is 0: the loader divides by it, and the process ends"
    if any(operation.name is OperationName.FLUSH and not operation.targets for *_, operation in plan.operations()):
        yield "flush without dst_buff does nothing, because the kernel counts channels by it; give it dst_buff"
    if any(operation.name is OperationName.PUT_SIGNAL_FLUSH for *_, operation in plan.operations()):
        yield "pwsf does not flush before 0.10, whose kernel corrects it; use pws, and flush with dst_buff"


def _top(plan: ExecutionPlan) -> Found:
    if plan.protocol not in {"Simple", "LL"}:
        yield Location(), f"protocol is {plan.protocol!r}; expected 'Simple' or 'LL'"
    if not 32 <= plan.threads <= MAX_THREADS or plan.threads % 32:
        yield Location(), f"num_threads_per_block is {plan.threads}; expected a multiple of 32, to {MAX_THREADS}"
    if plan.alignment < 1:
        yield Location(), "buffer_alignment is 0; expected 1 or more"
    if plan.least_bytes > plan.most_bytes:
        yield Location(), f"min_message_size is {plan.least_bytes}, above max_message_size, {plan.most_bytes}"


def _ranks(plan: ExecutionPlan) -> Found:
    if not plan.gpus:
        yield Location(), "has no gpus; expected one for each rank"
    for place, gpu in enumerate(plan.gpus):
        if gpu.rank != place:
            yield Location(gpu.rank), f"is at index {place} of gpus; the executor takes number {place} for rank {place}"


def _sizes(plan: ExecutionPlan) -> Found:
    ranks = len(plan.gpus)
    task = TASKS.get(plan.collective)
    for gpu in plan.gpus:
        pair = gpu.input_chunks, gpu.output_chunks
        if pair == (0, 0):
            yield Location(gpu.rank), "input_chunks and output_chunks are both 0; the size of a chunk is unknown"
        if task is not None and not plan.in_place and 0 in pair:
            yield Location(gpu.rank), f"input_chunks is {pair[0]} and output_chunks is {pair[1]}; expected 1 or more"
        fit = (
            {
                Task.ALLGATHER: (ranks * gpu.input_chunks, gpu.output_chunks),
                Task.REDUCE_SCATTER: (gpu.input_chunks, ranks * gpu.output_chunks),
            }.get(task, pair)
            if task is not None
            else (0, 0)
        )
        if 0 not in pair and fit[0] != fit[1]:
            yield (
                Location(gpu.rank),
                f"has {pair[0]} input and {pair[1]} output chunks, of different sizes in {plan.collective}",
            )
    sizes = {(gpu.input_chunks, gpu.output_chunks) for gpu in plan.gpus}
    if task is not None and len(sizes) > 1:
        yield (
            Location(),
            f"input_chunks and output_chunks differ from rank to rank; in {plan.collective} they are all the same",
        )


def _channels(plan: ExecutionPlan) -> Found:
    for gpu in plan.gpus:
        for peer in (*gpu.memory_peers, *gpu.port_peers):
            if peer == gpu.rank or peer >= len(plan.gpus):
                yield (
                    Location(gpu.rank),
                    f"connected_to holds {peer}; expected another of ranks 0 to {len(plan.gpus) - 1}",
                )
        for switch in gpu.switches:
            if gpu.rank not in switch.ranks or max(switch.ranks) >= len(plan.gpus) or len(set(switch.ranks)) < 2:
                ranks = list(switch.ranks)
                yield Location(gpu.rank), f"a rank group is {ranks}; expected the rank itself and others, each once"
        for buffer in gpu.remote_buffers:
            if buffer.rank == gpu.rank or buffer.rank >= len(plan.gpus):
                yield Location(gpu.rank), f"remote_buffers names rank {buffer.rank}; expected another that is there"


def _groups(plan: ExecutionPlan) -> Found:
    """Connect rank groups as the loader does: each rank in its order, each group when all its ranks are there."""
    left = [[(each.buffer, frozenset(each.ranks)) for each in reversed(gpu.switches)] for gpu in plan.gpus]
    while waiting := [listed[-1] for listed in left if listed]:
        met = next((each for each in waiting if all(left[rank][-1:] == [each] for rank in each[1])), None)
        if met is None:
            buffer, ranks = waiting[0]
            what = f"hangs while it connects the rank group {sorted(ranks)} of buffer {buffer}"
            yield Location(min(ranks)), f"{what}; all ranks of a group must list it, and their groups in one order"
            return
        for rank in met[1]:
            left[rank].pop()


def _blocks(plan: ExecutionPlan) -> Found:
    for gpu in plan.gpus:
        for place, block in enumerate(gpu.blocks):
            location = Location(gpu.rank, block.number)
            if block.number != place:
                yield location, f"is at index {place}; the executor takes number {place} for block {place}"
            count = sum(1 for _ in numbered(block))
            if count > MAX_OPERATIONS:
                what = f"has {count} operations; the executor takes {MAX_OPERATIONS}"
                yield Location(gpu.rank, block.number, MAX_OPERATIONS), what
            for what in _references(gpu, block):
                yield location, what


def _references(gpu: Gpu, block: Block) -> Iterator[str]:
    there = {ChannelType.MEMORY: gpu.memory_peers, ChannelType.PORT: gpu.port_peers, ChannelType.SWITCH: gpu.switches}
    for kind, known in there.items():
        used = block.channels.of(kind)
        if len(used) > MAX_CHANNELS:
            yield f"uses {len(used)} {kind.value} channels; the executor takes {MAX_CHANNELS}"
        for number in used:
            if number >= len(known):
                yield f"uses {kind.value} channel {number}; the rank has {len(known)}"
    for kind in (ChannelType.MEMORY, ChannelType.PORT):
        used = block.remote_buffers.of(kind)
        if len(used) > MAX_CHANNELS:
            yield f"uses {len(used)} remote buffers by {kind.value} channels; the executor takes {MAX_CHANNELS}"
        for number in used:
            if number >= len(gpu.remote_buffers):
                yield f"uses remote buffer {number}; the rank has {len(gpu.remote_buffers)}"
            elif kind not in gpu.remote_buffers[number].access:
                yield f"uses remote buffer {number} by a {kind.value} channel, which its access_channel_types leave out"


def _each_operation(
    find: "Callable[[ExecutionPlan, Gpu, Block, Operation], Iterator[str]]",
) -> Callable[[ExecutionPlan], Found]:
    """Return a function that checks all operations of a plan with `find`."""

    def found(plan: ExecutionPlan) -> Found:
        for gpu, block, number, operation in plan.operations():
            for what in find(plan, gpu, block, operation):
                yield Location(gpu.rank, block.number, number), what

    return found


def _shape(_plan: ExecutionPlan, _gpu: Gpu, _block: Block, operation: Operation) -> Iterator[str]:
    shape, name = REQUIREMENTS[operation.name], operation.name.value
    if not fits(shape.sources, operation.sources):
        yield f"{name} cannot have these src_buff; it needs {_wanted(shape.sources)}"
    if not fits(shape.targets, operation.targets):
        yield f"{name} cannot have these dst_buff; it needs {_wanted(shape.targets)}"
    if shape.channel_types and operation.channel_type not in shape.channel_types:
        wanted = " or ".join(kind.value for kind in shape.channel_types)
        has = "no channel_type" if operation.channel_type is None else f"channel_type {operation.channel_type.value}"
        yield f"{name} has {has}; it needs {wanted}"
    if shape.paired and len(operation.sources) != len(operation.targets):
        yield f"{name} has {len(operation.sources)} src_buff and {len(operation.targets)} dst_buff; they go in pairs"
    if max(len(operation.sources), len(operation.targets)) > MAX_CHUNKS_OF_OPERATION:
        yield f"{name} has more than {MAX_CHUNKS_OF_OPERATION} src_buff or dst_buff, which is what the executor takes"


_WORDS = {"L": "one with type", "R": "one with buffer_id", "S": "one with switch_channel_id"}


def _wanted(pattern: str) -> str:
    words = pattern.replace("+", " or more").replace("*", " or more, or none")
    for letter, word in _WORDS.items():
        words = words.replace(letter, f", {word}")
    return words.removeprefix(", ") or "none"


def _operation_channels(_plan: ExecutionPlan, _gpu: Gpu, block: Block, operation: Operation) -> Iterator[str]:
    shape, name = REQUIREMENTS[operation.name], operation.name.value
    kind = operation.channel_type
    by_port = kind is ChannelType.PORT and bool(operation.targets)
    if shape.names_channels and not operation.channels:
        yield f"{name} has no channel_ids; it needs one or more"
    if by_port and len(operation.channels) != len(operation.targets):
        yield f"{name} has {len(operation.channels)} channel_ids; by port channels it needs one for each dst_buff"
    if len(operation.channels) > MAX_CHANNELS_OF_OPERATION:
        yield f"{name} has {len(operation.channels)} channel_ids; the executor takes {MAX_CHANNELS_OF_OPERATION}"
    if kind is None or not (shape.names_channels or by_port):
        return
    for number in operation.channels:
        if number >= len(block.channels.of(kind)):
            yield f"{name} uses {kind.value} channel {number} of the block, which lists {len(block.channels.of(kind))}"


def _ranges(plan: ExecutionPlan, gpu: Gpu, block: Block, operation: Operation) -> Iterator[str]:
    for side, listed in (("src_buff", operation.sources), ("dst_buff", operation.targets)):
        for chunks in listed:
            where = whereabouts(gpu, block, operation, chunks)
            if where is None:
                number = chunks.remote if chunks.switch is None else chunks.switch
                yield f"{side} names buffer {number}, which the block does not list"
                continue
            rank, buffer = where
            size = _real_size(plan, plan.gpus[rank], buffer)
            if chunks.size < 1 or chunks.first + chunks.size > size:
                last = chunks.first + chunks.size - 1
                owner = "" if rank == gpu.rank else f" of rank {rank}"
                yield f"{side} is chunks {chunks.first} to {last} of buffer {buffer}{owner}, which has {size}"


def _real_size(plan: ExecutionPlan, gpu: Gpu, buffer: str) -> int:
    """Return the number of chunks of a buffer; in place, 0 means as many as the other buffer has."""
    size = gpu.chunks(buffer)
    return max(gpu.input_chunks, gpu.output_chunks) if not size and plan.in_place and buffer != "s" else size


def whereabouts(gpu: Gpu, block: Block, operation: Operation, chunks: Chunks) -> tuple[int, str] | None:
    """Return the rank and the buffer that contain `chunks` of an operation; for a switch, the rank itself.

    Returns None if the block or the rank does not list them.
    """
    if chunks.buffer is not None:
        return gpu.rank, chunks.buffer
    if chunks.switch is not None:
        listed = block.channels.switch
        return (gpu.rank, gpu.switches[listed[chunks.switch]].buffer) if chunks.switch < len(listed) else None
    buffers = block.remote_buffers.of(operation.channel_type) if operation.channel_type else ()
    if chunks.remote is None or chunks.remote >= len(buffers):
        return None
    remote = gpu.remote_buffers[buffers[chunks.remote]]
    return remote.rank, remote.buffer


def _counts(_plan: ExecutionPlan, _gpu: Gpu, _block: Block, operation: Operation) -> Iterator[str]:
    name = operation.name.value
    sizes = {chunks.size for chunks in operation.sources + operation.targets}
    if REQUIREMENTS[operation.name].paired:
        for source, target in zip(operation.sources, operation.targets, strict=True):
            if source.size != target.size:
                yield f"{name} moves {source.size} chunks to {target.size}"
    elif len(sizes) > 1:
        yield f"{name} has chunks of sizes {sorted(sizes)}; they must be the same"
    share = operation.share
    if share is not None and not 0 <= share.part < share.parts:
        yield f"tbg_info is part {share.part} of {share.parts}"


def _handlers(_plan: ExecutionPlan, gpu: Gpu, block: Block, operation: Operation) -> Iterator[str]:
    name = operation.name
    if name is OperationName.GET:
        for source, target in zip(operation.sources, operation.targets, strict=True):
            if source.first != target.first:
                what = f"get moves chunk {source.first} to {target.first}"
                yield f"{what}; the kernel of 0.9 swaps their offsets, so they must be the same"
    one_source = name in {OperationName.PUT, OperationName.PUT_PACKETS} and operation.channel_type is ChannelType.MEMORY
    if one_source and len({chunks.buffer for chunks in operation.sources}) > 1:
        yield f"{name.value} has sources in different buffers; the kernel takes the first one's for all"
    if REQUIREMENTS[name].has_packets:
        yield from _packets(gpu, block, operation)


def _packets(gpu: Gpu, block: Block, operation: Operation) -> Iterator[str]:
    shape = REQUIREMENTS[operation.name]
    for side, listed, first in (
        ("src_buff", operation.sources, shape.packet_sources),
        ("dst_buff", operation.targets, shape.packet_targets),
    ):
        for chunks in listed[first:] if first is not None else ():
            where = whereabouts(gpu, block, operation, chunks)
            if where is not None and where[1] != "s":
                what = f"{operation.name.value} has packets in buffer {where[1]} ({side})"
                yield f"{what}; they must lie in s, the scratch buffer"


def _packet_plan(plan: ExecutionPlan) -> Found:
    for gpu in plan.gpus:
        plain: dict[int, tuple[Location, str]] = {}
        packed = False
        for block in gpu.blocks:
            for number, operation in numbered(block):
                location = Location(gpu.rank, block.number, number)
                packets = REQUIREMENTS[operation.name].has_packets
                packed = packed or packets
                if packets and plan.protocol != "LL":
                    yield (
                        location,
                        f"{operation.name.value} moves packets; then the protocol must be LL",
                    )
                if not packets and any(each.buffer == "s" for each in operation.sources + operation.targets):
                    plain.setdefault(0, (location, f"{operation.name.value} uses s without packets"))
        if packed and plain:
            location, what = plain[0]
            yield location, f"{what}, where other operations of the rank have packets, which lie otherwise"
        size, first = gpu.scratch_chunks, plan.gpus[0].scratch_chunks
        if plan.double_scratch and not plan.reuse_resources and size != first:
            what = f"scratch_chunks is {size}, that of rank 0 is {first}; with use_double_scratch_buffer they must be"
            yield Location(gpu.rank), f"{what} equal, because a rank adds half of its own size to places on others"


def _sync(plan: ExecutionPlan, gpu: Gpu, _block: Block, operation: Operation) -> Iterator[str]:
    if operation.name is OperationName.BARRIER:
        if operation.barrier >= MAX_BARRIERS:
            yield f"barrier_id is {operation.barrier}; the executor has {MAX_BARRIERS}"
        if operation.barrier_blocks < 1:
            yield f"num_threadblocks is {operation.barrier_blocks}; expected 1 or more"
    if operation.name in {OperationName.ACQUIRE, OperationName.RELEASE}:
        if not operation.semaphores:
            yield f"{operation.name.value} has no semaphore_ids; it needs one or more"
        if len(operation.semaphores) > MAX_SEMAPHORES:
            yield f"uses {len(operation.semaphores)} semaphores; the executor takes {MAX_SEMAPHORES}"
        for number in operation.semaphores:
            if number >= len(gpu.semaphores):
                yield f"uses semaphore {number}; the rank has {len(gpu.semaphores)}"
    if REQUIREMENTS[operation.name].reduces and plan.alignment % SIXTEEN_BYTES:
        yield f"{operation.name.value} with buffer_alignment {plan.alignment}; it must be a multiple of {SIXTEEN_BYTES}"


def _pipelines(plan: ExecutionPlan, _gpu: Gpu, _block: Block, operation: Operation) -> Iterator[str]:
    if operation.name is not OperationName.PIPELINE:
        return
    if operation.unit_bytes < 1 or operation.unit_bytes % plan.alignment:
        yield f"unit_size is {operation.unit_bytes}; expected a multiple of buffer_alignment, {plan.alignment}"
    if operation.pipeline_chunks < 1:
        yield "num_chunks is 0; expected 1 or more"
    for each in operation.operations:
        for chunks in each.sources + each.targets:
            if chunks.size != operation.pipeline_chunks:
                what = f"{each.name.value} in it moves {chunks.size} chunks, num_chunks is {operation.pipeline_chunks}"
                yield f"{what}; the kernel would leave some out or go past their end"
                return
        if REQUIREMENTS[each.name].has_packets:
            yield f"{each.name.value} is in a pipeline; an operation on packets moves all chunks in every round"


RULES: tuple[FormatRule[ExecutionPlan], ...] = (
    FormatRule("plan-top", "Protocol, threads, alignment and message sizes are what the executor takes.", _top),
    FormatRule("rank-numbers", "`gpus` are ranks 0, 1, ... in this order.", _ranks),
    FormatRule("buffer-size", "All chunks of inputs and outputs have the size that the collective requires.", _sizes),
    FormatRule("rank-channels", "Channels, rank groups and remote buffers name other ranks that exist.", _channels),
    FormatRule("rank-groups", "All ranks of a group list it, and their groups in the same order.", _groups),
    FormatRule(
        "block-form",
        f"Blocks are in order, have at most {MAX_OPERATIONS} operations, and use only what the rank has.",
        _blocks,
    ),
    FormatRule(
        "operation-shape",
        "An operation has the sources, targets and type of channel that its name requires.",
        _each_operation(_shape),
    ),
    FormatRule(
        "operation-channels",
        "An operation uses only channels that its block lists.",
        _each_operation(_operation_channels),
    ),
    FormatRule(
        "operation-range", "What an operation reads and writes lies within its buffer.", _each_operation(_ranges)
    ),
    FormatRule("operation-counts", "All spans of an operation have the same size.", _each_operation(_counts)),
    FormatRule("operation-handler", "The kernel does the operation as the plan states it.", _each_operation(_handlers)),
    FormatRule(
        "packets",
        "Packets need the protocol LL and a separate scratch buffer; if it is double, of equal size on all ranks.",
        _packet_plan,
    ),
    FormatRule("operation-sync", "Barriers and semaphores exist.", _each_operation(_sync)),
    FormatRule(
        "pipeline",
        "Everything that a pipeline moves has the size by which its rounds are counted.",
        _each_operation(_pipelines),
    ),
)
"""The rules, in the order in which they are checked."""
