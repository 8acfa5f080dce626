"""Make, verify and measure baselines in tests."""

from fractions import Fraction

from forestcoll.algorithms.baseline import BaselineResult, baselines_named
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.demand.collective import Collective
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import TopologyLike
from forestcoll.verification import verify


def verified(name: str, problem: Problem) -> BaselineResult:
    """Return what an algorithm makes, after `verify` has accepted its schedule."""
    (baseline,) = baselines_named([name])
    found = baseline.result(problem)
    report = verify(found.schedule)
    assert report.fault is None, report.fault
    assert report.algbw == found.schedule.algbw
    return found


def made(name: str, problem: Problem) -> Schedule:
    """Return the schedule of an algorithm, after `verify` has accepted it."""
    return verified(name, problem).schedule


def algbw_of(name: str, topology: TopologyLike, collective: str = "allgather") -> Fraction:
    """Return the algbw of an algorithm, which counts what its schedule does not have."""
    found = verified(name, problem_of(topology, collective))
    algbw = found.algbw or found.schedule.algbw
    assert algbw is not None
    return algbw


def refusal(name: str, topology: TopologyLike, collective: str = "allgather") -> str:
    """Return why an algorithm does not apply."""
    (baseline,) = baselines_named([name])
    try:
        baseline.result(problem_of(topology, collective))
    except DoesNotApplyError as error:
        return str(error)
    raise AssertionError(f"{name} applies to {topology}")


def all_collectives() -> list[Collective]:
    return [Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE]
