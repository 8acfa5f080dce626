"""The data of a collective: what each rank has at the start and must have at the end, by the definitions of NCCL."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from random_order import Agent, Fault, Interleaving

Words: TypeAlias = npt.NDArray[np.int64]

SHARD_IN = {"allgather"}
SHARD_OUT = {"reduce_scatter", "reducescatter"}


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a collective: `words` are the words of all data, M."""

    collective: str
    ranks: int
    words: int
    in_place: bool
    root: int | None = None

    @property
    def shard(self) -> int:
        """The words of the part of a rank."""
        return self.words // self.ranks

    def expected(self, inputs: list[Words], rank: int) -> Words | None:
        """Return what the output of `rank` must hold; None if it may hold anything."""
        part = slice(rank * self.shard, (rank + 1) * self.shard)
        total = np.sum(inputs, axis=0) if self.collective not in SHARD_IN else inputs[0]
        match self.collective:
            case "allgather":
                return np.concatenate(inputs)
            case "allreduce":
                return total
            case "reduce_scatter" | "reducescatter":
                return total[part]
            case "broadcast":
                assert self.root is not None
                return inputs[self.root]
            case "reduce":
                return total if rank == self.root else None
            case "alltoall":
                return np.concatenate([each[part] for each in inputs])
        raise AssertionError(self.collective)


class Buffers:
    """The input and the output of one rank, as parts of what was allocated.

    Attributes:
        input, output: what the call is given.
        input_base, output_base: the allocation that each lies in.
        input_offset, output_offset: where it begins there.
    """

    def __init__(self, call: Call, rank: int) -> None:
        into = call.shard if call.collective in SHARD_IN else call.words
        out = call.shard if call.collective in SHARD_OUT else call.words
        self.input_base, self.output_base = np.zeros(into, np.int64), np.zeros(out, np.int64)
        self.input_offset = self.output_offset = 0
        if call.in_place and into < out:
            self.input_base, self.input_offset = self.output_base, rank * into
        elif call.in_place:
            self.output_base, self.output_offset = self.input_base, rank * out if out < into else 0
        self.input = self.input_base[self.input_offset : self.input_offset + into]
        self.output = self.output_base[self.output_offset : self.output_offset + out]


class Calls:
    """Several calls one after the other, as on the stream of each rank.

    Before its kernel, a rank makes its input; its output holds garbage. After it, the result is compared, and both
    buffers are overwritten, as the next kernel of the stream may do. Ranks do not wait for each other.
    """

    def __init__(self, call: Call, seed: int, times: int) -> None:
        self.call, self.times = call, times
        self._random = np.random.default_rng(seed)
        self._inputs: list[list[Words]] = []
        self.buffers = [Buffers(call, rank) for rank in range(call.ranks)]
        for _ in range(times):
            self._inputs.append([self.garbage(len(each.input)) for each in self.buffers])

    def garbage(self, count: int) -> Words:
        """Return random words, whose sums are exact."""
        return self._random.integers(1, 2**48, count)

    def begin(self, rank: int, time: int) -> None:
        """Make the buffers as they are when the kernel of `rank` begins."""
        self._scramble(rank)
        self.buffers[rank].input[:] = self._inputs[time][rank]

    def end(self, rank: int, time: int) -> None:
        """Compare the result of `rank`.

        Raises:
            Fault: it is wrong.
        """
        own, expected = self.buffers[rank], self.call.expected(self._inputs[time], rank)
        if expected is not None and (wrong := np.flatnonzero(own.output != expected)).size:
            raise Fault(f"wrong data: call {time}, rank {rank}, word {wrong[0]}, and {wrong.size - 1} more")
        if not self.call.in_place and (own.input != self._inputs[time][rank]).any():
            raise Fault(f"input overwritten: call {time}, rank {rank}")
        self._scramble(rank)

    def _scramble(self, rank: int) -> None:
        for base in (self.buffers[rank].input_base, self.buffers[rank].output_base):
            base[:] = self.garbage(len(base))


def host(calls: Calls, order: Interleaving, rank: int, kernel: "Kernel") -> Agent:
    """The host of a rank: it launches the kernel of each call when that of the call before has ended."""
    for time in range(calls.times):
        yield None
        calls.begin(rank, time)
        left = []
        for name, block in kernel.blocks(rank, time):
            left.append(name)
            order.add(name, _told(block, left, name, order, rank))
        while left:
            yield "left", rank
        kernel.finish(rank)
        calls.end(rank, time)


def _told(block: Agent, left: list[str], name: str, order: Interleaving, rank: int) -> Agent:
    yield from block
    left.remove(name)
    order.wake(("left", rank))


class Kernel:
    """What runs on a rank in one call."""

    def blocks(self, rank: int, time: int) -> Iterator[tuple[str, Agent]]:
        """Yield the agents of the call number `time`, and their names."""
        raise NotImplementedError

    def finish(self, rank: int) -> None:
        """Do what happens when all agents of a rank have ended."""


def fault_of(calls: Calls, order: Interleaving, kernel: Kernel) -> str | None:
    """Run all calls in this order; return what goes wrong, or None."""
    for rank in range(calls.call.ranks):
        order.add(f"host of rank {rank}", host(calls, order, rank, kernel))
    try:
        stuck = order.run()
    except Fault as fault:
        return str(fault)
    if stuck:
        return f"deadlock: {len(stuck)} wait forever: {', '.join(stuck[:3])}"
    return None
