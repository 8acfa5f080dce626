"""The rules of the parsers and kernels of the runtimes that load MSCCL XML, as checks.

There are two tables. `FORM` applies to all runtimes: a file that breaks one of its rules is refused, or it runs and
gives wrong data or hangs. `dialect_fault` says whether one runtime loads the file. A rule may rely on the rules before
it. The data of a program is not checked here, but by running the program (`forestcoll.programs.interpreter`).
"""

from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import TypeAlias

from forestcoll.base.errors import plural
from forestcoll.programs.formats.location import Location
from forestcoll.programs.formats.msccl_xml import dialects
from forestcoll.programs.formats.msccl_xml.dialects import TASKS, Dialect
from forestcoll.programs.formats.msccl_xml.document import NONE, Algorithm, Block, Gpu, Step, StepType
from forestcoll.programs.formats.rule import FormatRule, first_broken
from forestcoll.programs.model import ProgramFault, Task

Found: TypeAlias = tuple[Location, str]


def form_fault(algorithm: Algorithm) -> ProgramFault | None:
    """Return the first rule of `FORM` that `algorithm` breaks, at the first place; None if it breaks none."""
    return first_broken(FORM, algorithm)


def _sizes(algorithm: Algorithm) -> Iterator[Found]:
    if algorithm.gpu_count < 2:
        yield Location(), f"ngpus is {algorithm.gpu_count}; expected 2 or more"
    if algorithm.chunks_per_loop < 1:
        yield Location(), f"nchunksperloop is {algorithm.chunks_per_loop}; expected 1 or more"
    if algorithm.channels < 1:
        yield Location(), f"nchannels is {algorithm.channels}; expected 1 or more"


def _collective(algorithm: Algorithm) -> Iterator[Found]:
    if algorithm.collective not in TASKS:
        yield Location(), f"coll is {algorithm.collective!r}; expected one of {', '.join(sorted(TASKS))}"
    task = TASKS.get(algorithm.collective)
    if task is not None and task.has_shards and algorithm.chunks_per_loop % algorithm.gpu_count:
        chunks, ranks = algorithm.chunks_per_loop, algorithm.gpu_count
        yield (
            Location(),
            f"nchunksperloop is {chunks}; of {algorithm.collective} it must be a multiple of ngpus, {ranks}",
        )


def _protocol(algorithm: Algorithm) -> Iterator[Found]:
    protocol = algorithm.attributes["proto"]
    if protocol not in {"Simple", "LL", "LL128"}:
        yield Location(), f"proto is {protocol!r}; expected 'Simple', 'LL' or 'LL128'"


def _ranks(algorithm: Algorithm) -> Iterator[Found]:
    seen: set[int] = set()
    for gpu in algorithm.gpus:
        if not 0 <= gpu.rank < algorithm.gpu_count:
            yield Location(gpu.rank), f"ngpus is {algorithm.gpu_count}; ids go from 0 to {algorithm.gpu_count - 1}"
        if gpu.rank in seen:
            yield Location(gpu.rank), "occurs twice; each <gpu> needs its own id"
        seen.add(gpu.rank)
    for rank in range(algorithm.gpu_count):
        if rank not in seen:
            yield Location(), f"has no <gpu> with id {rank}; ngpus is {algorithm.gpu_count}"


def _buffers(algorithm: Algorithm) -> Iterator[Found]:
    task = TASKS[algorithm.collective]
    whole = algorithm.chunks_per_loop
    part = whole // algorithm.gpu_count
    inputs = part if task is Task.ALLGATHER else whole
    outputs = part if task is Task.REDUCE_SCATTER else whole
    for gpu in algorithm.gpus:
        for name, chunks, most in (("i_chunks", gpu.input_chunks, inputs), ("o_chunks", gpu.output_chunks, outputs)):
            if not 0 <= chunks <= most:
                yield Location(gpu.rank), f"{name} is {chunks}; the buffer holds {most} of {whole} chunks"
        if gpu.scratch_chunks < 0:
            yield Location(gpu.rank), f"s_chunks is {gpu.scratch_chunks}; expected 0 or more"


