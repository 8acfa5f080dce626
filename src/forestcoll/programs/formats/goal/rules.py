"""Checks that the operations of a GOAL schedule fit together, and that the data that its comments state fits them.

LogGOPSim checks none of this. An operation that waits forever is left out without a message, a message of 0 bytes takes
the time of 2^64 bytes, and the sizes of a send and of its receive may differ. A fault has no block, and its step is the
place of the operation in its rank, from 0.
"""

from bisect import bisect_right
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import accumulate

from forestcoll.base.errors import plural
from forestcoll.programs.formats.goal.document import Goal, Operation, OperationKind
from forestcoll.programs.model import ProgramFault

ANY_TAG = 2**32 - 1
"""The number that LogGOPSim uses for any tag; tags are below."""

_Place = tuple[int, int]
"""The numbers of a rank and of one of its operations."""


def goal_fault(goal: Goal) -> ProgramFault | None:
    """Return the first fault; None if every operation can be done and data that is stated fits the operations.

    Messages may wait for their receiver in a buffer; `goal_remarks` says if they must.
    """
    for check in (_operations, _unmatched, _data):
        for fault in check(goal):
            return fault
    stuck = _stuck(goal, rendezvous=False)
    if stuck is None:
        return None
    return _fault("deadlock", "waits forever: it waits for an operation that waits for it", stuck)


def goal_remarks(goal: Goal) -> tuple[str, ...]:
    """Return what a reader of a file without a fault should know."""
    remarks = []
    if not goal.states_data:
        remarks.append("the file does not say which data it moves: only messages and dependencies were checked")
    if (stuck := _stuck(goal, rendezvous=True)) is not None:
        remarks.append(
            f"rank {stuck[0]}, step {stuck[1]} waits forever if a send waits for its receive, as messages above the "
            "limit S of LogGOPSim do"
        )
    return tuple(remarks)


def _fault(rule: str, message: str, place: _Place) -> ProgramFault:
    return ProgramFault(rule, message, place[0], None, place[1])


def _listed(goal: Goal) -> Iterator[tuple[_Place, Operation]]:
    for rank, operations in enumerate(goal.ranks):
        for place, operation in enumerate(operations):
            yield (rank, place), operation


def _operations(goal: Goal) -> Iterator[ProgramFault]:
    ranks = len(goal.ranks)
    for place, each in _listed(goal):
        if each.kind is OperationKind.COMPUTE:
            continue
        if each.peer == place[0] or each.peer >= ranks:
            message = f"its peer is rank {each.peer}; expected another of ranks 0 to {ranks - 1}"
            yield _fault("operation-peer", message, place)
        if each.size < 1:
            yield _fault("operation-size", "the message has 0 bytes; expected 1 or more", place)
        if each.tag >= ANY_TAG:
            yield _fault("operation-tag", f"the tag is {each.tag}; expected less than {ANY_TAG}", place)


def _ends(goal: Goal, kind: OperationKind) -> dict[tuple[int, int, int], list[_Place]]:
    """Return the sends or the receives by source, target and tag, in the order of the file."""
    found: dict[tuple[int, int, int], list[_Place]] = {}
    for place, each in _listed(goal):
        if each.kind is kind:
            ends = (place[0], each.peer) if kind is OperationKind.SEND else (each.peer, place[0])
            found.setdefault((*ends, each.tag), []).append(place)
    return found


def _unmatched(goal: Goal) -> Iterator[ProgramFault]:
    sends, receives = _ends(goal, OperationKind.SEND), _ends(goal, OperationKind.RECEIVE)
    for own, others, does in ((sends, receives, "receive"), (receives, sends, "send")):
        for (source, target, tag), places in own.items():
            matched = len(others.get((source, target, tag), ()))
            if len(places) > matched:
                message = f"no {does} fits the message from rank {source} to rank {target} with tag {tag}"
                yield _fault("message-unmatched", message, places[matched])
    for key, places in sends.items():
        for send, receive in zip(places, receives[key], strict=True):
            sizes = [goal.ranks[rank][place].size for rank, place in (send, receive)]
            if sizes[0] != sizes[1]:
                yield _fault("message-size", f"sends {plural(sizes[0], 'byte')}; its receive has {sizes[1]}", send)


def _data(goal: Goal) -> Iterator[ProgramFault]:
    """Yield operations whose data does not fit them; data matters only if all operations state it."""
    header = goal.header
    if header is None or not goal.states_data:
        return
    if header.shards and len(header.shards) != len(goal.ranks):
        yield ProgramFault("header-shards", f"{len(header.shards)} shards are given; there are {len(goal.ranks)} ranks")
    for place, each in _listed(goal):
        if not _fits(each):
            yield _fault("data-shape", f"a {each.kind.value} does not read and write such data", place)
            continue
        counts = {span.count for spans in each.data or () for span in spans}
        if len(counts) > 1:
            yield _fault("data-count", f"its spans have {sorted(counts)} chunks; expected one number", place)
        expected = header.bytes_of(max(counts))
        if each.kind is not OperationKind.COMPUTE and each.size != expected:
            chunks = plural(max(counts), "chunk")
            yield _fault("data-size", f"has {plural(each.size, 'byte')}; its {chunks} have {expected}", place)


def _fits(operation: Operation) -> bool:
    """Return whether an operation reads and writes as many spans as its kind can."""
    sources, targets = (len(spans) for spans in operation.data or ((), ()))
    if operation.kind is OperationKind.SEND:
        return (sources, targets) == (1, 0)
    return targets > 0 and (sources > 0) == (operation.kind is OperationKind.COMPUTE)


def _stuck(goal: Goal, *, rendezvous: bool) -> _Place | None:
    """Return an operation that is never done, or None.

    Each operation has two events: it starts, after what it waits for; and it is done. A receive is done after its send
    starts. If messages are not buffered (`rendezvous`), a send is done after its receive starts.
    """
    begins = list(accumulate((len(operations) for operations in goal.ranks), initial=0))
    waits: dict[int, list[int]] = {}  # for each event, the events before it; operation n starts at 2n, ends at 2n + 1

    def event(place: _Place, *, is_done: bool) -> int:
        return 2 * (begins[place[0]] + place[1]) + is_done

    for (rank, place), each in _listed(goal):
        start = event((rank, place), is_done=False)
        waits[start] = [event((rank, other), is_done=True) for other in each.after]
        waits[start] += [event((rank, other), is_done=False) for other in each.after_start]
        waits[start + 1] = [start]
    receives = _ends(goal, OperationKind.RECEIVE)
    for key, places in _ends(goal, OperationKind.SEND).items():
        for send, receive in zip(places, receives[key], strict=True):
            waits[event(receive, is_done=True)].append(event(send, is_done=False))
            if rendezvous:
                waits[event(send, is_done=True)].append(event(receive, is_done=False))
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        number = min(error.args[1]) // 2
        rank = bisect_right(begins, number) - 1
        return rank, number - begins[rank]
    return None
