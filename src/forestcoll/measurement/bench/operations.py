"""One operation of a row: the arrays of this rank, how it is run, and what must come out of it."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import cast

import numpy as np

from forestcoll.demand.collective import Collective
from forestcoll.measurement.bench.patterns import combined, empty, factor_of, fill, gathered, values_of, wrong_places
from forestcoll.runtime.communicator import Communicator
from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp
from forestcoll.runtime.engine.exchange import Counts, counts_of_shares
from forestcoll.runtime.engine.plan import Plan
from forestcoll.runtime.engine.sizing import shard_counts


@dataclass(frozen=True)
class Case:
    """What all ranks do in one row.

    Attributes:
        plan: of the schedule.
        count: the elements of all data.
        element: their type.
        op: how vectors are combined.
    """

    plan: Plan
    count: int
    element: ElementType
    op: ReduceOp

    @property
    def members(self) -> int:
        """The number of ranks that take part."""
        return len(self.plan.members)

    @property
    def counts(self) -> tuple[int, ...]:
        """The elements of each member's shard."""
        return shard_counts(self.plan, self.count)

    @property
    def exchanged(self) -> Counts:
        """The elements that each member sends to each other one, in an all-to-all, a gather or a scatter."""
        return counts_of_shares(self.plan, self.count)

    @property
    def is_even(self) -> bool:
        """Whether all members have shards of one size, or all pairs of members exchange as much."""
        if self.plan.collective is Collective.ALL_TO_ALL:
            return len({count for row in self.exchanged for count in row}) == 1
        if self.plan.collective.is_personalised:
            return len(set(_shards(self.plan, self.exchanged))) == 1
        return not self.plan.collective.has_shards or len(set(self.counts)) == 1

    @property
    def size(self) -> int:
        """The bytes of all data."""
        return self.count * self.element.itemsize


