"""Runs execution plans as the executor of microsoft/mscclpp does, thread by thread.

Facts from `execution_plan.cc`, `executor.cc`, `execution_kernel.hpp`, `concurrency_device.hpp`, `semaphore_device.hpp`
and `packet_device.hpp` of 2026:

- The threads of a block meet only at `nop` and `barrier`. Each copies every n-th 16 bytes, or every n-th packet, of an
  operation. Thread number i signals, waits, or gives a port its work for channel number i of an operation.
- Channels number i of a type between two ranks belong together: a signal on one raises a count on the other rank, and
  each wait there takes one more. What a rank wrote to others is there when they see its signal. Before a relaxed signal
  this holds only for what a switch writes, which plans for NVLS rely on.
- A port does puts and signals in order, at any later time. It gets its work by a store with release for the whole
  system (`fifo_device.hpp`), so it sees what was written before, also through a switch. `flush` counts its channels by
  `dst_buff`.
- A packet is 8 bytes of data and a flag, the number of the call. Packets lie in scratch, at twice the place of the
  data. With `use_double_scratch_buffer`, even and odd calls use different halves. A rank takes half of its own buffer
  as the place of the second half on all ranks.
- Remote and switch places are relative to the allocation, at the offset that the own buffer has in its allocation.

Words are 8 bytes. `shrink` divides the sizes of the rounds of pipelines, and calls have chunks of a few words.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from collective_calls import Call, Calls, Kernel, Words, fault_of
from random_order import Agent, Fault, Interleaving

Json: TypeAlias = dict[str, Any]
Places: TypeAlias = npt.NDArray[np.intp]
Sender: TypeAlias = tuple[str, int, int]
"""Who writes to other ranks: by itself or through a switch, block and thread."""

WORD = 8
UNIT = 2  # words of 16 bytes
THREADS = 3
PACKETS = {"ppkt", "rppkt", "respkt", "cpkt", "upkt", "repkt", "recpkt", "recspkt", "gstorepkt"}


@dataclass(slots=True)
class Place:
    """Where an operand is: the memory, its first byte there, and its length in bytes."""

    memories: list[tuple[int, Words]]
    first: int
    size: int
    letter: str


@dataclass(slots=True)
class Port:
    """The work of a port channel."""

    work: deque[Callable[[], Iterator[None]]] = field(default_factory=deque)
    given: int = 0
    done: int = 0


class Plan(Kernel):
    """All ranks that run one plan, with chunks of `chunk_bytes`."""

    def __init__(self, document: Json, chunk_bytes: int, shrink: int, calls: Calls, order: Interleaving) -> None:
        self.plan, self.calls, self.order, self.shrink = document, calls, order, shrink
        self.gpus: list[Json] = document["gpus"]
        self.chunk_bytes, self.alignment = chunk_bytes, document.get("buffer_alignment", 16)
        self.packets = document["protocol"] == "LL"
        self.double = document.get("use_double_scratch_buffer", False)
        if document.get("reuse_resources", False):
            raise NotImplementedError("reuse_resources")
        factor = (2 if self.packets else 1) * (2 if self.double else 1)
        self.scratch_words = [gpu["scratch_chunks"] * chunk_bytes // WORD * factor for gpu in self.gpus]
        self.scratch = [calls.garbage(each) for each in self.scratch_words]
        self.ends = {kind: [_peers(gpu, kind) for gpu in self.gpus] for kind in ("memory", "port")}
        self.inbound: dict[tuple[str, int, int], int] = {}
        self.expected: dict[tuple[str, int, int], int] = {}
        self.ports: dict[tuple[int, int], Port] = {}
        self.semaphores = [[each["init_value"] for each in gpu.get("semaphores", ())] for gpu in self.gpus]
        self.syncers: dict[tuple[int, int], list[int]] = {}
        self.on_the_way: list[dict[Sender, deque[Callable[[], None]]]] = [{} for _ in self.gpus]
        for rank in range(len(self.gpus)):
            order.add(None, self._wire(rank))
            for number in range(len(self.ends["port"][rank])):
                self.ports[rank, number] = Port()
                order.add(None, self._serve(rank, number))

    # What is on its way to other ranks.

    def send(self, rank: int, sender: Sender, what: Callable[[], None]) -> None:
        """Let `what` happen at any later time, after what the sender sent before."""
        self.on_the_way[rank].setdefault(sender, deque()).append(what)
        self.order.wake(("wire", rank))

    def arrive(self, rank: int, *, switched: bool = False) -> None:
        """Let all arrive that is on its way from a rank, or only what a switch writes."""
        for sender, queue in self.on_the_way[rank].items():
            while queue and (not switched or sender[0] == "switch"):
                queue.popleft()()

    def _wire(self, rank: int) -> Agent:
        while True:
            queues = [each for each in self.on_the_way[rank].values() if each]
            if not queues:
                yield "wire", rank
                continue
            self.order.random.choice(queues).popleft()()
            yield None

    def _serve(self, rank: int, number: int) -> Agent:
        port = self.ports[rank, number]
        while True:
            while not port.work:
                yield "port", rank, number
            yield None
            yield from port.work.popleft()()
            port.done += 1
            self.order.wake(("ported", rank, number))

    # Blocks.

    def blocks(self, rank: int, time: int) -> Iterator[tuple[str, Agent]]:
        """Yield the threads of all blocks of a rank."""
        for block in self.gpus[rank]["threadblocks"]:
            meeting = [0]
            for thread in range(THREADS):
                each = _Thread(self, (rank, thread, time), block, meeting)
                yield f"rank {rank} block {block['id']} thread {thread}", each.run()

    def finish(self, rank: int) -> None:
        """Let all arrive that the kernel wrote."""
        self.arrive(rank)

    def partner(self, kind: str, rank: int, number: int) -> tuple[int, int]:
        """Return the other rank of a channel, and its number there; it has one even if the plan does not list it."""
        peer = self.ends[kind][rank][number]
        place = self.ends[kind][rank][:number].count(peer)
        there = [each for each, other in enumerate(self.ends[kind][peer]) if other == rank]
        return peer, there[place] if place < len(there) else -1 - place

    def offset(self, index: int, chunks: int) -> int:
        """Return the first byte of a chunk."""
        parts = chunks * self.chunk_bytes // self.alignment
        first: int = (index * (parts // chunks) + min(index, parts % chunks)) * self.alignment
        return first

    def memory(self, rank: int, letter: str, *, base: bool) -> Words:
        """Return the memory of a buffer: all of its allocation, or what the call is given."""
        own = self.calls.buffers[rank]
        if letter == "s":
            return self.scratch[rank]
        if letter == "i":
            return own.input_base if base else own.input
        return own.output_base if base else own.output


def _peers(gpu: Json, kind: str) -> list[int]:
    return [peer for each in gpu["channels"] if each["channel_type"] == kind for peer in each["connected_to"]]


def _listed(block: Json, kind: str) -> list[int]:
    return [number for each in block["channels"] if each["channel_type"] == kind for number in each["channel_ids"]]


def _switches(gpu: Json) -> list[tuple[str, list[int]]]:
    listed = [each for each in gpu["channels"] if each["channel_type"] == "switch"]
    return [(each["buffer_type"], group["ranks"]) for each in listed for group in each["rank_groups"]]


class _Thread:
    """One thread of a block, in one call."""

    def __init__(self, plan: Plan, number: tuple[int, int, int], block: Json, meeting: list[int]) -> None:
        self.plan, self.block = plan, block
        self.rank, self.thread, self.time = rank, _, time = number
        self.gpu, self.order = plan.gpus[rank], plan.order
        self._meeting, self.flag = meeting, time + 1
        half = plan.scratch_words[rank] * WORD // 2
        self.scratch_first = half if plan.double and self.flag % 2 == 0 else 0

    def run(self) -> Agent:
        """Do all operations."""
        for operation in self.block["ops"]:
            if operation["name"] != "pipeline":
                yield from self._do(operation, 0, None)
                continue
            context = operation["iter_context"]
            unit = context["unit_size"] // self.plan.shrink
            for turn in range(-(-context["num_chunks"] * self.plan.chunk_bytes // unit)):
                for each in operation["ops"]:
                    yield from self._do(each, turn * unit, unit)

    def _do(self, operation: Json, first: int, unit: int | None) -> Agent:
        name = operation["name"]
        yield None
        if name in {"put", "pws", "pwsf", "ppkt"} and operation["channel_type"] == "port":
            yield from self._give(operation, first, unit)
        elif name in {"nop", "barrier"}:
            yield from self._meet() if name == "nop" else self._barrier(operation)
        elif name in {"signal", "rlxsignal", "wait", "rlxwait", "flush"}:
            yield from self._synchronise(operation)
        elif name in {"sem_acquire", "sem_release"}:
            yield from self._count(operation)
        else:
            yield from self._move(operation, first, unit)

    def _synchronise(self, operation: Json) -> Agent:
        name = operation["name"]
        count = len(operation.get("dst_buff", ())) if name == "flush" else None
        for kind, number in self._channels(operation, count):
            if name == "flush":
                yield from self._flush(number)
            elif "wait" in name:
                yield from self._wait(kind, number)
            else:
                self._signal(kind, number, relaxed=name == "rlxsignal")

    def _count(self, operation: Json) -> Agent:
        for number in operation["semaphore_ids"][self.thread :: THREADS]:
            if operation["name"] == "sem_acquire":
                yield from self._acquire(number)
            else:
                self.plan.semaphores[self.rank][number] += 1
                self.order.wake(("semaphore", self.rank, number))

    # Meetings, signals, semaphores.

    def _meet(self) -> Agent:
        turn = self._meeting[0] // THREADS
        self._meeting[0] += 1
        key = "meet", self.rank, self.block["id"], turn, self.time
        self.order.wake(key)
        while self._meeting[0] < (turn + 1) * THREADS:
            yield key

    def _barrier(self, operation: Json) -> Agent:
        number, blocks = operation["barrier_id"], operation["num_threadblocks"]
        yield from self._meet()
        if blocks == 1:
            return
        if self.thread == 0:
            syncer = self.plan.syncers.setdefault((self.rank, number), [0, 0, 0, 0])
            mine = (syncer[3] + 1) % 3
            syncer[(mine + 1) % 3] = 0
            syncer[mine] += 1
            key = "barrier", self.rank, number, mine
            self.order.wake(key)
            while syncer[mine] != blocks:
                yield key
            yield None
            syncer[3] = mine
        yield from self._meet()

    def _channels(self, operation: Json, count: int | None) -> Iterator[tuple[str, int]]:
        kind = operation["channel_type"]
        for each in operation["channel_ids"][:count][self.thread :: THREADS]:
            yield kind, _listed(self.block, kind)[each]

    def _signal(self, kind: str, number: int, *, relaxed: bool) -> None:
        plan = self.plan
        peer, there = plan.partner(kind, self.rank, number)

        def arrives() -> None:
            key = kind, peer, there
            plan.inbound[key] = plan.inbound.get(key, 0) + 1
            plan.order.wake(("signal", *key))

        if kind == "port":
            self._work(number, lambda: _once(arrives))
            return
        plan.arrive(self.rank, switched=relaxed)
        arrives()

    def _wait(self, kind: str, number: int) -> Agent:
        key = kind, self.rank, number
        expected = self.plan.expected[key] = self.plan.expected.get(key, 0) + 1
        while self.plan.inbound.get(key, 0) < expected:
            yield "signal", *key

    def _flush(self, number: int) -> Agent:
        port = self.plan.ports[self.rank, number]
        given = port.given
        while port.done < given:
            yield "ported", self.rank, number

    def _acquire(self, number: int) -> Agent:
        semaphores = self.plan.semaphores[self.rank]
        old = semaphores[number]
        semaphores[number] -= 1
        while old <= 0 and semaphores[number] < old:
            yield "semaphore", self.rank, number

    def _work(self, number: int, what: Callable[[], Iterator[None]]) -> None:
        self.plan.arrive(self.rank)
        port = self.plan.ports[self.rank, number]
        port.work.append(what)
        port.given += 1
        self.order.wake(("port", self.rank, number))

    # Operands.

    def _place(self, operation: Json, buffer: Json, first: int) -> Place:
        """Return an operand; `first` is where a round of a pipeline begins."""
        plan, own = self.plan, self.plan.calls.buffers[self.rank]
        chunks = self.gpu["input_chunks"] or self.gpu["output_chunks"]
        begin = plan.offset(buffer["index"], chunks)
        size = plan.offset(buffer["index"] + buffer["size"], chunks) - begin
        letter, memories = self._memories(operation, buffer)
        packed = operation["name"] in PACKETS and letter == "s"
        if "type" not in buffer:
            begin += {"i": own.input_offset * WORD, "o": own.output_offset * WORD, "s": 0}[letter]
        if (share := operation.get("tbg_info")) is not None:
            part, parts, units = share["tb_id"], share["tbg_size"], size // plan.alignment
            cuts = [each * (units // parts) + min(each, units % parts) for each in (part, part + 1)]
            begin, size = begin + cuts[0] * plan.alignment, (cuts[1] - cuts[0]) * plan.alignment
        half = self.scratch_first if letter == "s" and (packed or "type" in buffer) else 0
        return Place(memories, half + begin * (2 if packed else 1) + first, size, letter)

    def _memories(self, operation: Json, buffer: Json) -> tuple[str, list[tuple[int, Words]]]:
        """Return the letter of the buffer of an operand, and the memory of each rank that has it."""
        plan = self.plan
        if "type" in buffer:
            letter = buffer["type"]
            return letter, [(self.rank, plan.memory(self.rank, letter, base=False))]
        if "switch_channel_id" in buffer:
            letter, ranks = _switches(self.gpu)[_listed(self.block, "switch")[buffer["switch_channel_id"]]]
            return letter, [(rank, plan.memory(rank, letter, base=True)) for rank in ranks]
        refs = [
            number
            for each in self.block.get("remote_buffer_refs", ())
            if each["access_channel_type"] == operation["channel_type"]
            for number in each["remote_buffer_ids"]
        ]
        remote = self.gpu["remote_buffers"][refs[buffer["buffer_id"]]]
        return remote["type"], [(remote["rank"], plan.memory(remote["rank"], remote["type"], base=True))]

    def _range(self, place: Place, steps: Places) -> Places:
        """Return the words of a place at `steps` words from its beginning."""
        words = place.first // WORD + steps
        for rank, memory in place.memories:
            if len(words) and (words[0] < 0 or words[-1] >= len(memory)):
                raise Fault(f"out of bounds: rank {self.rank} in {place.letter} of rank {rank}")
        return words

    # Data.

    def _move(self, operation: Json, first: int, unit: int | None) -> Agent:
        name = operation["name"]
        sources = [self._place(operation, each, first) for each in operation.get("src_buff", ())]
        targets = [self._place(operation, each, first) for each in operation.get("dst_buff", ())]
        if name not in {"put", "ppkt", "get"}:
            yield from self._one(name, sources, targets, _length(sources[0].size, first, unit))
            return
        for source, target in zip(sources, targets, strict=True):
            size = target.size if name == "put" else source.size
            if name == "get":
                source.first, target.first = target.first, source.first
            else:
                source.memories = sources[0].memories
            yield from self._one(name, [source], [target], _length(size, first, unit))

    def _one(self, name: str, sources: list[Place], targets: list[Place], length: int) -> Agent:
        packed_sources, packed_targets = _packed(name, len(sources), len(targets))
        steps = np.arange(length)
        mine = steps[(steps if name in PACKETS else steps // UNIT) % THREADS == self.thread]
        total = np.zeros(len(mine), np.int64)
        for place, packed in zip(sources, packed_sources, strict=True):
            yield None
            words = self._range(place, mine * 2 if packed else mine)
            if packed:
                yield from self._packets(place, words)
            for _, memory in place.memories:
                total = total + memory[words]
        for place, packed in zip(targets, packed_targets, strict=True):
            words = self._range(place, mine * 2 if packed else mine)
            switched = len(place.memories) > 1
            for where in place.memories:
                yield None
                self._write(where, words, total, packed=packed, switched=switched)

    def _packets(self, place: Place, words: Places) -> Agent:
        ((rank, memory),) = place.memories
        for word in words:
            while memory[word + 1] != -self.flag:
                yield "packet", rank, int(word)

    def _write(self, where: tuple[int, Words], words: Places, values: Words, *, packed: bool, switched: bool) -> None:
        (rank, memory), flag, order = where, -self.flag, self.order

        def arrives() -> None:
            memory[words] = values
            if packed:
                memory[words + 1] = flag
                for word in words:
                    order.wake(("packet", rank, int(word)))

        if rank == self.rank and not switched:
            arrives()
        else:
            way = "switch" if switched else "own"
            self.plan.send(self.rank, (way, self.block["id"], self.thread), arrives)

    def _give(self, operation: Json, first: int, unit: int | None) -> Agent:
        """Give a port its work."""
        packed = operation["name"] == "ppkt"
        pairs = list(zip(operation["src_buff"], operation["dst_buff"], operation["channel_ids"], strict=True))
        for source_buffer, target_buffer, channel in pairs[self.thread :: THREADS]:
            yield None
            source = self._place(operation, source_buffer, first)
            target = self._place(operation, target_buffer, first)
            size = source.size * 2 if packed else target.size
            steps = np.arange(_length(size, first, unit))
            self._work(channel_number := _listed(self.block, "port")[channel], self._put(source, target, steps))
            if operation["name"] != "put" and not packed:
                self._signal("port", channel_number, relaxed=False)
            if operation["name"] == "pwsf":
                yield from self._flush(channel_number)

    def _put(self, source: Place, target: Place, steps: Places) -> Callable[[], Iterator[None]]:
        words, places = self._range(source, steps), self._range(target, steps)
        ((_, memory),), ((rank, there),) = source.memories, target.memories
        packed = self.plan.packets and target.letter == "s"

        def works() -> Iterator[None]:
            values = memory[words].copy()
            yield None
            there[places] = values
            if packed:
                for word in places[::2]:
                    self.order.wake(("packet", rank, int(word)))

        return works


def _length(size: int, first: int, unit: int | None) -> int:
    """Return the words that an operation of `size` bytes moves, in the round of a pipeline that begins at `first`."""
    return max(0, size if unit is None else min(size - first, unit)) // WORD


def _once(what: Callable[[], None]) -> Iterator[None]:
    what()
    yield None


def _packed(name: str, sources: int, targets: int) -> tuple[list[bool], list[bool]]:
    """Return which sources and targets of an operation are packets."""
    match name:
        case "ppkt" | "cpkt":
            return [False] * sources, [True] * targets
        case "rppkt" | "gstorepkt":
            return [True] * sources, [True] * targets
        case "upkt":
            return [True] * sources, [False] * targets
        case "repkt" | "respkt" | "recpkt" | "recspkt":
            return [False] + [True] * (sources - 1), [False] + [True] * (targets - 1)
    return [False] * sources, [False] * targets


def run(text: str, *, seed: int, root: int | None = None, times: int = 2, rounds: int = 2) -> str | None:
    """Run a plan in one random order; return what goes wrong, or None.

    Args:
        text: the plan.
        seed: of the order and the data; the order of an even seed is even.
        root: of a broadcast or a reduce.
        times: the number of calls, one after the other.
        rounds: the rounds of its pipelines, of which the last is shorter.
    """
    order = Interleaving(seed, even=seed % 2 == 0)
    document = json.loads(text)
    chunk_bytes, shrink = _scale(document, rounds)
    gpus = document["gpus"]
    chunks = max(max(gpu["input_chunks"], gpu["output_chunks"]) for gpu in gpus)
    call = Call(document["collective"], len(gpus), chunks * chunk_bytes // WORD, document["inplace"], root)
    calls = Calls(call, seed, times)
    plan = Plan(document, chunk_bytes, shrink, calls, order)
    found = fault_of(calls, order, plan)
    left = [key for key, count in plan.inbound.items() if count != plan.expected.get(key, 0)]
    return f"signals that no one waits for: {left[:3]}" if found is None and left else found


def _scale(document: Json, rounds: int) -> tuple[int, int]:
    """Return the bytes of a chunk, and what the sizes of rounds are divided by, so that all threads have a part."""
    pipelines = [
        each["iter_context"]
        for gpu in document["gpus"]
        for block in gpu["threadblocks"]
        for each in block["ops"]
        if each["name"] == "pipeline"
    ]
    unit = UNIT * WORD
    if not pipelines:
        return unit * THREADS, 1
    lengths = {each["unit_size"] // each["num_chunks"] for each in pipelines}
    shrink = max(1, min(lengths) // (unit * (THREADS + 1)))
    while any(each["unit_size"] % (shrink * unit) for each in pipelines):
        shrink -= 1
    return (max(lengths) // shrink // unit * rounds - 1) * unit, shrink
