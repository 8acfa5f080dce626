"""The search simulates what may be the fastest."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import NoSolutionError
from forestcoll.base.progress import SILENT
from forestcoll.tuning.candidates import Candidate, Maker
from forestcoll.tuning.search import fastest

if TYPE_CHECKING:
    from forestcoll.tuning.lowered import Timed

SIZES: tuple[int, ...] = tuple(2**power for power in range(10, 20))


@dataclass
class Simulated:
    """A long program whose time is linear in the size, and that notes for which sizes it was simulated.

    Without `busy_part`, the busiest link is busy all the time except for the latency.
    """

    latency: float
    part: float
    busy_part: float | None = None
    same_trees: bool = True
    instructions: int = 10_000
    sizes: list[int] = field(default_factory=list)
    program: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(chunks=1))

    def fits(self, size: int) -> bool:
        return size >= SIZES[0]

    def microseconds(self, size: int) -> float:
        return self.latency + self.part * size

    def run(self, size: int) -> tuple[float, float]:
        self.sizes.append(size)
        return self.microseconds(size), (self.busy_part or self.part) * size


RING = generate("ring:nodes=3")


def candidate(name: str, *programs: Simulated) -> Candidate:
    return Candidate(name, RING, tuple(map(made_as, programs)), most_instructions=0)


def made_as(program: Simulated) -> Maker:
    made = [cast("Timed", program)]
    return lambda pieces: made if pieces == 1 else []


def search(*candidates: Candidate, bound: Callable[[int], float] = lambda _: 0.0) -> list[list[tuple[str, float]]]:
    """Return the names and times of the fastest candidates for each size."""
    found = fastest(candidates, SIZES, bound, SILENT)
    return [[(each.candidate.name, each.microseconds) for each in listed] for _, listed in found]


def winners(*candidates: Candidate) -> list[str]:
    return [listed[0][0] for listed in search(*candidates)]


def test_a_candidate_is_not_simulated_where_its_schedule_is_too_slow() -> None:
    """By the closed form, it may be the fastest for the last three sizes only; for one of them it is."""
    slow = Simulated(1, 0.001)
    limited = replace(candidate("slow", slow), closed={size: 10**6 if size < SIZES[-3] else 1.0 for size in SIZES})
    found = winners(candidate("fast", Simulated(9, 0.01)), limited)
    assert found == ["fast"] * (len(SIZES) - 3) + ["slow"] * 3
    assert slow.sizes == list(SIZES[-3:])


def test_no_further_candidate_is_simulated_where_one_nearly_takes_the_lower_bound() -> None:
    first, second = Simulated(10, 0.01), Simulated(9.9, 0.0099)
    found = winners(candidate("first", first), candidate("second", second))
    assert found == ["second"] * len(SIZES)
    second.sizes.clear()
    near = search(
        candidate("first", first), candidate("second", second), bound=lambda size: 0.99 * first.microseconds(size)
    )
    assert [listed[0][0] for listed in near] == ["first"] * len(SIZES)
    assert second.sizes == []


def test_a_candidate_whose_links_are_busy_for_too_long_is_not_simulated() -> None:
    slow = Simulated(1, 1.0)
    assert set(winners(candidate("fast", Simulated(9, 0.001)), candidate("slow", slow))) == {"fast"}
    assert slow.sizes == [SIZES[0]]


def test_a_candidate_that_becomes_the_fastest_is_found() -> None:
    low, wide = Simulated(5, 0.1), Simulated(2000, 0.01)
    expected = ["low" if 5 + 0.1 * size < 2000 + 0.01 * size else "wide" for size in SIZES]
    assert winners(candidate("low", low), candidate("wide", wide)) == expected
    assert len(set(expected)) == 2
    times = [("both", min(5 + 0.1 * size, 2000 + 0.01 * size)) for size in SIZES]
    assert search(candidate("both", low, wide)) == [[each] for each in times]  # of all its methods


def test_the_time_for_the_greatest_size_bounds_the_times_for_all_others() -> None:
    slow = Simulated(3, 0.02, busy_part=0.001)
    assert set(winners(candidate("fast", Simulated(2, 0.01)), candidate("slow", slow))) == {"fast"}
    assert slow.sizes == [SIZES[0]]


def test_programs_in_pieces_may_have_less_busy_links() -> None:
    """In one piece, the busiest link is busy for ten times as long as in four, and in two even longer."""
    in_pieces = {
        1: Simulated(5, 0.1, same_trees=False, instructions=10),
        2: Simulated(50, 0.2, same_trees=False, instructions=20),
        4: Simulated(20, 0.01, same_trees=False, instructions=40),
    }
    makers = (lambda pieces: [cast("Timed", in_pieces[pieces])] if pieces in in_pieces else [],)
    found = winners(candidate("plain", Simulated(9, 0.02)), Candidate("stolen", RING, makers))
    assert found == ["plain" if 9 + 0.02 * size < 20 + 0.01 * size else "stolen" for size in SIZES]
    assert set(found) == {"plain", "stolen"}


def test_a_number_of_pieces_that_exceeds_a_limit_of_the_format_is_not_used() -> None:
    program = Simulated(5, 0.1, instructions=10)

    def programs(pieces: int) -> "list[Timed]":
        if pieces > 1:
            raise NoSolutionError("it needs 32768 chunks, and 32767 is the most")
        return [cast("Timed", program)]

    found = search(Candidate("limited", RING, (programs,)))
    assert found == [[("limited", 5 + 0.1 * size)] for size in SIZES]