def case_of(plan: Plan, size: int, element: ElementType, op: ReduceOp) -> Case:
    """Return the case whose data have `size` bytes, or a little less where shards are equal; one element at least."""
    count = max(1, size // element.itemsize)
    if _is_divided_evenly(plan):
        members = len(plan.members)
        count = max(members, count // members * members)
    return Case(plan, count, element, op)


def _is_divided_evenly(plan: Plan) -> bool:
    members = len(plan.members)
    if plan.collective.is_personalised:
        pairs = members * (members - 1) if plan.collective is Collective.ALL_TO_ALL else members - 1
        return len(plan.parts) == pairs and len(set(plan.parts.values())) == 1
    return plan.collective.has_shards and len({plan.parts[member] for member in plan.members}) == 1


def _shards(plan: Plan, counts: Counts) -> tuple[int, ...]:
    """Return the shard of each member in a gather or a scatter, by the elements that pairs exchange."""
    root = plan.members.index(plan.root or 0)
    return tuple(row[root] for row in counts) if plan.collective is Collective.GATHER else counts[root]


class RankOperation:
    """One rank's part in a case.

    Args:
        case: what all ranks do.
        rank: of the caller.
        in_place: whether the result goes where the data was.
    """

    def __init__(self, case: Case, rank: int, *, in_place: bool) -> None:
        self.case, self._rank = case, rank
        self.takes_part = rank in case.plan.members
        self._place = case.plan.members.index(rank) if self.takes_part else 0
        self._is_root = rank == case.plan.root
        self.source, self.out = self._arrays(in_place=in_place) if self.takes_part else (empty(case.element, 0),) * 2

    def _arrays(self, *, in_place: bool) -> tuple[AnyArray, AnyArray]:
        case, collective = self.case, self.case.plan.collective
        if collective.is_personalised:
            sent, received = self._exchanged()
            return empty(case.element, sent[self._place][-1]), empty(case.element, received)
        whole = empty(case.element, case.count)
        if not collective.has_shards:
            return whole, whole if in_place else empty(case.element, case.count)
        begin, length = self._shard()
        part = whole[begin : begin + length] if in_place else empty(case.element, length)
        return (part, whole) if collective is Collective.ALLGATHER else (whole, part)

    def _shard(self) -> tuple[int, int]:
        counts = self.case.counts
        return sum(counts[: self._place]), counts[self._place]

    def _exchanged(self) -> tuple[list[list[int]], int]:
        """Return where the parts that each member sends begin and end, and how many elements this rank receives."""
        counts = self.case.exchanged
        return [list(accumulate(row, initial=0)) for row in counts], sum(row[self._place] for row in counts)

    def prepare(self) -> None:
        """Write this rank's data."""
        if not self.takes_part:
            return
        case, place = self.case, self._place
        if self.case.plan.collective is Collective.BROADCAST:
            place = 0  # the root's data is that of member 0
            if not self._is_root:
                self.source[:] = 0
        if self.out is not self.source:
            self.out[:] = 0
        if case.plan.collective is not Collective.BROADCAST or self._is_root:
            fill(self.source, values_of(place, case.members, case.element, case.op), case.element)

    def call(self, group: Communicator) -> Callable[[], object]:
        """Return a function that runs the operation to its end."""
        case, collective = self.case, self.case.plan.collective
        if not self.takes_part:
            text, root, counts = case.element.text, case.plan.root, self._counts()
            return lambda: group.relay(collective, case.count, text, op=case.op, root=root, counts=counts).wait()
        if collective.is_personalised:
            return self._call_of_flows(group)
        dtype = "bf16" if case.element is ElementType.BF16 else None
        factor = factor_of(self._place) if case.op is ReduceOp.PREMUL_SUM else 1.0
        source, out, op, root = self.source, self.out, case.op, case.plan.root or 0
        calls: dict[Collective, Callable[[], object]] = {
            Collective.ALLGATHER: lambda: group.allgather(source, out, dtype=dtype).wait(),
            Collective.REDUCE_SCATTER: lambda: group.reduce_scatter(
                source, out, op=op, factor=factor, dtype=dtype
            ).wait(),
            Collective.ALLREDUCE: lambda: group.allreduce(source, out, op=op, factor=factor, dtype=dtype).wait(),
            Collective.BROADCAST: lambda: group.broadcast(source, out, root=root, dtype=dtype).wait(),
            Collective.REDUCE: lambda: group.reduce(
                source, out if self._is_root else None, root=root, op=op, factor=factor, dtype=dtype
            ).wait(),
        }
        return calls[collective]

    def _counts(self) -> Counts | tuple[int, ...] | None:
        """Return the counts that ranks pass to an operation; None for those of the schedule."""
        case = self.case
        if not case.plan.collective.is_personalised or case.is_even:
            return None
        return case.exchanged if case.plan.collective is Collective.ALL_TO_ALL else _shards(case.plan, case.exchanged)

    def _call_of_flows(self, group: Communicator) -> Callable[[], object]:
        case, source, out, counts = self.case, self.source, self.out, self._counts()
        dtype = "bf16" if case.element is ElementType.BF16 else None
        if case.plan.collective is Collective.ALL_TO_ALL:
            pairs = cast("Counts | None", counts)
            return lambda: group.all_to_all(source, out, counts=pairs, dtype=dtype).wait()
        shards, root = cast("tuple[int, ...] | None", counts), case.plan.root or 0
        if case.plan.collective is Collective.GATHER:
            kept = out if self._is_root else None
            return lambda: group.gather(source, kept, root=root, counts=shards, dtype=dtype).wait()
        sent = source if self._is_root else empty(case.element, case.count)
        return lambda: group.scatter(sent, out, root=root, counts=shards, dtype=dtype).wait()

    def wrong(self) -> int:
        """Return how many elements of this rank's result differ from what they must be."""
        if not self.takes_part or (self.case.plan.collective is Collective.REDUCE and not self._is_root):
            return 0
        case = self.case
        return wrong_places(self.out, self._expected(), case.element, self._checked_op())

    def _checked_op(self) -> ReduceOp:
        return self.case.op if self.case.plan.collective.reduces else ReduceOp.SUM

    def _expected(self) -> AnyArray:
        case = self.case
        if case.plan.collective.is_personalised:
            return self._expected_of_flows()
        if case.plan.collective is Collective.ALLGATHER:
            return gathered(case.counts, case.element)
        out = np.empty_like(self.out)
        if case.plan.collective is Collective.BROADCAST:
            fill(out, values_of(0, case.members, case.element, case.op), case.element)
            return out
        begin = self._shard()[0] if case.plan.collective is Collective.REDUCE_SCATTER else 0
        fill(out, combined(case.members, case.element, case.op), case.element, begin)
        return out

    def _expected_of_flows(self) -> AnyArray:
        """Return the parts of all members for this rank, each from its place in what the member sends."""
        case, out, begin = self.case, np.empty_like(self.out), 0
        for member, sent in enumerate(self._exchanged()[0]):
            length = sent[self._place + 1] - sent[self._place]
            values = values_of(member, case.members, case.element, case.op)
            fill(out[begin : begin + length], values, case.element, sent[self._place])
            begin += length
        return out
