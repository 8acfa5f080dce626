"""The reason why a program stops, as text: which block waits for which."""

from collections.abc import Iterator

from forestcoll.base.errors import plural
from forestcoll.programs.interpreter.order import Need, RunState, need_of
from forestcoll.programs.model import (
    Channel,
    Instruction,
    Message,
    Multicast,
    ProgramFault,
    Span,
    fault_at,
    instruction_name,
)

STOPS = ("deadlock", "waits-forever")
"""The rules that a program breaks if it does not come to its end."""

_MOST_SHOWN = 6


def stop_of(run: RunState) -> ProgramFault | None:
    """Return the fault of a run that stopped before its end, or None."""
    if not run.stuck:
        return None
    chain, closed = _chain(run, run.stuck[0])
    first = chain[closed] if closed is not None else chain[-1]
    shown = chain[closed:] if closed is not None else chain[-1:]
    words = [f"{_name(run, block)} waits for {_awaited_text(run, block)}" for block in shown[1:_MOST_SHOWN]]
    rank, number = run.blocks[first]
    place = rank, number, run.done[first]
    message = f"waits for {_awaited_text(run, first)}"
    if closed is None:
        return fault_at("waits-forever", f"{message}, which never comes", run.program, place)
    more = f"; {len(shown) - _MOST_SHOWN} more" if len(shown) > _MOST_SHOWN else ""
    others = "; ".join(words)
    story = f"{message}; {others}{more}; the blocks wait in a cycle" if words else f"{message}, which is itself"
    return fault_at("deadlock", story, run.program, place)


def _chain(run: RunState, start: int) -> tuple[list[int], int | None]:
    """Follow who waits for whom from block `start`; return the blocks, and where the chain closes, if it does."""
    chain = [start]
    while (after := _blocker(run, chain[-1])) is not None:
        if after in chain:
            return chain, chain.index(after)
        chain.append(after)
    return chain, None


def _next(run: RunState, block: int) -> Instruction:
    return run.lists[block][run.done[block]]


def _need(run: RunState, block: int) -> Need:
    """Return what a stuck block waits for."""
    instruction = _next(run, block)
    if not run.moved[block] and (need := need_of(run, block, instruction)) is not None:
        return need
    for place in instruction.sources:
        if isinstance(place, Message) and not run.channels[place.channel].pieces:
            return "chunks", place.channel, -1, -1
    sends = next(each for each in instruction.targets if isinstance(each, Message))
    return "room", sends.channel, -1, -1


def _blocker(run: RunState, block: int) -> int | None:
    """Return the stuck block that must act before `block` can continue, or None if no block would."""
    kind, one, two, _ = _need(run, block)
    if kind == "step":
        return run.number[one, two]
    for other in run.stuck:
        rest = run.lists[other][run.done[other] :]
        if any(_provides(run, other, each, _need(run, block)) for each in rest) and other != block:
            return other
    mine = run.lists[block][run.done[block] :]
    return block if any(_provides(run, block, each, _need(run, block)) for each in mine) else None


def _provides(run: RunState, block: int, instruction: Instruction, need: Need) -> bool:
    kind, one, two, _ = need
    rank = run.blocks[block][0]
    if kind == "signal":
        return one in instruction.signals
    if kind == "semaphore":
        return rank == one and two in instruction.releases
    if kind == "barrier":
        barrier = instruction.barrier
        return barrier is not None and (rank, barrier.number) == (one, two) and block not in run.met[one, two]
    if kind == "packets":
        return any(isinstance(each, Span | Multicast) and each.packets for each in instruction.targets)
    places = instruction.targets if kind == "chunks" else instruction.sources
    return any(isinstance(each, Message) and each.channel == one for each in places)


def _name(run: RunState, block: int) -> str:
    rank, number = run.blocks[block]
    return instruction_name(run.program, rank, number, run.done[block])


def _awaited_text(run: RunState, block: int) -> str:
    """Return a text that says what a stuck block waits for."""
    kind, one, two, three = _need(run, block)
    if kind == "step":
        return instruction_name(run.program, one, two, three)
    if kind in {"signal", "chunks", "room"}:
        channel = run.program.channels[one]
        named = {
            "signal": f"a signal from rank {channel.source}",
            "chunks": f"a message from rank {channel.source}",
            "room": f"rank {channel.target} to receive what it has sent there",
        }
        return f"{named[kind]} ({channel.kind} channel {channel.number})"
    others = {"semaphore": f"semaphore {two}", "barrier": f"barrier {two}", "packets": "packets"}
    return others[kind]


def matching_faults(run: RunState) -> Iterator[ProgramFault]:
    """Yield differences between the ends of a channel: numbers and sizes of messages, numbers of signals."""
    sent: dict[int, list[tuple[int, tuple[int, int, int]]]] = {}
    received: dict[int, list[tuple[int, tuple[int, int, int]]]] = {}
    for rank, block, place, instruction in run.program.instructions():
        here = rank, block, place
        for ends, places in ((received, instruction.sources), (sent, instruction.targets)):
            for each in places:
                if isinstance(each, Message):
                    ends.setdefault(each.channel, []).append((each.count, here))
    for number in sorted(sent.keys() | received.keys()):
        yield from _of_messages(run, number, sent.get(number, []), received.get(number, []))
    yield from _of_signals(run)


def _of_messages(
    run: RunState,
    number: int,
    sent: list[tuple[int, tuple[int, int, int]]],
    received: list[tuple[int, tuple[int, int, int]]],
) -> Iterator[ProgramFault]:
    path = _path(run.program.channels[number])
    for (count, sender), (expected, receiver) in zip(sent, received, strict=False):
        if count != expected:
            other = instruction_name(run.program, *sender)
            message = f"receives {plural(expected, 'chunk')} over {path}; {other} sends {count} for it"
            yield fault_at("message-sizes", message, run.program, receiver)
            return
    if len(sent) > len(received):
        message = f"sends message {len(received)} over {path}; {_only(len(received))} received there"
        yield fault_at("unmatched-send", message, run.program, sent[len(received)][1])
    elif len(received) > len(sent):
        message = f"receives message {len(sent)} over {path}; {_only(len(sent))} sent there"
        yield fault_at("unmatched-receive", message, run.program, received[len(sent)][1])


def _path(channel: Channel) -> str:
    return f"{channel.kind} channel {channel.number} from rank {channel.source} to rank {channel.target}"


def _of_signals(run: RunState) -> Iterator[ProgramFault]:
    given: dict[int, list[tuple[int, int, int]]] = {}
    taken: dict[int, list[tuple[int, int, int]]] = {}
    for rank, block, place, instruction in run.program.instructions():
        for number in instruction.signals:
            given.setdefault(number, []).append((rank, block, place))
        for number in instruction.waits:
            taken.setdefault(number, []).append((rank, block, place))
    for number in sorted(given.keys() | taken.keys()):
        signals, waits = given.get(number, []), taken.get(number, [])
        path = _path(run.program.channels[number])
        if len(signals) > len(waits):
            message = f"sends signal {len(waits)} over {path}; {_only(len(waits))} waited for"
            yield fault_at("unmatched-signal", message, run.program, signals[len(waits)])
        elif len(waits) > len(signals):
            message = f"waits for signal {len(signals)} over {path}; {_only(len(signals))} sent"
            yield fault_at("unmatched-wait", message, run.program, waits[len(signals)])


def _only(count: int) -> str:
    return "none is" if count == 0 else "only 1 is" if count == 1 else f"only {count} are"
