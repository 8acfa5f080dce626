"""TACOS: chunks spread greedily in time, and whenever a path is free, a node takes a chunk that it needs.

All events of a moment are handled together. Transfers that end deliver their chunks. Then all pairs of a chunk and a
node without it are visited in random order. Each takes, among the free paths from nodes that have the chunk, the one
over which it arrives first; ties are broken at random. A path is busy until the chunk has arrived.

Source: TACOS (MICRO 2024, arXiv:2304.05301), `src/synthesizer/synthesizer.cpp` of version 1.3, which is for direct
links. Here, a transfer through switches follows the widest of the shortest paths and holds the rate of its slowest link
on all its links. The random numbers have fixed seeds, and the best of three runs is kept, with 1, 4 and 8 chunks for
each node. Large networks have fewer chunks.

The algbw is that of the times of the algorithm: M over the time of the last arrival, without latencies. The paths of a
chunk are a tree, and the schedule has these trees. As trees that all work at the same time, they can be faster than the
algorithm, which is stated.

Where it loses: the number of chunks is finite, and the last chunks leave links idle. The choice is greedy: a slow link
takes a chunk that would arrive earlier over another path.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from math import lcm
from random import Random

from forestcoll.algorithms.baseline import BaselineResult, Family, baseline
from forestcoll.algorithms.forests import Edge, LogicalTree, Part, forest, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.base.exact import as_float
from forestcoll.demand.collective import UNROOTED

MOST_NODES = 64
"""The most compute nodes: the time of the search grows with the square of their number, times the number of chunks."""

CHUNKS = (1, 4, 8)
"""The numbers of chunks of each node that are tried."""

SEEDS = (13, 14, 15)
"""The seeds of the runs for each number of chunks.

Runs differ by up to a fifth. On two boxes of DGX A100, these have the values that are typical for the best of three
runs: 200, 228.57 and 266.67 GB/s with 1, 4 and 8 chunks.
"""

_MOST_PAIRS = 2**14
"""The most pairs of a chunk and a node with which more than one chunk is tried."""


@baseline(
    "tacos",
    Family.TREES,
    UNROOTED,
    title="TACOS",
    summary="A greedy schedule in steps of time, the best of several random orders",
    by_size=False,
)
def tacos(problem: Problem) -> BaselineResult:
    """Return the best schedule of TACOS for a problem.

    Raises:
        DoesNotApplyError: there are too many compute nodes, or chunks cannot reach all of them.
    """
    size = len(problem.members)
    if size > MOST_NODES:
        raise DoesNotApplyError(f"the search takes too long for more than {MOST_NODES} compute nodes")
    tried = [chunks for chunks in CHUNKS if chunks == 1 or chunks * size * size <= _MOST_PAIRS]
    return max((synthesized(problem, chunks) for chunks in tried), key=lambda made: made.algbw or 0)


def synthesized(problem: Problem, chunks: int, seeds: Sequence[int] = SEEDS) -> BaselineResult:
    """Return the best of some runs with one number of chunks for each node.

    Args:
        problem: the problem.
        chunks: the number of equal chunks of the shard of each node.
        seeds: the seeds of the runs.

    Raises:
        DoesNotApplyError: chunks cannot reach all compute nodes over paths through switches.
    """
    times: list[Fraction] = []

    def allgather(each: Problem) -> Part:
        paths = _Paths(each)
        time, trees = min((_Run(paths, chunks, seed).result() for seed in seeds), key=lambda found: found[0])
        times.append(time)
        return forest(each, trees)

    schedule = schedule_of(problem, allgather)
    algbw = 1 / sum(times * (len(schedule.phases) // len(times)), Fraction(0))
    note = f"the algbw is that of the times of TACOS with {chunks} chunk{'s' * (chunks > 1)} for each node"
    pipelined = schedule.algbw or algbw
    unit = problem.topology.bandwidth_unit
    more = f"; the loads of its trees would allow {as_float(pipelined):.6g} {unit}" if pipelined > algbw else ""
    return BaselineResult(schedule, algbw, note + more)


class _Paths:
    """The paths between members, and the links that they use.

    Attributes:
        problem: the problem.
        links: for each pair of places of members with a path, the links of the path.
        rates: for each such pair, the bandwidth of the slowest link, in integers.
        sources: for each place, the places with a path to it as bits, by the rate, the highest first.
        using: for each link, the pairs whose path uses it.
        capacities: the bandwidth of each link, in the same unit as the rates.
        unit: the bandwidth of the network that is 1 here.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        members = problem.members
        bandwidths = problem.routes.bandwidths
        scale = lcm(*(bandwidth.denominator for bandwidth in bandwidths.values()))
        self.unit = Fraction(1, scale)
        self.capacities = {link: int(bandwidth * scale) for link, bandwidth in bandwidths.items()}
        self.links: dict[tuple[int, int], tuple[tuple[int, int], ...]] = {}
        self.using: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for source in range(len(members)):
            for target in range(len(members)):
                route = problem.routes.find(members[source], members[target])
                if route is not None:
                    self.links[source, target] = tuple(pairwise(route))
                    for link in self.links[source, target]:
                        self.using.setdefault(link, []).append((source, target))
        self.rates = {pair: min(self.capacities[link] for link in links) for pair, links in self.links.items()}
        self.sources: list[list[tuple[int, int]]] = [self._by_rate(target) for target in range(len(members))]

    def _by_rate(self, target: int) -> list[tuple[int, int]]:
        bits: dict[int, int] = {}
        for (source, other), rate in self.rates.items():
            if other == target:
                bits[rate] = bits.get(rate, 0) | 1 << source
        return sorted(bits.items(), reverse=True)


