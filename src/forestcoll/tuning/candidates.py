"""The candidates: what may be the best for some size of a collective.

- `optimum`: the schedule of `generate`; with fewer trees per root than it needs, `trees-1`, `trees-2` and so on; if
  direct links join GPUs, also `one-peer`, in which a rank sends to one rank of another box at most,
  and programs with stolen hops (`programs/lowering/stolen_hops.py`);
- the algorithms of `compare`, such as `direct`, `two-level`, `bruck` or `swing`, also over switches;
- `double-binary-tree`: an allreduce along two binary trees over all ranks;
- `shallow-SxT`: T trees for each root with S sends in sequence more than the least number (`shallow`), whose programs
  have blocks for each tree (`streams`);
- `central-SxT`: an allreduce along such trees, whose roots are only the ranks near to all others;
- in a network without switches, the step schedules of `generate --method`, such as `bfb`;
- exchanges for small messages, such as `exchange-one-shot` (`exchanges`), and one over relays (`relayed`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from math import inf
from types import MappingProxyType

from forestcoll.algorithms.baseline import Baseline, baselines
from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import Edge, LogicalTree, Part, forest, schedule_of
from forestcoll.algorithms.generate import generate
from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.nccl_tree import binary_tree, mirrored_tree, numbers_downwards
from forestcoll.algorithms.shallow import central_forest, central_roots, shallow_forest
from forestcoll.algorithms.trees import Trees
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.progress import Progress
from forestcoll.demand.collective import Collective
from forestcoll.programs.model import Program
from forestcoll.runtime.engine.trees import FORESTS
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.tuning.exchanges import BoxGrid, Make, exchanges
from forestcoll.tuning.lowered import Lowerings, Timed
from forestcoll.tuning.programs.for_runtime import with_one_peer
from forestcoll.tuning.relayed import relayed_one_shot
from forestcoll.tuning.streams import edges_of
from forestcoll.verification import certified, verify

OWN = "optimum"
"""The name of the schedule that reaches the bound."""

RELAYED = "exchange-relayed"
"""The name of the exchange of whole vectors along trees."""

ONE_PEER = "one-peer"
"""The name of the fastest schedule in which a rank sends to one rank of another box at most."""

_SLOW = {"tacos"}
"""Algorithms of `compare` that search for long and win for no size, besides those that it has only by name."""

_FEWER_TREES = (1, 2, 4, 8)

MOST_IN_PIECES = 32_000
"""The most instructions of a program in several pieces."""

MOST_OVER_DIRECT_LINKS = 65_000
"""The same if direct links join compute nodes: large data needs many small messages there, because it is sent on
several times."""

_MORE_SENDS = 5
"""The most sends in sequence of a shallow forest in addition to the least number."""

_SHALLOW_TREES = (1, 2, 4)

_MORE_CENTRAL = 2
"""The most sends by which a root of a central forest is farther from a rank than the most central one."""

_CENTRAL_TIMES = (1, 2)
"""How many times as many trees as a central forest needs are tried."""

_MOST_SHALLOW_TREES = 48
"""The most trees of a shallow forest over switches, and of a central forest."""

_MOST_OVER_DIRECT_LINKS = 128
"""The most trees of a shallow forest if direct links join compute nodes. So many fit only in lanes."""

_FASTER = Fraction(21, 20)
"""By which factor a higher shallow forest must be faster for large data."""

_MOST_FAILURES = 3
"""After so many shallow forests in a row that are not faster, no higher ones are tried."""

_NEARLY = Fraction(97, 100)
"""The part of the optimum from which no higher shallow forests are tried."""

LEAST_OF_CLOSED_FORM = 0.75
"""The part of the time of a schedule by its closed form that the fastest program takes at least. In an allreduce, the
phases of the closed form follow each other; programs whose phases overlap took 0.77 of it."""

MOST_INSTRUCTIONS = 20_000
"""The most instructions of a program that is simulated in one piece."""


Maker = Callable[[int], list[Timed]]
"""A method to make programs: returns those in a number of pieces, for each protocol; none if they exceed a limit."""

LANES = (1, 2)
"""The numbers of lanes that are tried, with timetables for large data."""

LANES_OF_SHALLOW_FORESTS = 4
"""The number of lanes of shallow forests, with timetables for small chunks, if direct links join compute nodes."""

GROWTHS = (2**8, 2**9)
"""The sizes of small chunks that are tried, in bytes for each chunk of the program: the best number of chunks grows
about with the root of the size of the data. So 512 chunks are 64 or 128 MiB, and 128 chunks are 4 or 8 MiB."""

_MOST_STOLEN_PIECES = 2
"""The most pieces of shallow forests with stolen hops: with more, the trees of the optimum are about as fast, and it
takes long to make programs."""

_MOST_RANKS_OVER_SWITCHES = 16
"""The most ranks, times the phases, for which lanes are tried if no direct links join compute nodes. For an allreduce
of 16 ranks, which has exchanges, they gain at most 2 %; for a reduce-scatter, 8 %."""


@dataclass(frozen=True)
class Candidate:
    """A candidate, and how to make its programs.

    Attributes:
        name: its name.
        schedule: its schedule, verified; None for an exchange.
        makers: the methods to make its programs; each has programs in one piece.
        most_instructions: the most instructions of a program in several pieces.
        closed: for each size of the tuning, the time of the schedule by its closed form, in microseconds; empty for an
            exchange.
    """

    name: str
    schedule: Schedule | None
    makers: tuple[Maker, ...]
    most_instructions: int = MOST_IN_PIECES
    closed: Mapping[int, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def can_be_run(self) -> bool:
        """Whether the runtime of forestcoll runs its schedule."""
        return type(self.schedule) in FORESTS

    def least(self, size: int) -> float:
        """Return a time below which no program of the schedule is, in microseconds; 0 if none is known."""
        return LEAST_OF_CLOSED_FORM * self.closed.get(size, 0.0)


@dataclass
class _Known:
    """The algbw of the fastest shallow forest so far, and how many were tried in vain after it."""

    algbw: Fraction = Fraction(0)
    failures: int = 0

    def add(self, algbw: Fraction, *, more_trees: bool) -> bool:
        """Count a forest, and return whether it applies: if it is faster, or as fast with `more_trees`."""
        is_faster = algbw >= self.algbw * _FASTER
        applies = is_faster or (more_trees and algbw >= self.algbw)
        self.failures = 0 if is_faster else self.failures + 1
        self.algbw = max(self.algbw, algbw)
        return applies


@dataclass
class Candidates:
    """Finds the candidates of a problem.

    Attributes:
        best: the optimum.
        lowerings: how programs are made.
        sizes: the sizes of the tuning.
        progress: receives the name of each candidate.
        skipped: for each candidate that does not apply, the reason.
    """

    best: TreeOptimum
    lowerings: Lowerings
    sizes: Sequence[int]
    progress: Progress
    skipped: list[tuple[str, str]] = field(default_factory=list)
    _known: dict[object, str] = field(default_factory=dict, init=False)

    def find(self) -> list[Candidate]:
        """Return all candidates whose programs differ in one piece, the optimum first.

        Raises:
            NoSolutionError: there are none.
        """
        found: list[Candidate] = []
        known: dict[Program, str] = {}
        made = self._made()
        fastest = {size: min(each.closed.get(size, inf) for each in made) for size in self.sizes}
        for done, candidate in enumerate(made):
            self.progress.advance(len(made) + done, 2 * len(made))
            name = candidate.name
            if candidate.closed and all(candidate.least(size) > fastest[size] for size in self.sizes):
                self.skipped.append((name, "other schedules are much faster for all sizes"))
                continue
            try:
                makers = tuple(maker for maker in map(cache, candidate.makers) if maker(1))
            except (InputError, NoSolutionError) as error:
                self.skipped.append((name, str(error)))
                continue
            if not makers:
                self.skipped.append((name, "no program of it fits the runtime"))
                continue
            plain = replace(makers[0](1)[0].program, name="")
            if plain in known:
                self.skipped.append((name, f"its program is that of {known[plain]}"))
                continue
            known[plain] = name
            found.append(replace(candidate, makers=makers))
        if not found:
            raise NoSolutionError(f"no candidate has a program; {OWN}: {dict(self.skipped)[OWN]}")
        return found

    def _made(self) -> list[Candidate]:
        """Return all candidates, with the times of their schedules by the closed form."""
        made: list[Candidate] = []
        listed = [*self._schedules(), *self._exchanges()]
        for done, (name, make) in enumerate(listed):
            self.progress.advance(done, 2 * len(listed))
            try:
                candidate = make()
            except (InputError, NoSolutionError) as error:
                self.skipped.append((name, str(error)))
                continue
            closed = self.lowerings.closed_form(candidate.schedule, self.sizes)
            made.append(replace(candidate, closed=closed))
        return made

    @cached_property
    def _own(self) -> Schedule:
        return schedule_for(self.best)

    @cached_property
    def _problem(self) -> Problem:
        best = self.best
        return Problem(best.topology, best.demand)

    def _schedules(self) -> Iterator[tuple[str, Callable[[], Candidate]]]:
        best, problem = self.best, self._problem
        yield OWN, lambda: self._of(OWN, self._own)
        if self._has_direct_links and problem.boxes.is_complete and len(problem.boxes.members) > 1:
            yield ONE_PEER, self._with_one_peer
        for trees in _FEWER_TREES:
            if trees < best.trees_per_root:
                yield f"trees-{trees}", self._with_trees(trees)
        for baseline in baselines():
            is_tried = baseline.most_by_default != 0 and baseline.name not in _SLOW
            if is_tried and problem.collective in baseline.collectives:
                yield baseline.name, self._of_baseline(baseline, problem)
        if problem.collective is Collective.ALLREDUCE:
            yield from self._with_free_roots()
        yield from self._shallow_forests()
        if not best.topology.switches and best.ranks is None:
            for method in ("bfb", "torus-rings", "halving-doubling"):
                yield method, self._of_steps(method)

    def _with_free_roots(self) -> Iterator[tuple[str, Callable[[], Candidate]]]:
        """Yield candidates for an allreduce, in which any ranks may be roots."""
        name = "double-binary-tree"
        yield name, lambda: self._of(name, schedule_of(self._problem, _binary_trees))
        for more in range(_MORE_CENTRAL + 1):
            for times in _CENTRAL_TIMES:
                yield f"central-{more}x{times}", partial(self._central, more, times)

    def _shallow_forests(self) -> Iterator[tuple[str, Callable[[], Candidate]]]:
        """Yield shallow forests; one that is not faster for large data than one of less height does not apply."""
        known, most = _Known(), _MOST_OVER_DIRECT_LINKS if self._has_direct_links else _MOST_SHALLOW_TREES
        for more in range(_MORE_SENDS + 1):
            for trees in _SHALLOW_TREES:
                if trees * len(self._problem.members) <= most:
                    yield f"shallow-{more}x{trees}", self._shallow(more, trees, known)

    def _shallow(self, more: int, trees: int, known: _Known) -> Callable[[], Candidate]:
        def make() -> Candidate:
            if known.algbw > self.best.algbw * _NEARLY or known.failures >= _MOST_FAILURES:
                raise InputError("shallow forests of less height are nearly as fast as higher ones for large data")
            schedule = schedule_of(self._problem, lambda each: shallow_forest(each, more, trees))
            if not known.add(schedule.algbw, more_trees=trees > 1 and self._has_direct_links):
                raise InputError("a shallow forest of less height or with fewer trees is as fast for large data")
            certified(verify(schedule))
            makers: tuple[Maker, ...] = (
                partial(self.lowerings.of_streams, schedule),
                *self._shallow_in_lanes(schedule),
            )
            return Candidate(f"shallow-{more}x{trees}", schedule, makers, most_instructions=self._most_in_pieces)

        return make

    def _central(self, more: int, times: int) -> Candidate:
        centre = central_roots(self._problem, more, times)
        if len(centre.roots) > _MOST_SHALLOW_TREES:
            raise InputError(f"it has {len(centre.roots)} trees; at most {_MOST_SHALLOW_TREES} are tried")
        schedule = schedule_of(self._problem, lambda each: central_forest(each, centre))
        certified(verify(schedule))
        maker = partial(self.lowerings.of_streams, schedule)
        return Candidate(f"central-{more}x{times}", schedule, (maker,), most_instructions=self._most_in_pieces)

    def _in_lanes(self, schedule: TreeSchedule) -> list[Maker]:
        """Return the methods for programs in lanes for large data; between many ranks over switches, none is fast."""
        if len(schedule.members) * len(schedule.phases) > _MOST_RANKS_OVER_SWITCHES and not self._has_direct_links:
            return []
        return [partial(self.lowerings.of_lanes, schedule, lanes) for lanes in LANES]

    def _shallow_in_lanes(self, schedule: TreeSchedule) -> list[Maker]:
        """Return the methods for programs of a shallow forest in lanes."""
        if not self._has_direct_links:
            return self._in_lanes(schedule)
        make = partial(self.lowerings.of_small_chunks, schedule, LANES_OF_SHALLOW_FORESTS)

        def stolen(pieces: int) -> list[Timed]:
            return make(GROWTHS[0], pieces, steals=True) if pieces <= _MOST_STOLEN_PIECES else []

        return [*(partial(make, growth) for growth in GROWTHS), stolen]

    def _with_stolen_hops(self, schedule: TreeSchedule) -> list[Maker]:
        """Return the methods for programs in one lane for small chunks, whose links steal hops; none over switches."""
        if not self._has_direct_links:
            return []
        return [partial(self.lowerings.of_small_chunks, schedule, 1, growth, steals=True) for growth in GROWTHS]

    @property
    def _most_in_pieces(self) -> int:
        return MOST_OVER_DIRECT_LINKS if self._has_direct_links else MOST_IN_PIECES

    @cached_property
    def _has_direct_links(self) -> bool:
        topology = self.best.topology
        nodes = topology.nodes
        return any(nodes[link.source].is_compute and nodes[link.target].is_compute for link in topology.links)

    def _exchanges(self) -> Iterator[tuple[str, Callable[[], Candidate]]]:
        best, problem = self.best, self._problem
        for name, make in exchanges(problem.collective, len(best.members), _grid(problem)):
            yield f"exchange-{name}", self._of_exchange(f"exchange-{name}", make)
        if problem.collective is Collective.ALLREDUCE:
            yield RELAYED, self._relayed

    def _with_one_peer(self) -> Candidate:
        schedule = with_one_peer(self._own)
        if schedule is None:
            needed = "equal boxes behind switches, whose links join their GPUs, up to 64 ranks"
            raise InputError(f"only for {needed}, and trees without idle GPUs")
        return self._of(ONE_PEER, schedule)

    def _with_trees(self, trees: int) -> Callable[[], Candidate]:
        return lambda: self._of(f"trees-{trees}", Trees(k=trees).schedule(self._problem))

    def _of_baseline(self, baseline: Baseline, problem: Problem) -> Callable[[], Candidate]:
        return lambda: self._of(baseline.name, baseline.result(problem).schedule)

    def _of_steps(self, method: str) -> Callable[[], Candidate]:
        best = self.best
        return lambda: self._of(method, generate(best.topology, best.collective, method))

    def _of(self, name: str, schedule: Schedule) -> Candidate:
        _check_length(schedule)
        certified(verify(schedule))
        if isinstance(schedule, TreeSchedule) and (other := self._known.setdefault(_trees_of(schedule), name)) != name:
            raise InputError(f"its trees are those of {other}")
        makers: list[Maker] = [partial(self.lowerings.of_schedule, schedule)]
        if name in {OWN, ONE_PEER} and isinstance(schedule, TreeSchedule):
            makers += self._in_lanes(schedule) + self._with_stolen_hops(schedule)
        return Candidate(name, schedule, tuple(makers), self._most_in_pieces)

    def _of_exchange(self, name: str, make: Make) -> Callable[[], Candidate]:
        def candidate() -> Candidate:
            if not _all_reach_each_other(self._problem):
                raise InputError("some ranks reach each other only through other ranks")
            return self._without_schedule(name, make, partial(make, few_blocks=True))

        return candidate

    def _relayed(self) -> Candidate:
        if _all_reach_each_other(self._problem):
            raise InputError("all ranks reach each other directly")
        routes, phase = shallow_forest(self._problem, more=0, trees=1)
        ranks = {node: rank for rank, node in enumerate(self._problem.members)}
        trees = {ranks[tree.root]: edges_of(tree, routes, ranks) for tree in phase}
        listed = [trees[rank] for rank in range(len(ranks))]
        return self._without_schedule(RELAYED, lambda pieces: relayed_one_shot(listed, pieces))

    def _without_schedule(self, name: str, *makes: Callable[[int], Program]) -> Candidate:
        """Return a candidate with the programs of the first of `makes` that fit."""

        def programs(pieces: int) -> list[Timed]:
            found = (self.lowerings.of_program(make(pieces), self._own, pieces) for make in makes)
            return next(filter(None, found), [])

        return Candidate(name, None, (programs,))


def _trees_of(schedule: TreeSchedule) -> object:
    """Return the trees of each phase and their shares, whatever their order."""
    phases, listed = [], expanded(schedule)
    for phase in listed.phases:
        shares: defaultdict[object, Fraction] = defaultdict(Fraction)
        for tree in phase:
            shares[tree.root, frozenset(tuple(listed.routes[route]) for route in tree.routes)] += tree.share
        phases.append((phase.op, frozenset(shares.items())))
    return tuple(phases)


def _check_length(schedule: Schedule) -> None:
    """Raise `InputError` if programs of a schedule of trees are too long to be simulated for many sizes."""
    if isinstance(schedule, TreeSchedule):
        sends = sum(len(phase.routes.entries) for phase in schedule.phases)
        if 2 * sends > MOST_INSTRUCTIONS:
            text = f"its programs have about {2 * sends:,} instructions"
            raise InputError(f"{text}; at most {MOST_INSTRUCTIONS:,} are simulated")


def _grid(problem: Problem) -> BoxGrid | None:
    """Return the ranks in boxes, if there are several boxes of equal sizes with two members or more."""
    ranks = {node: rank for rank, node in enumerate(problem.members)}
    boxes = tuple(tuple(ranks[node] for node in box) for box in problem.boxes.members)
    if not problem.boxes.is_complete or len(boxes) < 2 or len(set(map(len, boxes))) > 1 or len(boxes[0]) < 2:
        return None
    return BoxGrid(boxes)


def _all_reach_each_other(problem: Problem) -> bool:
    return all(problem.routes.find(one, other) for one in problem.members for other in problem.members if one != other)


def _binary_trees(problem: Problem) -> Part:
    """Return two binary trees over the ranks; a rank with children in one of them is a leaf of the other."""
    crossings, members = Crossings(problem), problem.members
    trees = []
    for parents in (binary_tree(len(members)), mirrored_tree(len(members))):
        edges: list[Edge] = []
        for number in numbers_downwards(parents):
            parent = parents[number]
            if parent is not None:
                edges.append(crossings.edge(members[parent], members[number]))
        trees.append(LogicalTree(members[parents.index(None)], Fraction(1, 2), tuple(edges)))
    return forest(problem, trees)
