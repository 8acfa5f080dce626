"""The mixed-integer program: known values, gaps, other collectives, and networks with switches."""

from fractions import Fraction
from pathlib import Path

import pytest
from made import algbw_of, verified

from forestcoll import compare, load_topology, optimum, read_schedule, verify, write_schedule
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.steps.milp import milp, solved
from forestcoll.demand.demand import Demand
from forestcoll.programs import lower
from forestcoll.schedule.steps.value import StepSchedule
from networks import linked


@pytest.mark.parametrize(
    ("topology", "chunks", "steps", "algbw"),
    [
        ("ring:nodes=8", 2, 4, "16/7"),
        ("hypercube:dim=3", 3, 3, "24/7"),
        ("torus:dims=3x3", 1, 2, "9/2"),
        pytest.param("dgx-a100:boxes=2,gpus=2", 4, 3, "4800/49", marks=pytest.mark.slow),
        ("dgx-a100:boxes=2,gpus=4", 1, 2, "160"),
    ],
)
def test_known_values(topology: str, chunks: int, steps: int, algbw: str) -> None:
    for collective, factor in (("allgather", 1), ("reduce-scatter", 1), ("allreduce", 2)):
        made = solved(problem_of(topology, collective), chunks, steps)
        assert made is not None
        report = verify(made.schedule)
        assert report.fault is None, report.fault
        assert report.algbw == made.schedule.algbw == Fraction(algbw) / factor
        assert isinstance(made.schedule, StepSchedule)
        assert made.schedule.steps == steps * factor
        assert made.note.startswith("HiGHS reports an optimum for ")


def test_too_few_steps_have_no_schedule() -> None:
    assert solved(problem_of("ring:nodes=8"), 1, 3) is None


def test_a_search_that_stops_early_states_its_gap() -> None:
    made = solved(problem_of("dgx-a100:boxes=2,gpus=4"), 1, 3, searched=1)
    assert made is not None
    assert made.schedule.algbw is not None
    assert made.schedule.algbw <= 160
    assert made.note.startswith("HiGHS stopped at node 1 of its search tree with a gap of ")


@pytest.mark.parametrize(
    ("topology", "algbw"),
    [
        ("ring:nodes=4", "8/3"),
        ("dgx-a100:boxes=1", "2400/7"),
        pytest.param("hypercube:dim=3", "24/7", marks=pytest.mark.slow),
    ],
)
def test_the_best_numbers_of_chunks_and_steps_are_found(topology: str, algbw: str) -> None:
    assert algbw_of("milp", topology) == Fraction(algbw) == optimum(topology).algbw


def test_one_way_links() -> None:
    network = linked("a b c", "a>c b>a c>b", bandwidth_unit="apples")
    for collective, algbw in (("allgather", "3/2"), ("reduce-scatter", "3/2"), ("allreduce", "3/4")):
        assert algbw_of("milp", network, collective) == Fraction(algbw)
    row = compare(network, baselines=["milp"]).row("milp")
    assert row.reason.startswith(
        "a tie: it reaches the bound, so for large data no schedule is faster; HiGHS reports an optimum"
    )


@pytest.mark.slow  # ten seconds
def test_some_of_the_compute_nodes() -> None:
    network = load_topology("dgx-a100:boxes=2")
    ids = [network.nodes[network.compute[place]].id for place in (0, 1, 8, 9)]
    problem = Problem(network, Demand("allreduce", ids).bind(network)[1])
    found = verified("milp", problem).schedule
    assert found.ranks == problem.members
    assert found.algbw is not None
    assert found.algbw <= optimum(network, Demand("allreduce", ranks=ids)).algbw


def test_the_schedule_can_be_written_read_and_lowered(tmp_path: Path) -> None:
    schedule = milp(problem_of("dgx-a100:boxes=2,gpus=2", "allreduce")).schedule
    write_schedule(schedule, tmp_path / "schedule.json")
    found = read_schedule(tmp_path / "schedule.json")
    assert verify(found).algbw == schedule.algbw
    assert len(lower(found).program.ranks) == 4


@pytest.mark.slow  # ten seconds
def test_a_row_counts_the_time_between_steps() -> None:
    row = compare("dgx-a100:boxes=2,gpus=2", baselines=["milp"], sizes=[2**20]).row("milp")
    assert (row.family, row.height) == ("steps", 3)
    assert "100% busy" not in row.reason
    assert row.reason.endswith("HiGHS reports an optimum for 4 chunks of each node and 3 steps")
