"""Converts a program over FIFO channels into traces: when and how much is sent and received, but not which data.

An instruction that receives and sends becomes a receive, a sum if it adds, and then a send. The receives and sums of a
block are done in order, and so are its sends. A send does not delay the next receive of the block, because FIFO
channels buffer messages. Every message has its own tag. Sums take no time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from types import MappingProxyType

from forestcoll.base.errors import InputError, plural
from forestcoll.programs.formats.chakra.document import NodeType, Trace, TraceNode
from forestcoll.programs.formats.sizes import require_bytes
from forestcoll.programs.model import Dependency, Instruction, Message, Program, instruction_name, message_counts

_MOST_BYTES = 2**63 - 1


def from_program(program: Program, size: int) -> Iterator[Trace]:
    """Yield the trace of each rank of `program` for data of `size` bytes.

    Raises:
        InputError: the program does more than send, receive, add and copy, chunks are smaller than a byte, or `size` is
            too large for a trace.
    """
    if size > _MOST_BYTES:
        raise InputError(f"{plural(size, 'byte')} do not fit the numbers of a trace, below 2^63; give fewer bytes")
    require_bytes(program, size)
    tags = _Tags(program)
    for rank, each in enumerate(program.ranks):
        writer = _Writer(program, rank, size, tags)
        for block, listed in enumerate(each.blocks):
            writer.block(block, listed.instructions)
        writer.resolve()
        yield Trace(rank, tuple(writer.nodes), MappingProxyType({"collective": program.task.value}))


class _Tags:
    """The tag of each message: its number among all messages, channel by channel."""

    def __init__(self, program: Program) -> None:
        self._next_sent = list(accumulate(message_counts(program), initial=0))
        self._next_received = list(self._next_sent)

    def of(self, message: Message, *, received: bool) -> int:
        """Return the tag of the next message that is sent or received over a channel."""
        numbers = self._next_received if received else self._next_sent
        numbers[message.channel] += 1
        return numbers[message.channel] - 1


@dataclass
class _Writer:
    """The trace of one rank while it is being written."""

    program: Program
    rank: int
    size: int
    tags: _Tags
    nodes: list[TraceNode] = field(default_factory=list)
    waits: dict[int, tuple[Dependency, ...]] = field(default_factory=dict)
    ends: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    bytes_of: dict[int, int] = field(default_factory=dict)
    """For a number of chunks, the size of a message in bytes."""

    def block(self, number: int, instructions: Sequence[Instruction]) -> None:
        """Write the nodes of a block; dependencies on other blocks are resolved later."""
        nodes = self.nodes
        data: tuple[int, ...] = ()
        sent: tuple[int, ...] = ()
        pending: tuple[Dependency, ...] = ()
        for place, instruction in enumerate(instructions):
            self._check(number, place, instruction)
            first = len(nodes)
            if instruction.after:
                pending += instruction.after
            for source in instruction.sources:
                if isinstance(source, Message):
                    data = (self._message(NodeType.RECEIVE, source, data),)
            if len(instruction.sources) > 1:
                nodes.append(TraceNode(len(nodes), f"add {instruction.count} chunks", NodeType.COMPUTE, data))
                data = (len(nodes) - 1,)
            for target in instruction.targets:
                if isinstance(target, Message):
                    both = data + sent if data and data != sent else sent or data
                    sent = (self._message(NodeType.SEND, target, both),)
            if pending and len(nodes) > first:
                self.waits[first] = pending
                pending = ()
            self.ends[number, place] = data + sent

    def _check(self, block: int, place: int, instruction: Instruction) -> None:
        if instruction.waits or instruction.signals or instruction.acquires or instruction.barrier is not None:
            where = instruction_name(self.program, self.rank, block, place)
            raise InputError(f"{where}: a trace has messages only; lower the schedule two-sided")

    def _message(self, kind: NodeType, message: Message, after: tuple[int, ...]) -> int:
        channel, count = self.program.channels[message.channel], message.count
        receives = kind is NodeType.RECEIVE
        tag = self.tags.of(message, received=receives)
        if count not in self.bytes_of:
            self.bytes_of[count] = max(1, round(count * self.size / self.program.chunks))
        name, peer = (f"receive {tag}", channel.source) if receives else (f"send {tag}", channel.target)
        number = len(self.nodes)
        self.nodes.append(TraceNode(number, name, kind, after, self.bytes_of[count], peer, tag))
        return number

    def resolve(self) -> None:
        """Resolve the dependencies on other blocks."""
        for number, waits in self.waits.items():
            more = [end for each in waits for end in self.ends[each.block, each.instruction]]
            node = self.nodes[number]
            self.nodes[number] = node._replace(after=tuple(dict.fromkeys((*node.after, *more))))
