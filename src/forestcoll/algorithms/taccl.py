"""TACCL: a sketch, an integer program for the routes, and a greedy order of the sends.

1. The *sketch* keeps the pairs of ranks that may send to each other: all in the same box, and those of the same place
   in different boxes; without boxes, all that switches or links join. By its symmetry, the routes of one root of each
   orbit are those of all.
2. *Routing*, an integer program without an order of the sends. Chunk c crosses the pair (u, v) if x[c, u, v] = 1, and
   arrives after s[c, v]; the time is at least that of each path and of all chunks of each link together:

       sum over u of x[c, u, v] = 1,  s[c, v] >= s[c, u] + l(u, v) if x[c, u, v] = 1,  T >= s[c, v]
       T >= the sum over c and pairs whose route uses e of x[c, pair] / b(e)      for each link e;  minimise T

3. *Ordering*. The next send is the one after which its chunk has to travel longest, or the one that can start first.
   Both orders are tried. A send holds the links of its route, each for the time that its bandwidth needs.

The third program of TACCL joins sends over the same link to one, which saves latency; for large data it changes nothing
and is left out. HiGHS stops after a number of nodes of its search tree, not after a time, so that the result is the
same on each machine; the gap that is left is stated.

Source: A. Shah et al., "TACCL: Guiding Collective Algorithm Synthesis using Communication Sketches" (NSDI 2023), and
its code (`routing.py`, `heuristic_ordering.py` and `scheduler.py` of microsoft/taccl).

Where it loses: few chunks of a fixed size, an order by a rule, and a program that grows exponentially.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import count, pairwise

from forestcoll.algorithms.baseline import BaselineResult, Family, baseline
from forestcoll.algorithms.forests import LogicalTree, Part, forest, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.timed import HALF, NotFoundError, quality, routes_of_pairs, timed_result
from forestcoll.base.exact import as_float
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.rows import IntArray
from forestcoll.solver.exact_lp.integer_program import IntegerProgram
from forestcoll.topology.graph.routes import Path
from forestcoll.topology.graph.walks import hops
from forestcoll.topology.symmetry.automorphisms import find_symmetry

MOST_NODES = 64
"""The most compute nodes."""

MOST_COLUMNS = 2100
"""The most binary columns of a program that is tried."""

CHUNKS = (1, 2, 4)
"""The numbers of chunks of each node that are tried."""

SEARCHED = 1000
"""The most nodes of the search tree of HiGHS."""


@baseline(
    "taccl",
    Family.TREES,
    UNROOTED,
    title="TACCL",
    summary="Routes by an integer program on a sketch of the network, and a greedy order of the sends",
    by_size=False,
    most_by_default=0,
)
def taccl(problem: Problem) -> BaselineResult:
    """Return the best schedule over some numbers of chunks.

    Raises:
        DoesNotApplyError: there are too many compute nodes for HiGHS, or chunks cannot reach all of them.
    """
    if len(problem.members) > MOST_NODES:
        raise DoesNotApplyError(f"the program takes too long for more than {MOST_NODES} compute nodes")
    found = [made for chunks in CHUNKS if (made := solved(problem, chunks)) is not None]
    if not found:
        raise DoesNotApplyError(f"HiGHS finds no routes with at most {MOST_COLUMNS} binary columns")
    return max(found, key=lambda made: made.algbw or 0)


def solved(problem: Problem, chunks: int, *, searched: int = SEARCHED) -> BaselineResult | None:
    """Return the schedule with this number of chunks, with a note that states the gap of the routes.

    Args:
        problem: an allgather, a reduce-scatter or an allreduce.
        chunks: the number of equal chunks of the shard of each node.
        searched: the most nodes of the search tree.

    Returns:
        The schedule; None if the program has too many columns, or HiGHS found no routes.

    Raises:
        DoesNotApplyError: chunks cannot reach all compute nodes over the pairs of the sketch.
    """
    gaps, times = [], []

    def allgather(each: Problem) -> Part:
        sketch = Sketch.of(each)
        trees, gap = _Routing(sketch, chunks).solved(searched)
        gaps.append(gap)
        times.append(min(_finished(sketch, trees, order) for order in _ORDERS) * each.share / chunks)
        share = each.share / chunks
        return forest(each, [LogicalTree(root, share, tuple(edges)) for root, edges in trees])

    try:
        schedule = schedule_of(problem, allgather)
    except NotFoundError:
        return None
    note = f"{quality(max(gaps), searched, chunks)} without an order; the algbw is that of the times of the order"
    return timed_result(problem, schedule, times, note)


@dataclass(frozen=True)
class Sketch:
    """The pairs of ranks that may send to each other, and the roots whose routes determine all others.

    Attributes:
        problem: the problem.
        routes: the route of each pair.
        images: for each root of which routes are searched, the symmetries that map it to each root of its orbit.
    """

    problem: Problem
    routes: Mapping[tuple[int, int], Path]
    images: Mapping[int, Sequence[IntArray]]

    @classmethod
    def of(cls, problem: Problem) -> "Sketch":
        """Return the sketch of a network."""
        places = {}
        if problem.boxes.is_complete and len(problem.boxes.members) > 1:
            for box, members in enumerate(problem.boxes.members):
                places.update({member: (box, place) for place, member in enumerate(members)})
        routes = routes_of_pairs(problem)
        if places:
            routes = {pair: route for pair, route in routes.items() if _are_joined(*(places[node] for node in pair))}
        return cls(problem, routes, _images(problem, routes))

    def seconds(self, route: Path) -> Fraction:
        """Return the time of a chunk over a route: 1 / its least bandwidth."""
        return max(1 / self.problem.routes.bandwidths[link] for link in pairwise(route))


def _are_joined(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether a sketch has the pair of two ranks, by their boxes and their places there."""
    return one[0] == other[0] or one[1] == other[1]


