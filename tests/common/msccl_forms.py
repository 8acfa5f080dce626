"""Programs of MSCCL XML of the forms that others measured, and the measurements: `evidence/published/mi300x-msccl.csv`.

The programs are made here, and are not copies of those that were run. All are in place, on one box of eight GPUs.

| form | blocks of a rank |
| --- | --- |
| allgather, pairs | for each other rank, some that send a part of the own shard, then receive one of the other |
| allgather, ring | one for each channel; channels take turns with the shards, and blocks pass them on |
| allreduce, pairs | for each other rank, some that exchange parts, add up, and exchange sums; others only add up |
"""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as Xml

TABLE = Path(__file__).parents[2] / "evidence" / "published" / "mi300x-msccl.csv"

RANKS = 8


class Form(NamedTuple):
    """What a program looks like.

    Attributes:
        collective: `allgather` or `allreduce`.
        shape: `pairs` or `ring`.
        protocol: `Simple`, `LL` or `LL128`.
        channels: the channels of a ring that take turns; 1 for pairs.
        instances: the parts of each shard, which blocks of their own move.
    """

    collective: str
    shape: str
    protocol: str
    channels: int
    instances: int


def measured() -> dict[Form, dict[int, float | None]]:
    """Return for each form, by the size in bytes, the algbw that was measured in GB/s; None if the run hung."""
    lines = (line for line in TABLE.read_text().splitlines() if not line.startswith("#"))
    found: dict[Form, dict[int, float | None]] = {}
    for row in csv.DictReader(lines):
        counts = int(row["channels"]), int(row["instances"])
        form = Form(row["collective"], row["shape"], row["protocol"], *counts)
        found.setdefault(form, {})[int(row["size"])] = float(row["algbw"]) if row["algbw"] else None
    return found


def program_text(form: Form, most: int = 0) -> str:
    """Return the MSCCL XML of a form for at most so many bytes; 0 for any size."""
    reduces = form.collective == "allreduce"
    chunks = RANKS * form.instances * (RANKS if reduces else 1)
    scratch = (RANKS - 1) * RANKS * form.instances if reduces else 0
    algorithm = Xml.Element(
        "algo",
        name=" ".join(map(str, form)),
        proto=form.protocol,
        nchannels=str(form.channels * form.instances),
        nchunksperloop=str(chunks),
        ngpus=str(RANKS),
        coll=form.collective,
        inplace="1",
        outofplace="0",
        minBytes="0",
        maxBytes=str(most),
    )
    for rank in range(RANKS):
        sizes = {"i_chunks": chunks if reduces else 0, "o_chunks": 0 if reduces else chunks, "s_chunks": scratch}
        gpu = Xml.SubElement(algorithm, "gpu", {"id": str(rank)} | {name: str(size) for name, size in sizes.items()})
        for number, (sends, receives, channel, steps) in enumerate(_BLOCKS[form.collective, form.shape](form, rank)):
            ends = {"id": str(number), "send": str(sends), "recv": str(receives), "chan": str(channel)}
            block = Xml.SubElement(gpu, "tb", ends)
            for place, step in enumerate(steps):
                step.add_to(block, place)
    return Xml.tostring(algorithm, encoding="unicode")


class _Step(NamedTuple):
    """A step: its type, the buffer and offset of source and target, its chunks, and the (block, step) before it."""

    kind: str
    source: tuple[str, int] = ("i", -1)
    target: tuple[str, int] = ("o", -1)
    chunks: int = 0
    after: tuple[int, int] = (-1, -1)
    is_awaited: bool = False

    def add_to(self, block: Xml.Element, place: int) -> None:
        values = {
            "s": place,
            "type": self.kind,
            "srcbuf": self.source[0],
            "srcoff": self.source[1],
            "dstbuf": self.target[0],
            "dstoff": self.target[1],
            "cnt": self.chunks,
            "depid": self.after[0],
            "deps": self.after[1],
            "hasdep": int(self.is_awaited),
        }
        Xml.SubElement(block, "step", {name: str(value) for name, value in values.items()})


_Block = tuple[int, int, int, list[_Step]]
"""The ranks that a block sends to and receives from, -1 for none; its channel; and its steps."""


def _others(rank: int) -> list[int]:
    return [other for other in range(RANKS) if other != rank]


def _pairs(form: Form, rank: int) -> Iterator[_Block]:
    for other in _others(rank):
        for instance in range(form.instances):
            own, theirs = ("o", rank * form.instances + instance), ("o", other * form.instances + instance)
            yield other, other, instance, [_Step("s", own, own, 1), _Step("r", theirs, theirs, 1)]


def _ring(form: Form, rank: int) -> Iterator[_Block]:
    last = (rank + 1) % RANKS  # its shard comes from the other direction, and goes no further
    for instance in range(form.instances):
        for channel in range(form.channels):
            shards = [(rank - hops) % RANKS for hops in range(RANKS)]
            shards = [shard for shard in shards if shard % form.channels == channel]
            steps = []
            for shard in shards:
                place = "o", shard * form.instances + instance
                steps += [_Step("r", place, place, 1)] if shard != rank else []
                steps += [_Step("s", place, place, 1)] if shard != last else []
            sends = last if any(step.kind == "s" for step in steps) else -1
            receives = (rank - 1) % RANKS if any(step.kind == "r" for step in steps) else -1
            yield sends, receives, instance * form.channels + channel, steps


def _reducing_pairs(form: Form, rank: int) -> Iterator[_Block]:
    """Yield blocks. The part of a rank is one chunk for each rank; a block for `other` adds up chunk number `other`."""
    count = form.instances
    numbers = {rank: 0} | {other: (1 + place) * count for place, other in enumerate(_others(rank))}
    for other in numbers:
        for instance in range(count):
            begin, scratch = instance * RANKS * RANKS, instance * RANKS * (RANKS - 1)
            part = "i", begin + rank * RANKS
            exchange = [
                _Step("s", ("i", begin + other * RANKS), ("s", scratch + _place(other, rank) * RANKS), RANKS),
                _Step("r", part, ("s", scratch + _place(rank, other) * RANKS), RANKS, is_awaited=True),
            ]
            chunk = "i", part[1] + other
            received = [(numbers[each] + instance, 1) for each in _others(rank) if each != other]
            sums = [
                _Step("re", ("s", scratch + place * RANKS + other), chunk, 1, received[-1] if not place else (-1, -1))
                for place in range(RANKS - 1)
            ]
            sums[-1] = sums[-1]._replace(is_awaited=True)
            adding = [_Step("nop", after=each) for each in received[:-1]] + sums
            if other == rank:
                yield -1, -1, instance, adding
                continue
            added = [(numbers[rank] + instance, len(_others(rank)) + RANKS - 3)]
            added += [(numbers[each] + instance, 2 + len(adding) - 1) for each in _others(rank) if each != other]
            whole = "i", begin + other * RANKS
            share = [
                *(_Step("nop", after=each) for each in added[:-1]),
                _Step("s", part, part, RANKS, added[-1]),
                _Step("r", whole, whole, RANKS),
            ]
            yield other, other, instance, exchange + adding + share


def _place(rank: int, other: int) -> int:
    """Return the place of another rank among those that a rank receives from."""
    return other if other < rank else other - 1


_BLOCKS: dict[tuple[str, str], Callable[[Form, int], Iterator[_Block]]] = {
    ("allgather", "pairs"): _pairs,
    ("allgather", "ring"): _ring,
    ("allreduce", "pairs"): _reducing_pairs,
}