def _block_numbers(algorithm: Algorithm) -> Iterator[Found]:
    for gpu in algorithm.gpus:
        numbers = Counter(block.number for block in gpu.blocks)
        for block in gpu.blocks:
            if numbers[block.number] > 1:
                yield Location(gpu.rank, block.number), "occurs twice; each <tb> of a <gpu> needs its own id"
            if not 0 <= block.number < len(gpu.blocks):
                expected = f"0 to {len(gpu.blocks) - 1}, without a gap"
                yield Location(gpu.rank, block.number), f"ids of the {len(gpu.blocks)} <tb> must be {expected}"


def _peers(algorithm: Algorithm) -> Iterator[Found]:
    for gpu in algorithm.gpus:
        for block in gpu.blocks:
            for name, peer in (("send", block.send_peer), ("recv", block.receive_peer)):
                if peer == gpu.rank:
                    yield Location(gpu.rank, block.number), f"{name} is {peer}, the rank itself; expected another or -1"
                if not NONE <= peer < algorithm.gpu_count:
                    expected = f"0 to {algorithm.gpu_count - 1}, or -1 for none"
                    yield Location(gpu.rank, block.number), f"{name} is {peer}; expected {expected}"


def _channels(algorithm: Algorithm) -> Iterator[Found]:
    for gpu in algorithm.gpus:
        for block in gpu.blocks:
            if not 0 <= block.channel < algorithm.channels:
                expected = f"0 to {algorithm.channels - 1}, as nchannels is {algorithm.channels}"
                yield Location(gpu.rank, block.number), f"chan is {block.channel}; expected {expected}"


def _step_numbers(algorithm: Algorithm) -> Iterator[Found]:
    for gpu in algorithm.gpus:
        for block in gpu.blocks:
            for place, step in enumerate(block.steps):
                if step.number != place:
                    yield (
                        Location(gpu.rank, block.number, place),
                        f"s is {step.number}; it is step {place} of its block",
                    )


def _step_peers(algorithm: Algorithm) -> Iterator[Found]:
    for gpu, block in _blocks(algorithm):
        if NONE not in {block.send_peer, block.receive_peer}:
            continue
        for step in block.steps:
            place = Location(gpu.rank, block.number, step.number)
            if step.type.sends and block.send_peer == NONE:
                yield place, f"{step.type.value} sends, but the block's send is -1"
            if step.type.receives and block.receive_peer == NONE:
                yield place, f"{step.type.value} receives, but the block's recv is -1"


def _counts(algorithm: Algorithm) -> Iterator[Found]:
    for gpu, block, step in algorithm.steps():
        if step.type is not StepType.NOTHING and not 1 <= step.chunks <= dialects.MAX_COUNT:
            place = Location(gpu.rank, block.number, step.number)
            yield place, f"cnt is {step.chunks}; expected 1 to {dialects.MAX_COUNT}"


def _offsets(algorithm: Algorithm) -> Iterator[Found]:
    for gpu in algorithm.gpus:
        sizes = {buffer: gpu.chunks(buffer) for buffer in "ios"}
        for block in gpu.blocks:
            for step in block.steps:
                for side, buffer, offset in _used(step):
                    if (what := _outside(sizes[buffer], side, buffer, offset, step.chunks)) is not None:
                        yield Location(gpu.rank, block.number, step.number), what


def _used(step: Step) -> Iterator[tuple[str, str, int]]:
    """Yield what a step reads and writes: which end of it, the buffer, and the offset."""
    if step.type.reads_source:
        yield "src", step.source_buffer, step.source_offset
    if step.type.writes_target:
        yield "dst", step.target_buffer, step.target_offset


def _outside(size: int, side: str, buffer: str, offset: int, count: int) -> str | None:
    if offset < 0 or offset + count > size:
        chunks = f"chunks {offset} to {offset + count - 1}" if count > 1 else f"chunk {offset}"
        return f"{side}buf {buffer} has {size} chunks; {side}off and cnt name {chunks}"
    if offset > dialects.MAX_OFFSET:
        return f"{side}off is {offset}; the runtimes count to {dialects.MAX_OFFSET}"
    return None