def _images(problem: Problem, routes: Mapping[tuple[int, int], Path]) -> dict[int, list[IntArray]]:
    topology = problem.topology
    found: dict[int, list[IntArray]] = {}
    symmetry = find_symmetry(topology) if problem.demand.ranks is None else None
    elements = [*symmetry.elements(len(topology.nodes))] if symmetry is not None else []
    kept = [image for image in elements if all((image[one], image[other]) in routes for one, other in routes)]
    seen: set[int] = set()
    for root in problem.members:
        if root not in seen:
            targets = {int(image[root]): image for image in reversed(kept)}
            found[root] = list(targets.values()) or [_identity(len(topology.nodes))]
            seen.update(targets)
    return found


def _identity(nodes: int) -> IntArray:
    import numpy as np

    return np.arange(nodes, dtype=np.int32)


@dataclass(frozen=True)
class _Chunk:
    """A chunk of a root whose routes are searched."""

    root: int
    number: int


Trees = list[tuple[int, list[Path]]]
"""The root of each chunk, and the routes of its sends, each after the one that reaches its source."""


class _Routing:
    """The program of the routes.

    Raises:
        NotFoundError: it has too many columns.
        DoesNotApplyError: chunks cannot reach all compute nodes over the pairs of the sketch.
    """

    def __init__(self, sketch: Sketch, chunks: int) -> None:
        self._sketch = sketch
        self._unit = min(sketch.problem.routes.bandwidths.values())
        self._chunks = [_Chunk(root, number) for root in sketch.images for number in range(chunks)]
        if len(self._chunks) * len(sketch.routes) > MOST_COLUMNS:
            raise NotFoundError
        _require_reach(sketch)
        self._program = IntegerProgram()
        self._time = self._program.add_column(cost=1.0)
        self._sent = {
            (chunk, pair): self._program.add_column(upper=1.0, whole=True)
            for chunk in self._chunks
            for pair in sketch.routes
            if pair[1] != chunk.root
        }
        self._add_paths()
        self._add_loads()

    def _add_paths(self) -> None:
        """Let each chunk reach each node once, after its source, and in time."""
        members = self._sketch.problem.members
        lengths = {pair: self._float(self._sketch.seconds(route)) for pair, route in self._sketch.routes.items()}
        longest = len(members) * max(lengths.values())
        for chunk in self._chunks:
            starts = {node: self._program.add_column(upper=longest) for node in members}
            for target in members:
                into = [pair for pair in lengths if pair[1] == target and (chunk, pair) in self._sent]
                if target != chunk.root:
                    self._program.add_row({self._sent[chunk, pair]: 1.0 for pair in into}, 1.0, 1.0)
                    self._program.add_row({self._time: 1.0, starts[target]: -1.0}, lower=0.0)
                for pair in into:
                    order = {starts[target]: 1.0, starts[pair[0]]: -1.0, self._sent[chunk, pair]: -longest}
                    self._program.add_row(order, lower=lengths[pair] - longest)

    def _add_loads(self) -> None:
        """Let the time be at least that of all chunks of each link."""
        loads: dict[tuple[int, int], dict[int, float]] = {}
        for (chunk, pair), column in self._sent.items():
            for image in self._sketch.images[chunk.root]:
                for link in pairwise(_moved(self._sketch.routes[pair], image)):
                    load = loads.setdefault(link, {})
                    load[column] = load.get(column, 0.0) + self._float(1 / self._sketch.problem.routes.bandwidths[link])
        for load in {tuple(sorted(load.items())): load for load in loads.values()}.values():
            self._program.add_row({self._time: 1.0} | {column: -value for column, value in load.items()}, lower=0.0)

    def _float(self, seconds: Fraction) -> float:
        return as_float(seconds * self._unit)

    def solved(self, searched: int) -> tuple[Trees, Fraction]:
        """Return the routes of all chunks, and the gap: how much less the time of a solution may be."""
        found = self._program.solve(searched)
        if found.values is None:
            raise NotFoundError
        values = found.values
        trees = []
        for chunk in self._chunks:
            columns = {pair: column for (each, pair), column in self._sent.items() if each == chunk}
            pairs = [pair for pair, column in columns.items() if values[column] > HALF]
            routes = [self._sketch.routes[pair] for pair in _from_root(chunk.root, pairs)]
            trees += [
                (int(image[chunk.root]), [_moved(route, image) for route in routes])
                for image in self._sketch.images[chunk.root]
            ]
        gap = 0.0 if found.complete else max(0.0, 1 - found.bound / values[self._time])
        return trees, Fraction(gap)


