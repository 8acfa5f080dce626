"""When hops begin and end if they share links: a run of all hops, from which a timetable is made.

A hop waits for the hops that bring its data, for a lane of its pair of ranks, and for a place on its links. When they
are free, the first of the waiting hops begins, in a given order. A hop first takes the overhead, in which it moves no
data; then it shares its links with all other hops that move data, as in the simulation of programs. Its data arrives
one latency after its end, which is `LATENCY` overheads. Times are parts of that for which the busiest link moves data.
Lanes of a pair open one overhead after each other, as in programs (`two_sided.py`). The native core does the run
(`native/simulation/hop_run.h`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from forestcoll.kernels.events import HopProgram, Rows, hop_program
from forestcoll.programs.lowering.chains import FloatArray, IntArray
from forestcoll.programs.lowering.pair_links import Pair

LATENCY = 5
"""The overheads between the end of a hop and the arrival of its last data, as by default in the simulation."""


@dataclass(frozen=True)
class Hops:
    """Hops between ranks, and what they wait for.

    Attributes:
        pairs: for each hop, the rank that sends and the rank that receives.
        sizes: for each hop, its amount of data.
        after: for each hop, the hops that wait for it.
    """

    pairs: Sequence[Pair]
    sizes: Sequence[int]
    after: Sequence[Sequence[int]]

    def backwards(self) -> "Hops":
        """Return the same hops if time ran backwards."""
        before: list[list[int]] = [[] for _ in self.after]
        for hop, listed in enumerate(self.after):
            for each in listed:
                before[each].append(hop)
        return replace(self, after=before)

    def only(self, numbers: Sequence[int]) -> "Hops":
        """Return some of the hops, as if there were no others."""
        places = {number: place for place, number in enumerate(numbers)}
        after = [[places[each] for each in self.after[number] if each in places] for number in numbers]
        return Hops([self.pairs[number] for number in numbers], [self.sizes[number] for number in numbers], after)

    @property
    def waits(self) -> list[int]:
        """For each hop, the number of hops that it waits for."""
        counts = [0] * len(self.after)
        for listed in self.after:
            for each in listed:
                counts[each] += 1
        return counts


@dataclass(frozen=True)
class Room:
    """How many hops may move at the same time.

    Attributes:
        lanes: for each pair of ranks, the most hops from one to the other.
        one_at_a_time: whether only one hop at a time moves on a link that several pairs share.
    """

    lanes: Mapping[Pair, int]
    one_at_a_time: bool = False


class Times(NamedTuple):
    """The begins and the ends of hops, and the lane of each."""

    begins: FloatArray
    ends: FloatArray
    lanes: IntArray

    @property
    def length(self) -> float:
        """The end of the last hop."""
        return float(self.ends.max())

    def backwards(self) -> "Times":
        """Return the times if time ran backwards."""
        return Times(self.length - self.ends, self.length - self.begins, self.lanes)


def hops_to_run(hops: Hops, times: Mapping[Pair, Mapping[int, float]], room: Room) -> HopProgram:
    """Return hops for `run_hops`.

    Args:
        hops: the hops.
        times: for each pair of ranks, the links, and the time of a chunk on each; the busiest link is busy for 1.
        room: how many hops may move at the same time.
    """
    pairs = sorted(room.lanes)
    numbers = {pair: number for number, pair in enumerate(pairs)}
    users = Counter(link for pair in pairs for link in times[pair])
    links = {link: place for place, link in enumerate(sorted(users))}
    unlimited = sum(room.lanes.values())
    return hop_program(
        {
            "pairs": np.array([numbers[pair] for pair in hops.pairs], dtype=np.int32),
            "sizes": np.array(hops.sizes, dtype=np.float64),
            "after": _rows(hops.after),
            "lanes": np.array([room.lanes[pair] for pair in pairs], dtype=np.int32),
            "places": np.array(
                [1 if room.one_at_a_time and users[link] > 1 else unlimited for link in links], dtype=np.int32
            ),
            "links": _rows([[links[link] for link in times[pair]] for pair in pairs]),
            "weights": np.array([time for pair in pairs for time in times[pair].values()], dtype=np.float64),
            "bandwidths": np.ones(len(links)),
        }
    )


SLOTS = 2
"""The messages that a connection of MSCCL holds."""


def run_hops(hops: HopProgram, overhead: float, *keys: FloatArray) -> Times:
    """Return when hops begin and end if those with the least of the first of `keys` begin first, then of the next."""
    order = np.lexsort(keys[::-1])
    places = np.empty(len(order), dtype=np.int32)
    places[order] = np.arange(len(order))
    begins, ends, lanes = hops.run(order=places, overhead=overhead, latency=LATENCY * overhead)
    return Times(begins, ends, lanes.astype(np.int64))


def replay(hops: HopProgram, overhead: float, times: Times, sums: IntArray) -> float:
    """Return the time of a program whose blocks do the hops of a timetable in the order of their ends.

    Args:
        hops: the hops.
        overhead: the time before a hop moves data.
        times: the timetable.
        sums: for each hop, the number of the sum that it is added to; -1 for none.
    """
    order = np.empty(len(times.ends), dtype=np.int32)
    order[np.argsort(times.ends, kind="stable")] = np.arange(len(order))
    lanes, added = times.lanes.astype(np.int32), sums.astype(np.int32)
    return hops.replay(order=order, lanes=lanes, sums=added, slots=SLOTS, overhead=overhead, latency=LATENCY * overhead)


def _rows(lists: Sequence[Sequence[int]]) -> Rows:
    starts = np.cumsum([0, *map(len, lists)], dtype=np.int32)
    return starts, np.fromiter(chain.from_iterable(lists), np.int32, int(starts[-1]))