def _dependencies(algorithm: Algorithm) -> Iterator[Found]:
    for gpu in algorithm.gpus:
        blocks = {block.number: block for block in gpu.blocks}
        for block in gpu.blocks:
            for step in block.steps:
                if step.awaited_block != NONE and (what := _awaited(blocks, step)) is not None:
                    yield Location(gpu.rank, block.number, step.number), what


def _awaited(blocks: dict[int, Block], step: Step) -> str | None:
    other = blocks.get(step.awaited_block)
    if other is None:
        return f"depid is {step.awaited_block}; the rank has blocks 0 to {len(blocks) - 1}"
    if step.awaited_block > dialects.MAX_DEPENDED_BLOCK:
        return f"depid is {step.awaited_block}; the runtimes count to {dialects.MAX_DEPENDED_BLOCK}"
    if not 0 <= step.awaited_step < len(other.steps):
        return f"deps is {step.awaited_step}; block {other.number} has steps 0 to {len(other.steps) - 1}"
    if not other.steps[step.awaited_step].awaited:
        return f'waits for step {step.awaited_step} of block {other.number}, which does not say hasdep="1"'
    if other.steps[step.awaited_step].type is StepType.NOTHING:
        return f"waits for step {step.awaited_step} of block {other.number}, a nop, which never reports that it is done"
    return None


def _nothing_steps(algorithm: Algorithm) -> Iterator[Found]:
    for gpu in algorithm.gpus:
        for block in gpu.blocks:
            for step, following in zip_longest(block.steps, block.steps[1:]):
                if step.type is StepType.NOTHING and (what := _idle(step, following)) is not None:
                    yield Location(gpu.rank, block.number, step.number), what


def _idle(step: Step, following: Step | None) -> str | None:
    if step.awaited_block == NONE:
        return "a nop without depid makes the runtimes count steps wrongly; remove it"
    if following is None:
        return "a nop is the last step; put its dependency on the step after it"
    if following.awaited_block == NONE:
        return f"a nop is followed by step {following.number} without depid; put the last dependency there"
    return None


def _reductions(algorithm: Algorithm) -> Iterator[Found]:
    for gpu in algorithm.gpus:
        for block in gpu.blocks:
            yield from _fused(gpu, block)


def _fused(gpu: Gpu, block: Block) -> Iterator[Found]:
    """Yield faults of `re` steps that the runtimes fuse: same buffers and target, no dependency between them."""
    first: Step | None = None
    length = 0
    for step in block.steps:
        if step.type is not StepType.REDUCE:
            first = None
            continue
        if first is not None and step.awaited_block == NONE and _same_target(first, step):
            length += 1
            if step.chunks != first.chunks:
                what = (
                    f"cnt is {step.chunks}, but {first.chunks} in step {first.number}, which the runtimes fuse it with"
                )
                yield Location(gpu.rank, block.number, step.number), what
            if length > dialects.MAX_FUSED:
                what = f"is one of more than {dialects.MAX_FUSED} re steps that the runtimes fuse; separate them"
                yield Location(gpu.rank, block.number, step.number), what
        else:
            first, length = step, 1
        if step.awaited:
            first = None


def _same_target(one: Step, other: Step) -> bool:
    return (one.target_buffer, one.target_offset, one.source_buffer) == (
        other.target_buffer,
        other.target_offset,
        other.source_buffer,
    )


def _shared_connections(algorithm: Algorithm) -> Iterator[Found]:
    for gpu in algorithm.gpus:
        users: dict[tuple[str, int, int], int] = {}
        for block in gpu.blocks:
            for way, peer in (("send to", block.send_peer), ("receive from", block.receive_peer)):
                if peer == NONE:
                    continue
                other = users.setdefault((way, peer, block.channel), block.number)
                if other != block.number:
                    what = f"blocks {other} and {block.number} both {way} rank {peer} on channel {block.channel}"
                    yield Location(gpu.rank, block.number), f"{what}; give one of them another chan"


