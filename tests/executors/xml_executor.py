"""Runs MSCCL XML as the kernels of microsoft/msccl, Azure/msccl-executor-nccl and RCCL do.

Facts from `msccl_interpreter.h`, `prims_simple.h`, `prims_ll.h`, `enqueue.cc`, `topo.cc` and `init.cc` of
microsoft/msccl (2023), and `msccl_kernel.cu`, `msccl_setup.cc` and `msccl_parser.cc` of the executor (2024):

- A connection from a rank to a peer on a channel is a buffer of 8 steps. A message takes 4 steps with Simple, as two
  slices of 2 steps, the second of which may be empty, and 1 step with LL and LL128. A sender waits for room before each
  slice, and a receiver gives the steps of a slice back when it has copied it.
- A chunk longer than a message moves in several turns: a block does all of its steps for a part of each chunk, then all
  for the next part. A step of several short chunks moves as many in one message as fit.
- A block has a flag. A step with `hasdep` raises it to its turn and number; a step with `depid` waits for that flag.
  `nop` adds a wait to the next step. Consecutive `re` with the same destination are one step.
"""

import xml.etree.ElementTree as ET
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from collective_calls import Call, Calls, Kernel, Words, fault_of
from random_order import Agent, Fault, Interleaving

STEPS = 8
MOST_CHUNKS = 71
PARTS = 2  # words of a chunk that move in one turn: one for each slice


@dataclass(frozen=True, slots=True)
class Protocol:
    """The bytes of a step of a connection that hold data, and the steps and slices of a message."""

    step_bytes: int
    message_steps: int
    slices: int


