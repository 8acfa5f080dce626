"""Stolen hops: trees of single chunks whose hops move to links that would be idle in a timetable.

In a timetable (`timetable.py`), links are idle at the beginning, until data of other ranks arrives, and at the end,
while the last data is still sent on. The trees decide this, because each link waits for the hops of its trees. So an
idle link *steals* hops, as an idle processor steals work. Chunks move in the order of a timetable. If a link from s to
v is idle, and s has a chunk that v has not begun to receive, s sends this chunk at once,

- if it arrives earlier than in the timetable, and
- if the link that the hop to v was planned on has as much left to do, or little less (`SLACK`).

If v was to receive the chunk from u, and u has not begun to receive it either, v may also take the place of u: u then
receives the chunk from v, and the hop to u is the one that is replaced. So the chunk still enters a pair of neighbours
once, which matters if the links into the pair are the bottleneck.

A chunk still goes along a tree: each rank receives it once, from a rank that has it. A timetable of the new trees is
the plan of the next round, and the fastest trees of all rounds are returned. They load links less equally than those of
an optimum, so they are for data that is so small that the beginning and the end matter.

For a reduce, time runs backwards. The two phases of an allreduce are changed one by one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush

from forestcoll.demand.collective import PhaseOp
from forestcoll.programs.lowering.chains import Edges
from forestcoll.programs.lowering.grid import grid_for, with_shares
from forestcoll.programs.lowering.hop_run import LATENCY
from forestcoll.programs.lowering.options import Options
from forestcoll.programs.lowering.pair_links import Pair, PairLinks
from forestcoll.programs.lowering.rank_trees import RankTree, rank_trees_of
from forestcoll.programs.lowering.timetable import timetables
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import Phase, TreeSchedule

ROUNDS = 3
"""The number of timetables from which hops are stolen, one after the other."""

SLACK = 0.05
"""How much less than the link that steals a hop the link may have left to do that it was planned on: a part of what the
busiest link has to do at the beginning."""


def with_stolen_hops(schedule: TreeSchedule, chunks: int, lanes: int, overhead: float) -> TreeSchedule:
    """Return a schedule of the same demand whose trees carry whole chunks, and whose timetable is shorter.

    It is the given schedule, with shares of whole chunks, if stolen hops do not help, or if its routes begin or end on
    switches.

    Args:
        schedule: a schedule that `verify` accepts.
        chunks: the number of chunks.
        lanes: the lanes from one rank to another, as in `Options`.
        overhead: the overhead of a message, as a part of the time in which the busiest link moves all data.

    Raises:
        NoSolutionError: the shards are no whole numbers of chunks.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.verification import verify
        >>> schedule = generate("mi250:boxes=1")
        >>> stolen = with_stolen_hops(schedule, 64, lanes=1, overhead=0.02)
        >>> verify(stolen).ok, len(schedule.phases[0]), len(stolen.phases[0])
        (True, 30, 60)
    """
    whole = expanded(schedule)
    whole = with_shares(whole, grid_for(whole, chunks))
    members = set(whole.members)
    if not all({route[0], route[-1]} <= members for route in whole.routes):
        return whole
    cost = overhead * chunks / float(whole.algbw)
    phases = tuple(_fastest(whole, phase, chunks, lanes, cost) for phase in whole.phases)
    return _in_chunks(replace(whole, phases=phases), chunks)


def _in_chunks(schedule: TreeSchedule, chunks: int) -> TreeSchedule:
    """Return a schedule with shares of whole chunks; trees may lose all chunks if links are less busy then."""
    return with_shares(schedule, grid_for(schedule, chunks))


def _fastest(whole: TreeSchedule, phase: Phase, chunks: int, lanes: int, overhead: float) -> Phase:
    """Return the fastest phase of all rounds, the first of which begins with a phase of a schedule."""
    best = plan = _Plan.of(whole, phase, chunks, lanes, overhead)
    for _ in range(ROUNDS):
        stealing = _Stealing(plan)
        stealing.run()
        plan = _Plan.of(whole, _phase_of(whole, phase.op, plan, stealing.parents), chunks, lanes, overhead)
        best = min(best, plan, key=lambda each: each.seconds)
    return best.phase


@dataclass(frozen=True)
class _Plan:
    """Trees of single chunks of a phase, and their timetable; time runs backwards for a reduce.

    In a pair of ranks, the one that is nearer the root comes first. Times are in the unit of `PairLinks`.

    Attributes:
        phase: the phase.
        flows: for each chunk, its tree.
        begins: for each chunk and rank that receives it, when the hop begins.
        seconds: the time of a program that keeps the order of the timetable.
        takes: for each pair of ranks, the time of a hop on each of its links.
        overhead: the overhead of a message.
    """

    phase: Phase
    flows: Sequence[RankTree]
    begins: Mapping[tuple[int, int], float]
    seconds: float
    takes: Mapping[Pair, Mapping[int, float]]
    overhead: float

    def time(self, pair: Pair) -> float:
        """Return the time of a hop on the slowest link of a pair of ranks."""
        return max(self.takes[pair].values())

    def duration(self, pair: Pair) -> float:
        """Return the time between the beginning of a hop and the arrival of its data, if it shares its links once."""
        return (2 + LATENCY) * self.overhead + 2 * self.time(pair)

    @cached_property
    def arrivals(self) -> Mapping[tuple[int, int], float]:
        """For each chunk and rank that receives it, when it arrives."""
        return {
            (chunk, lower): self.begins[chunk, lower] + self.duration((upper, lower))
            for chunk, flow in enumerate(self.flows)
            for upper, lower, _ in flow.edges()
        }

    @staticmethod
    def of(whole: TreeSchedule, phase: Phase, chunks: int, lanes: int, overhead: float) -> "_Plan":
        """Return the plan of a phase of a schedule."""
        alone = _in_chunks(replace(whole, phases=(phase,)), chunks)
        flows = rank_trees_of(alone, grid_for(alone, chunks), Options(chunks=chunks, lanes=lanes, step_chunks=1), 1)
        edges, links = Edges.of(flows), PairLinks.of(alone)
        busiest = chunks / float(alone.algbw)
        times, seconds = timetables(flows, edges, links, lanes, overhead / busiest)[0]
        is_backwards = phase.op is PhaseOp.REDUCE
        begins = (times.backwards() if is_backwards else times).begins * busiest
        hops = zip(edges.flow.tolist(), edges.lower.tolist(), strict=True)
        return _Plan(
            phase=phase,
            flows=flows,
            begins=dict(zip(hops, begins.tolist(), strict=True)),
            seconds=seconds * busiest,
            takes={pair[::-1] if is_backwards else pair: taken for pair, taken in links.times.items()},
            overhead=overhead,
        )


def _phase_of(schedule: TreeSchedule, op: PhaseOp, plan: _Plan, parents: Sequence[Mapping[int, int]]) -> Phase:
    """Return the phase in which each chunk of a plan goes along a tree with these parents."""
    numbers: dict[Pair, int] = {}
    ranks = {node: rank for rank, node in enumerate(schedule.members)}
    for number, route in enumerate(schedule.routes):
        ends = ranks[route[0]], ranks[route[-1]]
        numbers.setdefault(ends if op is PhaseOp.BROADCAST else ends[::-1], number)
    trees: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for flow, parent in zip(plan.flows, parents, strict=True):
        hops = _outwards(flow.root, parent)
        routes = [numbers[hop] for hop in (hops if op is PhaseOp.BROADCAST else reversed(hops))]
        trees[schedule.members[flow.root], tuple(routes)] += 1
    listed = sorted(trees)
    return Phase(
        op=op,
        roots=tuple(root for root, _ in listed),
        shares=tuple(Fraction(trees[tree], len(parents)) for tree in listed),
        routes=Rows.of([list(routes) for _, routes in listed]),
    )


def _outwards(root: int, parents: Mapping[int, int]) -> Sequence[Pair]:
    """Return the pairs of ranks of a tree, from the root outwards."""
    children: dict[int, list[int]] = defaultdict(list)
    for rank in sorted(parents):
        children[parents[rank]].append(rank)
    order = [root]
    for rank in order:
        order += children[rank]
    return [(parents[rank], rank) for rank in order[1:]]


class _Stealing:
    """A run of the hops of a plan, in which links that would be idle steal hops.

    Attributes:
        parents: for each chunk, the rank that sends it to each other rank.
    """

    def __init__(self, plan: _Plan) -> None:
        self._plan = plan
        self.parents: list[dict[int, int]] = [{} for _ in plan.flows]
        self._expected = dict(plan.arrivals)
        """For each chunk and rank that receives it, when it will arrive: as in the plan, or in a stolen hop."""
        self._children: list[dict[int, set[int]]] = [defaultdict(set) for _ in plan.flows]
        self._missing: dict[int, set[int]] = defaultdict(set)
        """For each rank, the chunks that it has not begun to receive."""
        self._held: dict[int, set[int]] = defaultdict(set)
        """For each rank, the chunks that it has."""
        self._ready: dict[Pair, list[tuple[float, int]]] = {pair: [] for pair in plan.takes}
        """For each pair of ranks, the chunks that the first one has for the second, as a heap in the order of the plan.
        Some of them may have been stolen."""
        self._pairs_of_rank: dict[int, list[Pair]] = defaultdict(list)
        self._pairs_of_link: dict[int, list[Pair]] = defaultdict(list)
        self._free = dict.fromkeys((link for taken in plan.takes.values() for link in taken), 0.0)
        """For each link, when its last hop ends."""
        self._left = dict.fromkeys(self._free, 0.0)
        """For each link, the time of its hops that have not begun."""
        self._ends: list[tuple[float, int]] = []
        """When links end their hops: a heap of times and links."""
        self._arrivals: list[tuple[float, int, int]] = []
        """When chunks arrive: a heap of times, chunks and ranks."""
        for pair, taken in plan.takes.items():
            self._pairs_of_rank[pair[0]].append(pair)
            for link in taken:
                self._pairs_of_link[link].append(pair)
        for chunk, flow in enumerate(plan.flows):
            for upper, lower, _ in flow.edges():
                self._missing[lower].add(chunk)
                self._plan_hop(chunk, upper, lower)
            heappush(self._arrivals, (0.0, chunk, flow.root))
        self._slack = SLACK * max(self._left.values())

    def run(self) -> None:
        """Run all hops."""
        while self._ends or self._arrivals:
            now = min(heap[0][0] for heap in (self._ends, self._arrivals) if heap)
            changed = set(self._due(now))
            for pair in sorted(filter(self._next, changed), key=lambda pair: (*self._next(pair), pair)):
                if self._is_free(pair, now):
                    self._begin(heappop(self._ready[pair])[1], pair, now)
            for pair in sorted(changed):
                if self._is_free(pair, now) and not self._next(pair):
                    self._steal(pair, now)

    def _due(self, now: float) -> Iterator[Pair]:
        """Yield the pairs of ranks of all links that end a hop, and of all ranks that a chunk arrives at."""
        while self._ends and self._ends[0][0] <= now:
            yield from self._pairs_of_link[heappop(self._ends)[1]]
        while self._arrivals and self._arrivals[0][0] <= now:
            _, chunk, rank = heappop(self._arrivals)
            self._held[rank].add(chunk)
            for child in self._children[chunk][rank]:
                heappush(self._ready[rank, child], (self._plan.begins[chunk, child], chunk))
            yield from self._pairs_of_rank[rank]

    def _next(self, pair: Pair) -> tuple[float, int] | tuple[()]:
        """Return the next planned hop of a pair whose data is there: its time in the plan and its chunk."""
        ready = self._ready[pair]
        while ready and not self._is_planned(ready[0][1], pair):
            heappop(ready)
        return ready[0] if ready else ()

    def _is_planned(self, chunk: int, pair: Pair) -> bool:
        return chunk in self._missing[pair[1]] and self.parents[chunk][pair[1]] == pair[0]

    def _is_free(self, pair: Pair, now: float) -> bool:
        return all(self._free[link] <= now for link in self._plan.takes[pair])

    def _begin(self, chunk: int, pair: Pair, now: float) -> None:
        for link, time in self._plan.takes[pair].items():
            self._free[link] = now + time
            heappush(self._ends, (now + time, link))
        self._add_left(pair, -1)
        self._missing[pair[1]].remove(chunk)
        heappush(self._arrivals, (now + self._plan.duration(pair), chunk, pair[1]))

    def _steal(self, pair: Pair, now: float) -> None:
        """Make a pair of ranks steal the hop whose link has most left to do, if it may steal one, and begin it."""
        thefts = (self._theft(chunk, pair, now) for chunk in self._held[pair[0]] & self._missing[pair[1]])
        best = max(filter(None, thefts), key=lambda each: (each.left, -each.chunk), default=None)
        if best is None:
            return
        for upper, lower in best.replaced:
            self._children[best.chunk][upper].remove(lower)
            self._add_left((upper, lower), -1)
        arrival = now
        for upper, lower in best.hops:
            arrival += self._plan.duration((upper, lower))
            self._expected[best.chunk, lower] = arrival
            self._plan_hop(best.chunk, upper, lower)
        self._begin(best.chunk, pair, now)

    def _theft(self, chunk: int, pair: Pair, now: float) -> "_Theft | None":
        """Return how a pair of ranks steals the hop of a chunk that the first one holds, if it may steal it."""
        plan, (_, lower) = self._plan, pair
        arrival = now + plan.duration(pair)
        if arrival >= self._expected[chunk, lower]:
            return None
        middle = self.parents[chunk][lower]
        found = _Theft(chunk, self._left_of((middle, lower)), ((middle, lower),), (pair,))
        if chunk in self._missing[middle] and (back := (lower, middle)) in plan.takes:
            top = self.parents[chunk][middle], middle
            left = self._left_of(top)
            is_early = arrival + plan.duration(back) < self._expected[chunk, middle]
            if is_early and left > max(found.left, self._left_of(back)):
                found = _Theft(chunk, left, (top, (middle, lower)), (pair, back))
        return found if found.left >= self._left_of(pair) - self._slack else None

    def _plan_hop(self, chunk: int, upper: int, lower: int) -> None:
        self.parents[chunk][lower] = upper
        self._children[chunk][upper].add(lower)
        self._add_left((upper, lower), 1)

    def _add_left(self, pair: Pair, hops: int) -> None:
        for link, time in self._plan.takes[pair].items():
            self._left[link] += hops * time

    def _left_of(self, pair: Pair) -> float:
        return max(self._left[link] for link in self._plan.takes[pair])


@dataclass(frozen=True, slots=True)
class _Theft:
    """A change of the tree of a chunk.

    Attributes:
        chunk: the chunk.
        left: the time of the hops that the link of the first replaced hop has left to do.
        replaced: the hops that are replaced, as pairs of ranks.
        hops: those that replace them.
    """

    chunk: int
    left: float
    replaced: tuple[Pair, ...]
    hops: tuple[Pair, ...]