def _unmatched_connections(algorithm: Algorithm) -> Iterator[Found]:
    sending = {(gpu.rank, block.send_peer, block.channel) for gpu, block in _blocks(algorithm)}
    receiving = {(block.receive_peer, gpu.rank, block.channel) for gpu, block in _blocks(algorithm)}
    for gpu, block in _blocks(algorithm):
        steps = block.steps
        if any(step.type.sends for step in steps) and (gpu.rank, block.send_peer, block.channel) not in receiving:
            what = f"sends to rank {block.send_peer} on channel {block.channel}, where no block of it receives"
            yield Location(gpu.rank, block.number), what
        if any(step.type.receives for step in steps) and (block.receive_peer, gpu.rank, block.channel) not in sending:
            what = f"receives from rank {block.receive_peer} on channel {block.channel}, where no block of it sends"
            yield Location(gpu.rank, block.number), what


def _blocks(algorithm: Algorithm) -> Iterator[tuple[Gpu, Block]]:
    for gpu in algorithm.gpus:
        for block in gpu.blocks:
            yield gpu, block


FORM: tuple[FormatRule[Algorithm], ...] = (
    FormatRule("algorithm-sizes", "There are two ranks or more, a chunk or more, a channel or more.", _sizes),
    FormatRule("collective-unknown", "`coll` is a collective, and `nchunksperloop` fits it.", _collective),
    FormatRule("protocol-unknown", "`proto` is Simple, LL or LL128.", _protocol),
    FormatRule("rank-numbers", "There is one `<gpu>` for each rank.", _ranks),
    FormatRule("buffer-size", "`i_chunks` and `o_chunks` do not exceed the buffers of the collective.", _buffers),
    FormatRule("block-numbers", "The blocks of a rank are numbered from 0, without a gap.", _block_numbers),
    FormatRule("block-peer", "A block's peers are other ranks, or -1.", _peers),
    FormatRule("block-channel", "A block's channel is one of `nchannels`.", _channels),
    FormatRule("step-number", "`s` counts the steps of a block from 0.", _step_numbers),
    FormatRule("step-peer", "A step that sends or receives has a peer.", _step_peers),
    FormatRule("step-count", f"A step moves 1 to {dialects.MAX_COUNT} chunks.", _counts),
    FormatRule("step-offset", "What a step reads and writes lies within its buffer.", _offsets),
    FormatRule("dependency", "A dependency names a step of the same rank, and that step has `hasdep`.", _dependencies),
    FormatRule("nop", "A nop has a dependency, and the step after it has one too.", _nothing_steps),
    FormatRule(
        "reduction-fused", "`re` steps that the runtimes fuse have the same `cnt`, and are at most 16.", _reductions
    ),
    FormatRule(
        "connection-shared", "One block of a rank sends to a peer on a channel, and one receives.", _shared_connections
    ),
    FormatRule(
        "connection-lonely", "Each connection has a block that sends and a block that receives.", _unmatched_connections
    ),
)
"""The rules of all runtimes, in the order in which they are checked."""


def remarks(algorithm: Algorithm) -> Iterator[str]:
    """Yield cases in which the runtimes do not do what `algorithm` says, and elements that they skip.

    In a broadcast or reduce with Simple, the proxies of the network move one step for a message
    (`BROADCAST_CHUNKSTEPS`, `REDUCE_CHUNKSTEPS`) and the kernel four (`MSCCL_CHUNKSTEPS`): `src/enqueue.cc` of
    microsoft/msccl, `src/misc/msccl/msccl_parser.cc` of Azure and RCCL.
    """
    for each in algorithm.skipped:
        yield f"{each} is no element that the runtimes know; they skip it"
    if algorithm.collective in {"broadcast", "reduce"} and algorithm.attributes["proto"] == "Simple":
        yield (
            f"all runtimes hang in a {algorithm.collective} with Simple if its data goes over the network: "
            "their proxies expect fewer steps than the kernels make; use LL, or MSCCL++"
        )


def dialect_fault(algorithm: Algorithm, dialect: Dialect) -> ProgramFault | None:
    """Return why the runtime of `dialect` would not load `algorithm`, which must keep `FORM`; None if it would."""
    for rule, finder in _DIALECT_RULES:
        for place, what in finder(algorithm, dialect):
            return place.fault(rule, what)
    return None


