"""Make, verify and measure baselines in tests."""

from fractions import Fraction

from forestcoll import load_topology
from forestcoll.baselines.baseline import DoesNotApplyError, Problem
from forestcoll.baselines.table import baselines_named
from forestcoll.collective import Collective
from forestcoll.request import Request
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import TopologyLike
from forestcoll.verification import verify


def problem_of(topology: TopologyLike, collective: str = "allgather") -> Problem:
    network = load_topology(topology)
    return Problem(network, Request.of(collective).demand(network))


def made(name: str, problem: Problem) -> TreeSchedule:
    """Return the schedule of an algorithm that makes trees, after `verify` has accepted it."""
    (baseline,) = baselines_named([name])
    schedule = baseline.result(problem).schedule
    report = verify(schedule)
    assert isinstance(schedule, TreeSchedule)
    assert report.fault is None, report.fault
    assert report.algbw == schedule.algbw
    return schedule


def algbw_of(name: str, topology: TopologyLike, collective: str = "allgather") -> Fraction:
    """Return the algbw of an algorithm, with data that its schedule does not have."""
    problem = problem_of(topology, collective)
    schedule = made(name, problem)
    (baseline,) = baselines_named([name])
    algbw = baseline.result(problem).algbw or schedule.algbw
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
