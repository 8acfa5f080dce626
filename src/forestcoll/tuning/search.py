"""The fastest program for each size.

For each size in ascending order, the candidates are simulated, the fastest one at the size before first. The number of
pieces of a candidate is doubled while that saves time, from the best number at the size before: the best number grows
with the size. Programs that cannot be the fastest are not simulated, by these facts:

- A program takes at least as long as for a smaller size, and at least as long as its busiest link is busy.
- A part of the data takes at least that part of the time. So the time for the greatest size bounds all others.
- Twice the pieces save at most half of the time in which the busiest link is idle: half of the data fills the trees.
  So `MOST_PIECES` pieces leave at least the corresponding part of it. If the size doubles, the best number of pieces
  at most doubles.
- Programs in pieces take at least as long as the program in one piece for the least size.
- No program takes less than a part of the time of its schedule by the closed form (`Candidate.least`).

So a candidate that cannot be the fastest is simulated only for some sizes, for its curve, if it is short.

With stolen hops, programs of more pieces have other trees, which may load the busiest link less. So they may save half
of the whole time, and all numbers of pieces are tried.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

from forestcoll.base.errors import NoSolutionError, plural
from forestcoll.base.progress import Progress
from forestcoll.tuning.candidates import Candidate, Maker
from forestcoll.tuning.lowered import CHUNK_BYTES, Timed

MOST_PIECES = 32
"""The most pieces of a program; runtimes cut chunks further by themselves."""

NEAR = 1.02
"""No further candidates are simulated for a size if one takes at most so many times the lower bound."""

_EVERY = 8
"""Of this many sizes, one is simulated for all candidates whose programs are short."""

_SHORT = 2000
"""The most instructions of a short program."""


@dataclass(frozen=True)
class Best:
    """The fastest program of a candidate for one size.

    Attributes:
        candidate: the candidate.
        timed: the program.
        microseconds: its time.
    """

    candidate: Candidate
    timed: Timed
    microseconds: float


@dataclass
class _Ladder:
    """The programs of one candidate and method, by their number of pieces, and what is known about their times.

    Attributes:
        candidate: the candidate.
        maker: the method to make its programs.
        largest: the greatest size.
        pieces: the number of pieces of the fastest program for the last size.
    """

    candidate: Candidate
    maker: Maker
    largest: int
    pieces: int = 1
    busy_part: float = 0.0
    """The least microseconds for which the busiest link is busy with one byte of M, in any number of pieces."""
    size: int = 0
    """The size for which it was simulated last."""
    idle: float = 0.0
    """The time of the fastest program for that size, without the time in which the busiest link is busy."""
    made: dict[int, list[Timed]] = field(default_factory=dict)
    times: dict[int, float] = field(default_factory=dict)
    """For each number of pieces, the time for the last size that was simulated."""

    def programs(self, pieces: int) -> list[Timed]:
        if pieces not in self.made:
            self.made[pieces] = self._made(pieces)
        return self.made[pieces]

    def _made(self, pieces: int) -> list[Timed]:
        if pieces == 1:
            return self.maker(1)
        if not self._may_have(pieces):
            return []
        try:
            return self.maker(pieces)
        except NoSolutionError:  # so many pieces exceed a limit of the format
            return []

    def _may_have(self, pieces: int) -> bool:
        instructions = pieces * self.programs(1)[0].instructions
        return pieces <= MOST_PIECES and instructions <= self.candidate.most_instructions

    def _cannot_be_faster(self, size: int, limit: float) -> bool:
        """Return whether it is known that the candidate takes at least `limit`."""
        if not self.size:
            return False
        if self.busy_part * size + self.idle * self.size / max(size, 2 * self.size) >= limit:
            return True
        if self._may_have(2 * self.pieces):
            return False
        return all(
            each.microseconds(self.largest) * size >= limit * self.largest for each in self.programs(self.pieces)
        )

    @cached_property
    def _have_same_trees(self) -> bool:
        """Whether the programs in any number of pieces send along the same trees."""
        return all(each.same_trees for each in self.programs(1))

    @cached_property
    def _latency(self) -> float:
        """The least time in one piece, that for the least size."""
        return min(each.latency for each in self.programs(1))

    def _is_short(self) -> bool:
        return all(each.instructions <= _SHORT for each in self.programs(self.pieces))

    def best(self, size: int, limit: float, *, for_curve: bool) -> Best | None:
        """Return the fastest program for `size`; None if it takes longer than `limit` and is not needed `for_curve`."""
        hopeless = self.candidate.least(size) >= limit or self._cannot_be_faster(size, limit)
        if hopeless and not (for_curve and self._is_short()):
            return None
        found, pieces = self._at(size, self.pieces), self.pieces
        while self._may_be_faster(found, pieces, limit, size):
            pieces *= 2
            if found is not None and self.times.get(pieces, 0.0) >= found.microseconds:
                continue
            higher = self._at(size, pieces)
            if higher is None:
                break
            if _is_faster(higher, found):
                found, self.pieces = higher, pieces
            elif self._have_same_trees:
                break
        if found is not None:
            self.size, self.idle = size, found.microseconds - self.busy_part * size
        return found

    def _may_be_faster(self, found: Best | None, pieces: int, limit: float, size: int) -> bool:
        """Return whether more than `pieces` may be faster than `found` and `limit`."""
        if found is None:
            return False
        known = self.times.get(2 * pieces, 0.0) if self._have_same_trees else 0.0
        busy = self.busy_part * size
        least = busy + (found.microseconds - busy) * self.pieces / MOST_PIECES
        most = min(limit, found.microseconds)
        return known < found.microseconds and least < most and self._latency < most

    def _at(self, size: int, pieces: int) -> Best | None:
        found: Best | None = None
        for timed in self.programs(pieces):
            if not timed.fits(size):
                continue
            time, busy = timed.run(size)
            self.busy_part = busy / size if self._have_same_trees else 0.0
            one = Best(self.candidate, timed, time)
            found = one if _is_faster(one, found) else found
        if found is not None:
            self.times[pieces] = found.microseconds
        return found


def _is_faster(one: Best, other: Best | None) -> bool:
    """Return whether `one` takes less time than `other`, by more than rounding errors."""
    return other is None or one.microseconds < other.microseconds * (1 - 1e-9)


def fastest(
    candidates: Sequence[Candidate], sizes: Sequence[int], bound: Callable[[int], float], progress: Progress
) -> Iterator[tuple[int, list[Best]]]:
    """Yield each size with the fastest program of each candidate that has one, the fastest first.

    Args:
        candidates: the candidates.
        sizes: the sizes, in ascending order.
        bound: returns the lower bound of the time for a size, in microseconds.
        progress: receives how many candidates are compared.

    Raises:
        NoSolutionError: no candidate has a program for a size.
    """
    ladders = [_Ladder(candidate, maker, sizes[-1]) for candidate in candidates for maker in candidate.makers]
    total, done = len(ladders) * len(sizes), 0
    for place, size in enumerate(sizes):
        found: list[tuple[Best, _Ladder]] = []
        for_curve = place % _EVERY == 0 or place == len(sizes) - 1
        for ladder in ladders:
            progress.advance(done, total)
            done += 1
            limit = min((each.microseconds for each, _ in found), default=inf)
            limit = 0.0 if limit <= NEAR * bound(size) else limit
            best = ladder.best(size, limit, for_curve=for_curve)
            if best is not None:
                found.append((best, ladder))
        if not found:
            least = CHUNK_BYTES * min(each.program.chunks for ladder in ladders for each in ladder.programs(1))
            raise NoSolutionError(
                f"no candidate has a program for {plural(size, 'byte')}: its chunks would have less than "
                f"{CHUNK_BYTES} bytes; use sizes of {plural(least, 'byte')} or more"
            )
        found.sort(key=lambda each: each[0].microseconds)
        order = {id(ladder): place for place, (_, ladder) in enumerate(found)}
        ladders.sort(key=lambda ladder: order.get(id(ladder), len(order)))
        yield size, _best_of_each(best for best, _ in found)


def _best_of_each(found: Iterable[Best]) -> list[Best]:
    """Return the first one of each candidate."""
    first: dict[str, Best] = {}
    for each in found:
        first.setdefault(each.candidate.name, each)
    return list(first.values())
