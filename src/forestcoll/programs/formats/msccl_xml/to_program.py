"""Converts an MSCCL algorithm into a program that can be run."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from forestcoll.programs.formats.letters import BUFFERS
from forestcoll.programs.formats.msccl_xml import document
from forestcoll.programs.formats.msccl_xml.dialects import (
    CONNECTIONS,
    DEFAULT_MAX_BYTES,
    MAX_COUNT,
    TASKS,
    joined_bytes,
)
from forestcoll.programs.formats.msccl_xml.document import NONE, Algorithm, Step, StepType
from forestcoll.programs.formats.roots import with_root
from forestcoll.programs.model import program as model


def to_program(algorithm: Algorithm, *, root: int | None = None) -> model.Program:
    """Return the program of `algorithm`, which must keep the rules of `rules.FORM`.

    Instruction number i of block number b is step i of block b. The format names no root. Without `root`, the root is
    the only rank that receives nothing in a broadcast, or sends nothing in a reduce.

    Raises:
        InputError: there is no such root, or it cannot be determined.
    """
    task = TASKS[algorithm.collective]
    channels = sorted(_connections(algorithm))
    numbers = {channel: number for number, channel in enumerate(channels)}
    gpus = sorted(algorithm.gpus, key=lambda gpu: gpu.rank)
    chunks, ranks = algorithm.chunks_per_loop, algorithm.gpu_count
    program = model.Program(
        name=algorithm.name,
        task=task,
        ranks=tuple(_rank(gpu, numbers) for gpu in gpus),
        channels=tuple(
            model.Channel(model.ChannelKind.FIFO, source, target, number) for source, target, number in channels
        ),
        chunks=chunks,
        shards=(chunks // ranks,) * ranks if task.has_shards else (),
        in_place=algorithm.in_place,
        out_of_place=_out_of_place(algorithm),
        protocol=model.Protocol(algorithm.attributes["proto"]),
        slots=CONNECTIONS[algorithm.attributes["proto"]].slots,
        slot_chunks=_slot_chunks(algorithm),
    )
    return with_root(program, root)


def _slot_chunks(algorithm: Algorithm) -> int:
    """Return the number of chunks that fit in a message at the greatest size of the file.

    A greatest size of 0 means any size. A negative one, which the rules of the dialect report, counts as 0.
    """
    most = int(algorithm.attributes.get("maxBytes", DEFAULT_MAX_BYTES))
    if most <= 0:
        return 1
    chunk = -(-most // algorithm.chunks_per_loop)
    joined = joined_bytes(algorithm.attributes["proto"], has_root=TASKS[algorithm.collective].has_root)
    return min(max(1, joined // chunk), MAX_COUNT)


def greatest_right_size(
    algorithm: Algorithm, program: model.Program, comes_to_its_end: Callable[[model.Program], bool]
) -> int | None:
    """Return the greatest M in bytes for which a program that stops in the middle comes to its end.

    The smaller chunks are, the more of them fit in a message, and the fewer waits a program needs. So it comes to its
    end at all sizes up to some size.

    Args:
        algorithm: the file.
        program: its program, which stops at the greatest size of the file.
        comes_to_its_end: whether a program has no fault.

    Returns:
        The size; None if it stops at every size that the file is for.
    """
    most = min(MAX_COUNT, max((step.chunks for _, _, step in algorithm.steps()), default=1))
    low, high = program.slot_chunks + 1, most
    if low > high or not comes_to_its_end(replace(program, slot_chunks=high)):
        return None
    while low < high:
        middle = (low + high) // 2
        if comes_to_its_end(replace(program, slot_chunks=middle)):
            high = middle
        else:
            low = middle + 1
    joined = joined_bytes(algorithm.attributes["proto"], has_root=TASKS[algorithm.collective].has_root)
    size = joined // low * algorithm.chunks_per_loop
    return size if size >= int(algorithm.attributes.get("minBytes", "0")) else None


def _out_of_place(algorithm: Algorithm) -> bool:
    stated = algorithm.attributes.get("outofplace")
    return not algorithm.in_place if stated is None else stated != "0" or not algorithm.in_place


def _connections(algorithm: Algorithm) -> Iterator[tuple[int, int, int]]:
    """Yield sender, receiver and channel of every connection that is used, without repetition."""
    used = set()
    for gpu in algorithm.gpus:
        for block in gpu.blocks:
            if any(_PARTS[step.type][3] for step in block.steps):
                used.add((gpu.rank, block.send_peer, block.channel))
            if any(_PARTS[step.type][2] for step in block.steps):
                used.add((block.receive_peer, gpu.rank, block.channel))
    yield from used


def _rank(gpu: document.Gpu, channels: dict[tuple[int, int, int], int]) -> model.Rank:
    blocks = sorted(gpu.blocks, key=lambda block: block.number)
    return model.Rank(
        blocks=tuple(_block(gpu.rank, block, channels) for block in blocks),
        input_chunks=gpu.input_chunks,
        output_chunks=gpu.output_chunks,
        scratch_chunks=gpu.scratch_chunks,
    )


def _block(rank: int, block: document.Block, channels: dict[tuple[int, int, int], int]) -> model.Block:
    out = channels.get((rank, block.send_peer, block.channel), -1)
    into = channels.get((block.receive_peer, rank, block.channel), -1)
    return model.Block(tuple(_instruction(rank, step, into, out) for step in block.steps))


_PARTS = {kind: (kind.reads_source, kind.writes_target, kind.receives, kind.sends) for kind in StepType}
"""For each type of step, whether it reads its source, writes its target, receives, and sends."""


def _instruction(rank: int, step: Step, into: int, out: int) -> model.Instruction:
    after = () if step.awaited_block == NONE else (model.Dependency(step.awaited_block, step.awaited_step),)
    reads, writes, receives, sends = _PARTS[step.type]
    sources: tuple[model.Place, ...] = ()
    targets: tuple[model.Place, ...] = ()
    if writes:
        targets = (_span(rank, step.target_buffer, step.target_offset, step.chunks),)
        if step.type is StepType.REDUCE:
            sources = targets
    if receives:
        sources = (*sources, model.Message(into, step.chunks))
    if reads:
        sources = (*sources, _span(rank, step.source_buffer, step.source_offset, step.chunks))
    if sends:
        targets = (*targets, model.Message(out, step.chunks))
    return model.Instruction(sources=sources, targets=targets, after=after, step=step.number)


def _span(rank: int, buffer: str, offset: int, count: int) -> model.Span:
    return model.Span(rank, BUFFERS[buffer], offset, count)