def _require_reach(sketch: Sketch) -> None:
    after = _after(sketch.routes)
    for root in sketch.images:
        if len(hops([root], after.__getitem__)) < len(sketch.problem.members):
            raise DoesNotApplyError("some compute nodes cannot send to all others over the pairs of the sketch")


def _after(pairs: Iterable[tuple[int, int]]) -> Mapping[int, Sequence[int]]:
    """Return the nodes to which each node sends."""
    found: dict[int, list[int]] = defaultdict(list)
    for source, target in pairs:
        found[source].append(target)
    return found


def _moved(route: Path, image: IntArray) -> Path:
    return tuple(int(image[node]) for node in route)


def _from_root(root: int, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the edges of a tree, each after the one that reaches its source."""
    distances = hops([root], _after(pairs).__getitem__)
    return sorted(pairs, key=lambda pair: distances[pair[0]])


@dataclass(eq=False)
class _Send:
    """A send that waits for the one before it.

    Attributes:
        route: its route.
        left: the time from its start to the end of the last send that follows it.
        ready: when its chunk is at its source.
        after: the sends that follow it.
    """

    route: Path
    left: Fraction
    ready: Fraction = Fraction(0)
    after: list["_Send"] = field(default_factory=list)


Order = Callable[[Fraction, _Send], tuple[Fraction, Fraction]]
"""The rank of a send that can start at a time: the least goes first."""

_ORDERS: tuple[Order, ...] = (lambda start, send: (-send.left, start), lambda start, send: (start, -send.left))


def _finished(sketch: Sketch, trees: Trees, order: Order) -> Fraction:
    """Return when the last send ends, if each chunk takes the time 1 / bandwidth.

    The rank of a send that waits only grows, so a send whose rank in the heap is still true is the next.
    """
    bandwidths = sketch.problem.routes.bandwidths
    free: dict[tuple[int, int], Fraction] = dict.fromkeys(bandwidths, Fraction(0))
    numbers = count()
    waiting = [(order(send.ready, send), next(numbers), send) for _, routes in trees for send in _sends(sketch, routes)]
    heapify(waiting)
    end = Fraction(0)
    while waiting:
        known, number, send = heappop(waiting)
        start = max(send.ready, *(free[link] for link in pairwise(send.route)))
        if order(start, send) > known:
            heappush(waiting, (order(start, send), number, send))
            continue
        for link in pairwise(send.route):
            free[link] = start + 1 / bandwidths[link]
        arrival = start + sketch.seconds(send.route)
        end = max(end, arrival)
        for each in send.after:
            each.ready = arrival
            heappush(waiting, (order(arrival, each), next(numbers), each))
    return end


def _sends(sketch: Sketch, routes: Sequence[Path]) -> list[_Send]:
    """Return the first sends of a tree; the others follow them."""
    into = {route[-1]: _Send(route, sketch.seconds(route)) for route in routes}
    first = []
    for send in reversed(into.values()):
        before = into.get(send.route[0])
        if before is None:
            first.append(send)
        else:
            before.after.append(send)
            before.left = max(before.left, sketch.seconds(before.route) + send.left)
    return first
