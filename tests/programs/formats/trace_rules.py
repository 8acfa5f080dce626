"""The plain check that traces fit together, with a fault for what is wrong; the tests compare `Fitting` with it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from forestcoll.base.errors import plural
from forestcoll.programs.formats.chakra.document import NodeType, Trace, TraceNode
from forestcoll.programs.model import ProgramFault


def traces_fault(traces: Sequence[Trace]) -> ProgramFault | None:
    """Return the first fault of the traces (`step` is the number of a node); None if they are right."""
    for trace in traces:
        for fault in _of_trace(trace, len(traces)):
            return fault
    return next(_unmatched(traces), None) or next(_stuck(traces), None)


def _of_trace(trace: Trace, ranks: int) -> Iterator[ProgramFault]:
    numbers = Counter(node.number for node in trace.nodes)
    for node in trace.nodes:
        if numbers[node.number] > 1:
            yield ProgramFault("node-twice", "two nodes have this id", trace.rank, None, node.number)
        for other in node.after:
            if other not in numbers:
                yield ProgramFault(
                    "node-unknown", f"waits for node {other}, which does not exist", trace.rank, None, node.number
                )
        if node.kind is not NodeType.COMPUTE and (node.peer == trace.rank or not 0 <= node.peer < ranks):
            message = f"its peer is rank {node.peer}; expected another of ranks 0 to {ranks - 1}"
            yield ProgramFault("node-peer", message, trace.rank, None, node.number)
        if node.kind is not NodeType.COMPUTE and node.size < 1:
            yield ProgramFault(
                "node-size", f"comm_size is {node.size}; expected 1 or more", trace.rank, None, node.number
            )


def _message(trace: Trace, node: TraceNode) -> tuple[int, int, int, int]:
    ends = (trace.rank, node.peer) if node.kind is NodeType.SEND else (node.peer, trace.rank)
    return (*ends, node.tag, node.size)


def _unmatched(traces: Sequence[Trace]) -> Iterator[ProgramFault]:
    sent = Counter(_message(trace, node) for trace in traces for node in trace.nodes if node.kind is NodeType.SEND)
    got = Counter(_message(trace, node) for trace in traces for node in trace.nodes if node.kind is NodeType.RECEIVE)
    for trace in traces:
        for node in trace.nodes:
            other = {NodeType.SEND: got, NodeType.RECEIVE: sent}.get(node.kind)
            if other is None:
                continue
            key = _message(trace, node)
            other[key] -= 1
            if other[key] < 0:
                does = "sends" if node.kind is NodeType.SEND else "receives"
                message = (
                    f"{does} {plural(node.size, 'byte')} with tag {node.tag}, and rank {node.peer} has no node for it"
                )
                yield ProgramFault("message-unmatched", message, trace.rank, None, node.number)


_Place: TypeAlias = tuple[int, int]
"""The numbers of a rank and of one of its nodes."""


def _stuck(traces: Sequence[Trace]) -> Iterator[ProgramFault]:
    """Yield nodes that are never done. Each node waits for those before it, and a receive also for its send."""
    wakes = _wakes(traces)
    needs = {(trace.rank, node.number): 0 for trace in traces for node in trace.nodes}
    for woken in wakes.values():
        for place in woken:
            needs[place] += 1
    ready = [place for place, need in needs.items() if not need]
    while ready:
        for place in wakes.get(ready.pop(), ()):
            needs[place] -= 1
            if not needs[place]:
                ready.append(place)
    for (rank, number), need in needs.items():
        if need:
            yield ProgramFault("deadlock", "waits forever: it waits for a node that waits for it", rank, None, number)


def _wakes(traces: Sequence[Trace]) -> dict[_Place, list[_Place]]:
    """Return, for each node, the nodes that wait for it; all messages must have both ends."""
    wakes: dict[_Place, list[_Place]] = {}
    senders: dict[tuple[int, int, int, int], list[_Place]] = {}
    for trace in traces:
        for node in trace.nodes:
            for other in node.after:
                wakes.setdefault((trace.rank, other), []).append((trace.rank, node.number))
            if node.kind is NodeType.SEND:
                senders.setdefault(_message(trace, node), []).append((trace.rank, node.number))
    for trace in traces:
        for node in trace.nodes:
            if node.kind is NodeType.RECEIVE:
                sender = senders[_message(trace, node)].pop(0)
                wakes.setdefault(sender, []).append((trace.rank, node.number))
    return wakes
