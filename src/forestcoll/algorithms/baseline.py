"""Algorithms that other libraries use: methods without parameters, which `compare` runs beside the optimum.

@baseline("bruck", Family.STEPS, UNROOTED, title="Bruck's algorithm", summary="...")
def bruck(problem: Problem) -> StepSchedule: ...
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

from forestcoll.algorithms.method import DoesNotApplyError, Method, Problem, methods
from forestcoll.base.errors import shown, unknown_name
from forestcoll.base.registry import Spec
from forestcoll.demand.collective import Collective
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule


class Family(StrEnum):
    """How the schedules of an algorithm move data."""

    TREES = "trees"
    """Along trees at the same time: data flows as soon as it has arrived."""
    STEPS = "steps"
    """In steps with a barrier after each."""


@dataclass(frozen=True)
class BaselineResult:
    """A schedule of an algorithm, with what the schedule does not say.

    Attributes:
        schedule: the schedule.
        algbw: the algbw of the algorithm if it is not that of the schedule; else None.
        note: what `algbw` counts, or how the schedule was found, as a sentence without a period; empty for none.
    """

    schedule: Schedule
    algbw: Fraction | None = None
    note: str = ""


@dataclass(frozen=True)
class Overhead:
    """Data that an algorithm sends in addition to the sends of its schedule.

    Attributes:
        algbw: returns the algbw with this data, for a problem and the schedule.
        note: what the data is, as a sentence without a period.
    """

    algbw: Callable[[Problem, Any], Fraction]
    note: str


@dataclass(frozen=True, kw_only=True)
class Baseline(Method):
    """An algorithm that other libraries use.

    Attributes:
        label: the name in tables and on the command line.
        title: its name in a sentence, in the plural or with an article.
        summary: what it does, as a sentence without a period.
        family: how its schedules move data.
        collectives: the collectives that it is used for.
        make: returns its schedule for a problem, or a `BaselineResult` with more. The schedule is not verified yet.
            Raises `DoesNotApplyError` where the algorithm has no meaning.
        overhead: data that the algorithm sends and the schedule does not; None if the schedule has all sends.
        most_by_default: the most compute nodes with which it is compared if no algorithms are named, so that this takes
            seconds; any number if None.
    """

    label: str
    title: str
    summary: str
    family: Family
    collectives: tuple[Collective, ...]  # type: ignore[misc]
    make: Callable[[Problem], Schedule | BaselineResult]
    overhead: Overhead | None = None
    most_by_default: int | None = None

    takes = frozenset({"ranks"})

    def __post_init__(self) -> None:
        """There are no parameters to check."""

    @property
    def name(self) -> str:
        """The name in tables and on the command line."""
        return self.label

    def __str__(self) -> str:
        return self.label

    def schedule(self, problem: Problem) -> Schedule:
        """As `Method.schedule`; `problem.progress` receives what the schedule does not say."""
        try:
            found = self.result(problem)
        except DoesNotApplyError as error:
            raise DoesNotApplyError(f"{problem.topology.name}: {self.name} does not apply: {error}") from None
        if found.note:
            problem.progress.remark(f"{self.name}: {found.note}")
        return found.schedule

    def result(self, problem: Problem) -> BaselineResult:
        """Return the schedule for a problem, with the algbw of the algorithm if that is another one.

        Raises:
            DoesNotApplyError: the algorithm has no meaning on the network or for the collective.
        """
        if problem.collective not in self.collectives:
            raise DoesNotApplyError(f"not an algorithm for {problem.collective.with_article}")
        found = self.make(problem)
        if isinstance(found, BaselineResult):
            return found
        if self.overhead is None or not isinstance(found, TreeSchedule):
            return BaselineResult(found)
        return BaselineResult(found, self.overhead.algbw(problem, found), self.overhead.note)


Make = TypeVar("Make", bound=Callable[[Problem], Schedule | BaselineResult])


def baseline(  # noqa: PLR0913 (what a reader must know about an algorithm)
    name: str,
    family: Family,
    collectives: tuple[Collective, ...],
    *,
    title: str,
    summary: str,
    overhead: Overhead | None = None,
    by_size: bool = True,
    most_by_default: int | None = None,
) -> Callable[[Make], Make]:
    """Declare the decorated function as the algorithm called `name`; `Baseline` explains the arguments.

    `by_size` says whether it may be the best for some size: not if it takes long, and others are never slower.
    """
    described = partial(
        Baseline,
        label=name,
        title=title,
        summary=summary,
        family=family,
        collectives=collectives,
        overhead=overhead,
        most_by_default=most_by_default,
    )

    def register(make: Make) -> Make:
        found = described(make=make)
        facts = {"summary": summary, "baseline": found, "by_size": [name] if by_size else []}
        methods.put(Spec(name, lambda: found, (), make.__module__, facts))
        return make

    return register


def baselines() -> tuple[Baseline, ...]:
    """Return all algorithms that other libraries use, sorted by name."""
    return tuple(spec.facts["baseline"] for spec in methods.all() if "baseline" in spec.facts)


def default_baselines(nodes: int) -> tuple[Baseline, ...]:
    """Return the algorithms that are compared on a network of `nodes` compute nodes if none are named.

    Example:
        >>> {"milp", "tacos"} & {each.name for each in default_baselines(64)}
        {'tacos'}
    """
    return tuple(each for each in baselines() if each.most_by_default is None or nodes <= each.most_by_default)


def baselines_named(names: Iterable[str], others: Iterable[str] = ()) -> tuple[Baseline, ...]:
    """Return the algorithms with these names, each once, in this order.

    Args:
        names: the names.
        others: further names that the caller knows; they are skipped.

    Raises:
        InputError: a name is unknown; the message lists all names, and the one that is meant without parameters.
    """
    known = {each.name: each for each in baselines()}
    listed = [*known, *others]
    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in listed:
            raise unknown_name(f"{shown(name)} is not the name of an algorithm", name.partition(":")[0], listed)
    return tuple(known[name] for name in wanted if name in known)


OWN = "forestcoll"
"""The name of our own row in comparisons."""

LIBRARIES = ("rccl-ring", "nccl-ring", "nccl-tree", "nvls", "nvls-tree", "pat")
"""The algorithms that NCCL and RCCL run."""

AS_CHOSEN = "nccl (as it chooses)"
"""The name of the row of what NCCL chooses for each size."""

BEST_SETTING = "nccl (best setting)"
"""The name of the row of the best setting of NCCL for each size."""

_SPECIAL = {
    OWN: ("forestcoll's schedule", "Trees or flows that together reach the optimum"),
    AS_CHOSEN: ("NCCL as it chooses", "The algorithm that NCCL chooses by itself for each size"),
    BEST_SETTING: ("NCCL's best setting", "The setting of NCCL with the least simulated time for each size"),
    "openmpi": ("Open MPI as it chooses", "The algorithm that Open MPI chooses by default for each size"),
    "mpich": ("MPICH as it chooses", "The algorithm that MPICH chooses by default for each size"),
}
"""The titles and summaries of rows of comparisons that are no baselines."""


def title_of(name: str) -> str:
    """Return the name of a schedule of a comparison in a sentence.

    Example:
        >>> title_of("nccl-ring"), title_of("mine.json")
        ("NCCL's rings", 'mine.json')
    """
    found = _described(name)
    return _SPECIAL[name][0] if name in _SPECIAL else name if found is None else found.title


def summary_of(name: str) -> str:
    """Return what a schedule of a comparison does, as a sentence without a period.

    Example:
        >>> summary_of("mine.json")
        'A schedule or a program from a file'
    """
    found = _described(name)
    if name in _SPECIAL:
        return _SPECIAL[name][1]
    return "A schedule or a program from a file" if found is None else found.summary


def _described(name: str) -> Baseline | None:
    spec = methods.found(name)
    return None if spec is None else spec.facts.get("baseline")