def _oddities(algorithm: Algorithm, _dialect: Dialect) -> Iterator[Found]:
    for oddity in algorithm.oddities:
        yield Location(), f"{oddity}, which the XML scanner of the runtime cannot read"
    for name, value in algorithm.attributes.items():
        if len(value) > dialects.MAX_VALUE_LENGTH:
            yield Location(), f"{name} has {len(value)} characters; the runtime takes {dialects.MAX_VALUE_LENGTH}"


def _attributes(algorithm: Algorithm, dialect: Dialect) -> Iterator[Found]:
    for name in dialect.required:
        if name not in algorithm.attributes:
            yield Location(), f'<algo> has no "{name}", without which the runtime ignores the file'
    low, high = (int(algorithm.attributes.get(name, "0")) for name in ("minBytes", "maxBytes"))
    if low < 0 or high < 0:
        yield Location(), f"minBytes is {low} and maxBytes is {high}; expected 0 or more"
    if "maxBytes" in algorithm.attributes and low > high and (high or dialect.one_place):
        yield Location(), f"minBytes is {low}, above maxBytes, {high}: no size is left"


def _spelling(algorithm: Algorithm, dialect: Dialect) -> Iterator[Found]:
    if algorithm.collective not in dialect.tasks:
        yield Location(), f"coll is {algorithm.collective!r}; the runtime accepts {', '.join(sorted(dialect.tasks))}"


def _limits(algorithm: Algorithm, dialect: Dialect) -> Iterator[Found]:
    if algorithm.channels > dialect.channels:
        yield Location(), f"nchannels is {algorithm.channels}; the runtime has {dialect.channels}"
    for gpu in algorithm.gpus:
        if len(gpu.blocks) > min(dialect.blocks, dialects.MAX_CHILDREN):
            yield Location(gpu.rank), f"has {len(gpu.blocks)} blocks; the runtime takes {dialect.blocks}"
        for block in gpu.blocks:
            if len(block.steps) > dialect.steps:
                what = f"has {plural(len(block.steps), 'step')}; the runtime takes {dialect.steps}"
                yield Location(gpu.rank, block.number, dialect.steps), what
        yield from _rank_limits(gpu, algorithm)


def _rank_limits(gpu: Gpu, algorithm: Algorithm) -> Iterator[Found]:
    nodes = 1 + algorithm.gpu_count + sum(1 + len(block.steps) for block in gpu.blocks)
    if nodes > dialects.MAX_NODES:
        what = f"is {nodes} XML elements with <algo> and all <gpu>; the runtime takes {dialects.MAX_NODES}"
        yield Location(gpu.rank), what
    for way, has_peer in (("send", _sends), ("receive", _receives)):
        for channel, count in Counter(block.channel for block in gpu.blocks if has_peer(block)).items():
            if count > dialects.MAX_BLOCKS_PER_CHANNEL:
                what = f"{count} blocks {way} on channel {channel}; the runtime takes {dialects.MAX_BLOCKS_PER_CHANNEL}"
                yield Location(gpu.rank), what


def _sends(block: Block) -> bool:
    return block.send_peer != NONE


def _receives(block: Block) -> bool:
    return block.receive_peer != NONE


def _chunks(algorithm: Algorithm, dialect: Dialect) -> Iterator[Found]:
    if not dialect.exact_chunks:
        return
    task, ranks, whole = dialect.tasks[algorithm.collective], algorithm.gpu_count, algorithm.chunks_per_loop
    inputs = ranks if task is Task.ALLGATHER else 1
    outputs = ranks if task is Task.REDUCE_SCATTER else 1
    for gpu in algorithm.gpus:
        for name, chunks, times in (("i_chunks", gpu.input_chunks, inputs), ("o_chunks", gpu.output_chunks, outputs)):
            if chunks and chunks * times != whole:
                yield Location(gpu.rank), f"{name} is {chunks}; the runtime takes 0 or {whole // times}"


_DIALECT_RULES = (
    ("spelling", _oddities),
    ("attribute-missing", _attributes),
    ("collective-unknown", _spelling),
    ("limit", _limits),
    ("chunks-inexact", _chunks),
)
