"""Where the data of flows lies in the buffers of each rank, for data of one size.

Each pair of a source and a target exchanges a number of elements of its own. A rank has what it sends in the order of
the targets, and gets its result in the order of the sources. The flows of a pair divide its elements. Ranks that relay
data keep it in staging memory, so for them a flow has a length but no place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TypeAlias

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.runtime.engine.plan import Plan
from forestcoll.runtime.engine.sizing import Range, grain_of, ranges_of

Counts: TypeAlias = tuple[tuple[int, ...], ...]
"""The elements that each member (row) sends to each other one (column), and to itself."""


@dataclass(frozen=True, slots=True)
class ExchangeLayout:
    """A plan of flows for data of one size.

    Attributes:
        count: the elements of M.
        counts: the elements of each pair of members.
        flows: for each flow, the positions of its source and its target among the members, and where it begins in the
            elements of the pair, its length, and the length of its chunks.
    """

    count: int
    counts: Counts
    flows: tuple[tuple[int, int, Range], ...]

    def sent(self, source: int) -> tuple[int, ...]:
        """Return where the elements for each target begin in what `source` sends, and their number at the end."""
        return tuple(accumulate(self.counts[source], initial=0))

    def received(self, target: int) -> tuple[int, ...]:
        """Return where the elements of each source begin in the result of `target`, and their number at the end."""
        return tuple(accumulate((row[target] for row in self.counts), initial=0))

    def rows(self, place: int | None) -> Iterator[Range]:
        """Yield the ranges of the flows for the member at this position; None for a rank that takes no part."""
        sent = () if place is None else self.sent(place)
        received = () if place is None else self.received(place)
        for source, target, (begin, length, chunk) in self.flows:
            if source == place:
                yield sent[target] + begin, length, chunk
            elif target == place:
                yield received[source] + begin, length, chunk
            else:
                yield 0, length, chunk


def all_to_all_counts(plan: Plan, count: int, counts: Sequence[Sequence[int]] | None) -> Counts:
    """Return the elements of each pair in an all-to-all of `count` elements, or `counts` if it is given.

    Raises:
        InputError: `counts` does not fit the schedule; or it is None, and the schedule has a demand matrix or `count`
            is no multiple of the number of members.
    """
    members = len(plan.members)
    if counts is not None:
        return _checked(plan, counts)
    if len(plan.parts) != members * (members - 1) or len(set(plan.parts.values())) > 1:
        raise InputError("all-to-all: the schedule has a demand matrix; pass counts, the elements of each pair")
    _check_divisible(plan, count)
    return ((count // members,) * members,) * members


def rooted_counts(plan: Plan, count: int, counts: Sequence[int] | None) -> Counts:
    """Return the elements of each pair in a gather or a scatter of `count` elements, or of shards of `counts`.

    Raises:
        InputError: `counts` does not fit the schedule; or it is None, and shards differ or `count` is no multiple of
            the number of members.
    """
    members, name = len(plan.members), plan.collective.value
    if counts is None:
        if len(plan.parts) != members - 1 or len(set(plan.parts.values())) > 1:
            raise InputError(f"{name}: the shards have different sizes; pass counts")
        _check_divisible(plan, count)
        counts = (count // members,) * members
    if len(counts) != members:
        raise InputError(f"{name}: {len(counts)} counts; pass one for each of the {members} members")
    root = plan.members.index(plan.root or 0)
    if plan.collective is Collective.GATHER:
        return _checked(plan, [[size * (place == root) for place in range(members)] for size in counts])
    return _checked(plan, [counts if place == root else (0,) * members for place in range(members)])


def counts_of_shares(plan: Plan, count: int) -> Counts:
    """Return the elements of each pair for `count` elements of M, each rounded down.

    The root of a gather or a scatter keeps the rest. In an all-to-all of equal parts, each rank keeps such a part; with
    a demand matrix, none.
    """
    members = range(len(plan.members))
    listed = [[int(_share(plan, source, target) * count) for target in members] for source in members]
    if plan.collective is not Collective.ALL_TO_ALL:
        root = plan.members.index(plan.root or 0)
        listed[root][root] = count - sum(map(sum, listed))
    elif len(set(plan.parts.values())) == 1:
        for rank, row in enumerate(listed):
            row[rank] = max(row)
    return tuple(map(tuple, listed))


def _share(plan: Plan, source: int, target: int) -> Fraction:
    return plan.parts.get(plan.members[source] * plan.size + plan.members[target], Fraction(0))


def _check_divisible(plan: Plan, count: int) -> None:
    if count % len(plan.members):
        raise InputError(
            f"{plan.collective.value}: {count} elements cannot be shared equally by {len(plan.members)} members; "
            f"use a multiple of {len(plan.members)}, or pass counts"
        )


def _checked(plan: Plan, counts: Sequence[Sequence[int]]) -> Counts:
    """Return `counts` as tuples.

    Raises:
        InputError: it is no matrix of the members, an entry is negative, or the schedule has no flow for a pair that
            exchanges data.
    """
    name, members = plan.collective.value, len(plan.members)
    if len(counts) != members or any(len(row) != members for row in counts):
        raise InputError(f"{name}: counts must have {members} rows of {members} numbers, one row for each member")
    for source, row in zip(plan.members, counts, strict=True):
        for target, count in zip(plan.members, row, strict=True):
            if count < 0:
                raise InputError(f"{name}: rank {source} is to send {count} elements to rank {target}; use 0 or more")
            if count and source != target and source * plan.size + target not in plan.parts:
                raise InputError(
                    f"{name}: rank {source} is to send {count} elements to rank {target}, but the schedule has no flow "
                    "for them; make it 0, or generate a schedule with this demand"
                )
    return tuple(tuple(map(int, row)) for row in counts)


def exchange_layout(plan: Plan, counts: Counts, itemsize: int, rates: Sequence[int] | None = None) -> ExchangeLayout:
    """Return where the flows of `plan` lie, for `counts` elements of each pair.

    M is the most elements that a rank sends, or the most that one receives if that is more.

    Args:
        plan: a plan of flows.
        counts: the elements of each pair.
        itemsize: the bytes of an element.
        rates: the bytes a second of each edge, if connections are paced.
    """
    count = max(*map(sum, counts), *map(sum, zip(*counts, strict=True)))
    places = {rank: place for place, rank in enumerate(plan.members)}
    ends = {part: (places[part // plan.size], places[part % plan.size]) for part in plan.parts}
    lengths = {part: (0, counts[source][target]) for part, (source, target) in ends.items()}
    ranges = ranges_of(plan, lengths, grain_of(count, itemsize), itemsize, rates)
    flows = tuple((*ends[flow.part], listed) for flow, listed in zip(plan.flows, ranges, strict=True))
    return ExchangeLayout(count, counts, flows)
