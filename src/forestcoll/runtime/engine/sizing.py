"""Where each flow's part of the data begins, how long it is, and how it is cut into chunks, for data of one size.

Shares are exact fractions; elements are whole. Each boundary is the nearest multiple of a grain, so no flow is more
than a grain longer or shorter than its share. Small data have a coarse grain: one tree carries what would be a few
bytes each on many, as a message costs more than its bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TypeAlias

from forestcoll.base.errors import InputError
from forestcoll.runtime.engine.plan import Plan

MOST_CHUNK = 2**18
"""The most bytes of a chunk."""

_LEAST_CHUNK = 2**14
_CHUNKS_OF_FLOW = 8
_SMALL_BYTES, _SMALL_GRAIN, _GRAIN = 2**18, 2**12, 2**6
_CHUNK_SECONDS = Fraction(25, 10_000)


Range: TypeAlias = tuple[int, int, int]
"""Of a flow its first element, its length, and the length of its chunks."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A plan for data of one size.

    Attributes:
        count: the elements of all data.
        begins: of each member, in order, where its shard begins; nothing where the collective has no shards.
        counts: of each member how long its shard is.
        ranges: of each flow its first element, its length, and the length of its chunks.
    """

    count: int
    begins: tuple[int, ...]
    counts: tuple[int, ...]
    ranges: tuple[Range, ...]


def shard_counts(plan: Plan, count: int) -> tuple[int, ...]:
    """Return how many elements of `count` the shard of each member has.

    Raises:
        InputError: all shards are equal, and `count` is no multiple of the number of members.
    """
    shares = [plan.parts[member] for member in plan.members]
    if len(set(shares)) == 1 and count % len(shares):
        raise InputError(
            f"{plan.collective.value}: {count} elements cannot be shared equally by {len(shares)} members; "
            f"use a multiple of {len(shares)}, or pass counts"
        )
    ends = [int(share * count) for share in accumulate(shares)]
    return tuple(end - begin for begin, end in zip([0, *ends], ends, strict=False))


def layout_of(
    plan: Plan, count: int, counts: Sequence[int] | None, itemsize: int, rates: Sequence[int] | None = None
) -> Layout:
    """Return where the flows of `plan` lie in `count` elements.

    Args:
        plan: the plan.
        count: the elements of all data.
        counts: of each member the elements of its shard, where the collective has shards; None for those of the
            schedule.
        itemsize: the bytes of an element.
        rates: of each edge the bytes a second at which it is paced, or None.

    Raises:
        InputError: the shards do not add up, or a member has one but no tree.

    Example:
        >>> from forestcoll import generate, load_topology
        >>> from forestcoll.runtime.engine.plan import plan_of
        >>> layout_of(plan_of(generate(load_topology("ring:nodes=4"))), 8, None, 4).begins
        (0, 2, 4, 6)
    """
    grain = grain_of(count, itemsize)
    has_shards = plan.collective.has_shards
    sizes = _checked(plan, count, counts) if has_shards else ()
    begins = tuple(accumulate(sizes, initial=0))[:-1] if has_shards else ()
    parts = dict(zip(plan.members, zip(begins, sizes, strict=True), strict=True)) if has_shards else {}
    parts = parts or _cut_parts(plan, count, grain)
    return Layout(count, begins, sizes, ranges_of(plan, parts, grain, itemsize, rates))


def grain_of(count: int, itemsize: int) -> int:
    """Return the elements of which the boundaries between flows are multiples, for `count` elements in all."""
    return max(1, (_SMALL_GRAIN if count * itemsize <= _SMALL_BYTES else _GRAIN) // itemsize)


def ranges_of(
    plan: Plan, parts: Mapping[int, tuple[int, int]], grain: int, itemsize: int, rates: Sequence[int] | None
) -> tuple[Range, ...]:
    """Return where the flows of `plan` lie, if each part begins at an element and has a length.

    Args:
        plan: the plan.
        parts: for each part, its first element and its length.
        grain: as `grain_of` returns it.
        itemsize: the bytes of an element.
        rates: the bytes a second of each edge, if connections are paced.
    """
    most = min(MOST_CHUNK, min(plan.windows()) // 4)
    paced = _paced_chunks(plan, rates, most)
    ranges = []
    for place, flow in enumerate(plan.flows):
        begin, length = parts[flow.part]
        low, high = _cut(flow.low, length, grain), _cut(flow.high, length, grain)
        chunk = min(paced[place], max(_LEAST_CHUNK, -(-(high - low) * itemsize // _CHUNKS_OF_FLOW)))
        ranges.append((begin + low, high - low, max(1, (chunk + 63) // 64 * 64 // itemsize)))
    return tuple(ranges)


def _checked(plan: Plan, count: int, counts: Sequence[int] | None) -> tuple[int, ...]:
    if counts is None:
        return shard_counts(plan, count)
    name = plan.collective.value
    if len(counts) != len(plan.members) or any(each < 0 for each in counts) or sum(counts) != count:
        raise InputError(
            f"{name}: counts are {list(counts)}; expected {len(plan.members)} numbers from 0 that add up to {count}"
        )
    for member, size in zip(plan.members, counts, strict=True):
        if size and not plan.parts[member]:
            raise InputError(
                f"{name}: the shard of rank {member} has {size} elements, but no tree in the schedule; make it 0, or "
                "generate a schedule with these shards"
            )
    return tuple(counts)


def _cut_parts(plan: Plan, count: int, grain: int) -> dict[int, tuple[int, int]]:
    """Return where each part begins and how long it is, where parts are no shards."""
    ends = [_cut(share, count, grain) for share in accumulate(plan.parts.values())]
    return {part: (begin, end - begin) for part, begin, end in zip(plan.parts, [0, *ends], ends, strict=False)}


def _cut(fraction: Fraction, length: int, grain: int) -> int:
    """Return the multiple of `grain` nearest to `fraction` of `length`, and `length` itself where that is all."""
    if fraction == 1:
        return length
    unit = 2 * fraction.denominator * grain
    return min(length, (2 * fraction.numerator * length + fraction.denominator * grain) // unit * grain)


def _paced_chunks(plan: Plan, rates: Sequence[int] | None, most: int) -> list[int]:
    """Return of each flow the most bytes of a chunk: what its slowest connection sends in 2.5 ms, where it is paced."""
    chunks = [most] * len(plan.flows)
    if rates is None:
        return chunks
    of_lane: dict[object, int] = {}
    for edge, rate in zip(plan.edges, rates, strict=True):
        of_lane[edge.hop] = of_lane.get(edge.hop, 0) + rate
    for edge in plan.edges:
        paced = int(of_lane[edge.hop] * _CHUNK_SECONDS)
        chunks[edge.flow] = min(chunks[edge.flow], max(_LEAST_CHUNK // 4, paced))
    return chunks