PROTOCOLS = {
    "Simple": Protocol(2**22 // STEPS, STEPS // 2, 2),
    "LL": Protocol(8 * 512 * 16 // 2, 1, 1),
    "LL128": Protocol(120 * 640 * 8 * 15 // 16, 1, 1),
}
ONE_STEP = {"broadcast", "reduce"}  # BROADCAST_CHUNKSTEPS and REDUCE_CHUNKSTEPS are 1
OF_ALL_RANKS = {"allgather", "reduce_scatter", "reducescatter", "alltoall"}
READS = {"s", "rrc", "rrs", "rrcs", "cpy"}
WRITES = {"r", "rcs", "rrc", "rrcs", "cpy"}
RECEIVES = {"r", "rcs", "rrc", "rrs", "rrcs"}
SENDS = {"s", "rcs", "rrs", "rrcs"}


@dataclass(slots=True)
class Transfer:
    """What a block does at once: a step with the `nop` before it, or several `re`."""

    kind: str
    source: str
    sources: list[int]
    target: str
    target_offset: int
    count: int
    waits: list[tuple[int, int]]
    number: int
    raises: bool


@dataclass(slots=True)
class Connection:
    """Slices on their way from one block to another; `held` are those whose steps the receiver has not given back."""

    room: int
    slices: deque[Words] = field(default_factory=deque)
    held: int = 0


@dataclass(slots=True)
class Block:
    """A thread block as the parser leaves it."""

    number: int
    send: int
    receive: int
    channel: int
    transfers: list[Transfer]


class Algorithm:
    """A file: what the parsers keep of it."""

    def __init__(self, text: str) -> None:
        self.top = top = ET.fromstring(text)  # noqa: S314 (our own text)
        self.ranks, self.chunks = int(top.attrib["ngpus"]), int(top.attrib["nchunksperloop"])
        self.collective, self.protocol = top.attrib["coll"], top.attrib["proto"]
        self.most = int(top.attrib.get("maxBytes", 2**27))
        self.scratch = [int(gpu.attrib["s_chunks"]) for gpu in self._gpus()]
        self.blocks = [[_block(each) for each in gpu.findall("tb")] for gpu in self._gpus()]

    def _gpus(self) -> list[ET.Element]:
        return sorted(self.top.findall("gpu"), key=lambda gpu: int(gpu.attrib["id"]))

    @property
    def places(self) -> list[bool]:
        """Whether calls are in place, for each way in which the file is used."""
        inside = self.top.attrib["inplace"] != "0"
        outside = self.top.attrib.get("outofplace", "0" if inside else "1") != "0"
        return [True] * inside + [False] * outside


def _block(element: ET.Element) -> Block:
    transfers: list[Transfer] = []
    waits: list[tuple[int, int]] = []
    fuses: tuple[str, str, int] | None = None
    for number, step in enumerate(element.findall("step")):
        get = step.attrib
        if int(get["depid"]) >= 0:
            waits.append((int(get["depid"]), int(get["deps"])))
        if get["type"] == "nop":
            continue
        same = get["srcbuf"], get["dstbuf"], int(get["dstoff"])
        if get["type"] == "re" and fuses == same and int(get["depid"]) < 0:
            last = transfers[-1]
            last.sources.append(int(get["srcoff"]))
            last.count, last.number, last.raises = int(get["cnt"]), number, get["hasdep"] == "1"
        else:
            if waits and int(get["depid"]) < 0:
                raise Fault("refused: a nop must be directly before a step that waits, too")
            transfers.append(
                Transfer(
                    get["type"],
                    get["srcbuf"],
                    [int(get["srcoff"])],
                    get["dstbuf"],
                    int(get["dstoff"]),
                    int(get["cnt"]),
                    waits,
                    number,
                    get["hasdep"] == "1",
                )
            )
            waits = []
        fuses = same if get["type"] == "re" and get["hasdep"] == "0" else None
    ends = int(element.attrib["send"]), int(element.attrib["recv"])
    return Block(int(element.attrib["id"]), *ends, int(element.attrib["chan"]), transfers)


class Machine(Kernel):
    """All ranks that run one file, with `size` bytes of data M."""

    def __init__(self, algorithm: Algorithm, size: int, calls: Calls, order: Interleaving) -> None:
        self.algorithm, self.calls, self.order = algorithm, calls, order
        protocol = PROTOCOLS[algorithm.protocol]
        self.chunk_bytes = -(-size // algorithm.chunks)
        self.message_bytes = protocol.step_bytes * protocol.message_steps
        self.turns = -(-self.chunk_bytes // self.message_bytes)
        one = algorithm.collective in ONE_STEP
        joined = (protocol.step_bytes if one else self.message_bytes) // self.chunk_bytes
        self.together = min(max(1, joined), MOST_CHUNKS)
        self.slices = protocol.slices
        self.least_slice = self.message_bytes // protocol.slices // 32
        self.scratch = [calls.garbage(each * PARTS * self.turns) for each in algorithm.scratch]
        self.flags: dict[tuple[int, int, int], tuple[int, int]] = {}
        room = STEPS * protocol.slices // protocol.message_steps
        self.connections: dict[tuple[int, int, int], Connection] = {}
        for ends in self._ends():
            self.connections[ends] = Connection(room)

    def _ends(self) -> Iterator[tuple[int, int, int]]:
        senders: set[tuple[int, int, int]] = set()
        receivers: set[tuple[int, int, int]] = set()
        for rank, blocks in enumerate(self.algorithm.blocks):
            for block in blocks:
                kinds = {each.kind for each in block.transfers}
                out, into = (rank, block.send, block.channel), (block.receive, rank, block.channel)
                for ends, used, seen in ((out, kinds & SENDS, senders), (into, kinds & RECEIVES, receivers)):
                    if used and (ends in seen or min(ends[:2]) < 0):
                        raise Fault(f"refused: {ends} has no peer, or two blocks on one connection")
                    if used:
                        seen.add(ends)
                        yield ends

    def blocks(self, rank: int, time: int) -> Iterator[tuple[str, Agent]]:
        """Yield the blocks of a rank."""
        for block in self.algorithm.blocks[rank]:
            yield f"rank {rank} block {block.number}", self._run(rank, block, time)

    def _run(self, rank: int, block: Block, time: int) -> Agent:
        out = self.connections.get((rank, block.send, block.channel))
        into = self.connections.get((block.receive, rank, block.channel))
        for turn in range(self.turns):
            for each in block.transfers:
                for other, step in each.waits:
                    while self.flags.get((rank, other, time), (-1, -1)) < (turn, step):
                        yield "flag", rank, other
                if each.kind == "re":
                    yield from self._reduce(rank, each, turn)
                else:
                    yield from self._move(rank, each, turn, into, out)
                if each.raises:
                    self.flags[rank, block.number, time] = turn, each.number
                    self.order.wake(("flag", rank, block.number))

    def _words(self, rank: int, buffer: str, chunk: int, turn: int, count: int) -> Words:
        own = self.calls.buffers[rank]
        memory = {"i": own.input, "o": own.output, "s": self.scratch[rank]}[buffer]
        first = (chunk * self.turns + turn) * PARTS
        if not 0 <= first <= first + count * PARTS <= len(memory):
            raise Fault(f"out of bounds: rank {rank}, {count} chunks from {chunk} of {buffer}")
        return memory[first : first + count * PARTS]

    def _reduce(self, rank: int, each: Transfer, turn: int) -> Agent:
        for first in range(0, each.count, self.together):
            count = min(self.together, each.count - first)
            target = self._words(rank, each.target, each.target_offset + first, turn, count)
            sources = [self._words(rank, each.source, place + first, turn, count) for place in each.sources]
            yield None
            total = np.sum([*sources, target], axis=0)
            yield None
            target[:] = total

    def _move(self, rank: int, each: Transfer, turn: int, into: Connection | None, out: Connection | None) -> Agent:
        for first in range(0, each.count, self.together):
            count = min(self.together, each.count - first)
            source = target = None
            if each.kind in READS:
                source = self._words(rank, each.source, each.sources[0] + first, turn, count)
            if each.kind in WRITES:
                target = self._words(rank, each.target, each.target_offset + first, turn, count)
            receives = into if each.kind in RECEIVES else None
            sends = out if each.kind in SENDS else None
            for part in self._parts(count * PARTS, count) if sends or receives else [slice(0, count * PARTS)]:
                yield from self._slice(source, target, receives, sends, part)

    def _parts(self, words: int, chunks: int) -> Iterator[slice]:
        """Yield the words of each slice: halves, but a first slice that is not too short."""
        short = min(self.chunk_bytes, self.message_bytes) * chunks <= self.least_slice
        half = words if short or self.slices == 1 else -(-words // 2)
        for number in range(self.slices):
            yield slice(number * half, min(words, (number + 1) * half)) if number * half < words else slice(0, 0)

    def _slice(
        self, source: Words | None, target: Words | None, into: Connection | None, out: Connection | None, part: slice
    ) -> Agent:
        while into is not None and not into.slices:
            yield "data", id(into)
        while out is not None and out.held == out.room:
            yield "room", id(out)
        yield None
        values = np.zeros(part.stop - part.start, np.int64)
        if source is not None:
            values = values + source[part]
        if into is not None:
            received = into.slices.popleft()
            if len(received) != len(values):
                raise Fault(f"wrong data: a message of {len(received)} words where {len(values)} are expected")
            values = values + received
        yield None
        if target is not None:
            target[part] = values
            yield None
        if out is not None:
            out.slices.append(values)
            out.held += 1
            self.order.wake(("data", id(out)))
        if into is not None:
            into.held -= 1
            self.order.wake(("room", id(into)))


def run(text: str, size: int, *, in_place: bool, seed: int, root: int | None = None, times: int = 2) -> str | None:
    """Run a file with M of `size` bytes in one random order; return what goes wrong, or None.

    Args:
        text: the file.
        size: M in bytes.
        in_place: whether input and output are one buffer, or one is a part of the other.
        seed: of the order and the data; the order of an even seed is even.
        root: of a broadcast or a reduce.
        times: the number of calls, one after the other.
    """
    order = Interleaving(seed, even=seed % 2 == 0)
    try:
        algorithm = Algorithm(text)
        chunk_bytes = -(-size // algorithm.chunks)
        protocol = PROTOCOLS[algorithm.protocol]
        turns = -(-chunk_bytes // (protocol.step_bytes * protocol.message_steps))
        call = Call(algorithm.collective, algorithm.ranks, algorithm.chunks * turns * PARTS, in_place, root)
        calls = Calls(call, seed, times)
        machine = Machine(algorithm, size, calls, order)
        found = fault_of(calls, order, machine)
    except Fault as fault:
        return str(fault)
    left = [ends for ends, each in machine.connections.items() if each.slices]
    return f"wrong data: messages that no one receives: {left[:3]}" if found is None and left else found


def sizes(text: str) -> list[int]:
    """Return sizes at which a file behaves differently: short slices, long ones, and its greatest size.

    If the greatest size takes more than two turns, two turns stand for it.
    """
    algorithm = Algorithm(text)
    protocol = PROTOCOLS[algorithm.protocol]
    message = protocol.step_bytes * protocol.message_steps
    two_turns = (message + message // 2) * algorithm.chunks
    greatest = min(algorithm.most or two_turns, two_turns)
    small = max(int(algorithm.top.attrib.get("minBytes", "0")), 256 * algorithm.chunks)
    return sorted({min(small, greatest), greatest})