@dataclass(frozen=True, slots=True)
class _Transfer:
    """A chunk on its way between two places."""

    chunk: int
    source: int
    target: int


class _Run:
    """One run of the algorithm with one seed. Times are integers in units of the least common multiple of all rates."""

    def __init__(self, paths: _Paths, chunks: int, seed: int) -> None:
        self._paths = paths
        self._size = len(paths.problem.members)
        self._chunks = chunks
        self._random = Random(seed)  # noqa: S311 (not for security: the same seed gives the same schedule)
        self._second = lcm(*paths.rates.values()) if paths.rates else 1
        self._holders = [1 << chunk // chunks for chunk in range(self._size * chunks)]
        self._missing = [
            (chunk, target)
            for chunk in range(self._size * chunks)
            for target in range(self._size)
            if target != chunk // chunks
        ]
        self._left = dict(paths.capacities)
        self._free = [sum(bits for _, bits in paths.sources[target]) for target in range(self._size)]
        self._waiting: list[tuple[int, int, _Transfer]] = []
        self._edges: list[list[Edge]] = [[] for _ in self._holders]
        self._started = 0

    def result(self) -> tuple[Fraction, list[LogicalTree]]:
        """Return the time of the algorithm for one unit of M, and its trees."""
        now = 0
        self._assign(now)
        while self._waiting:
            now = self._waiting[0][0]
            while self._waiting and self._waiting[0][0] == now:
                self._deliver(heappop(self._waiting)[2])
            self._assign(now)
        if self._missing:
            raise DoesNotApplyError("some compute nodes cannot send to all others through switches and members")
        share = Fraction(1, len(self._holders))
        return Fraction(now, self._second) * share / self._paths.unit, list(self._trees(share))

    def _trees(self, share: Fraction) -> Iterator[LogicalTree]:
        members = self._paths.problem.members
        for chunk, edges in enumerate(self._edges):
            yield LogicalTree(members[chunk // self._chunks], share, tuple(edges))

    def _deliver(self, transfer: _Transfer) -> None:
        members = self._paths.problem.members
        self._holders[transfer.chunk] |= 1 << transfer.target
        self._edges[transfer.chunk].append((members[transfer.source], members[transfer.target]))
        self._hold(transfer, -1)

    def _hold(self, transfer: _Transfer, sign: int) -> None:
        """Take the rate of a transfer from all its links, or give it back, and find which paths are free then."""
        pair = transfer.source, transfer.target
        links = self._paths.links[pair]
        for link in links:
            self._left[link] -= sign * self._paths.rates[pair]
        for link in links:
            for source, target in self._paths.using[link]:
                bit = 1 << source
                is_free = all(
                    self._left[each] >= self._paths.rates[source, target] for each in self._paths.links[source, target]
                )
                self._free[target] = self._free[target] | bit if is_free else self._free[target] & ~bit

    def _assign(self, now: int) -> None:
        """Let the missing pairs take free paths, in random order."""
        able = [
            place for place, (chunk, target) in enumerate(self._missing) if self._holders[chunk] & self._free[target]
        ]
        self._random.shuffle(able)
        taken = set()
        for place in able:
            chunk, target = self._missing[place]
            usable = self._holders[chunk] & self._free[target]
            if usable:
                self._start(now, chunk, self._best_source(usable, target), target)
                taken.add(place)
        if taken:
            self._missing = [pair for place, pair in enumerate(self._missing) if place not in taken]

    def _best_source(self, usable: int, target: int) -> int:
        """Return one of the usable sources from which a chunk arrives first."""
        fastest = next(bits & usable for _, bits in self._paths.sources[target] if bits & usable)
        return self._random.choice(_places(fastest))

    def _start(self, now: int, chunk: int, source: int, target: int) -> None:
        transfer = _Transfer(chunk, source, target)
        self._hold(transfer, 1)
        end = now + self._second // self._paths.rates[source, target]
        self._started += 1
        heappush(self._waiting, (end, self._started, transfer))


def _places(bits: int) -> Sequence[int]:
    """Return the places of the bits of an integer."""
    return [place for place in range(bits.bit_length()) if bits >> place & 1]
