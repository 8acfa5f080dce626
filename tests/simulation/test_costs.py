import json
from dataclasses import replace
from itertools import product
from math import inf, nan
from pathlib import Path

import pytest

from forestcoll.algorithms.baseline import baselines_named
from forestcoll.algorithms.generate import generate, problem_of
from forestcoll.demand.collective import Collective
from forestcoll.oneport.series.comparison import compare_series
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation import Costs, Model, read_costs
from forestcoll.simulation.costs import costs_from_document
from forestcoll.simulation.rates import Wires
from forestcoll.simulation.simulate import simulate
from forestcoll.simulation.trees.times import TreeModel
from forestcoll.topology.registry import build_topology
from refusal import refusal

LARGE = 2**50
FREE = Costs(alpha_us=0, overhead_us=0)

FOREST = generate(build_topology("dgx-a100:boxes=2"))
SYMMETRIC = generate(build_topology("dgx-a100:boxes=32"))
STEPS = generate(build_topology("torus:dims=3x4"), method="bfb")
SERIES = compare_series(replace(build_topology("torus:dims=3x3"), port_model="one-port"), 0).schedule()


def rings() -> Schedule:
    problem = problem_of("dgx-a100:boxes=2", Collective.ALLGATHER)
    return baselines_named(["nccl-ring"])[0].result(problem).schedule


RINGS = rings()


def algbw(schedule: Schedule, costs: Costs, model: Model = Model.TREES, size: int = LARGE) -> float:
    return simulate(schedule, [size], costs, model)[0].algbw


@pytest.mark.parametrize("schedule", [FOREST, RINGS, STEPS, SERIES, SYMMETRIC], ids=lambda each: each.kind)
def test_an_efficiency_scales_the_bandwidth_of_large_messages(schedule: Schedule) -> None:
    half = replace(FREE, efficiency=0.5)
    assert algbw(schedule, half) == pytest.approx(algbw(schedule, FREE) / 2, rel=1e-3)


@pytest.mark.parametrize(
    ("schedule", "model"),
    [(FOREST, Model.TREES), (STEPS, Model.TREES), (SERIES, Model.TREES), (FOREST, Model.PROGRAM)],
    ids=lambda each: getattr(each, "kind", each),
)
def test_the_launch_is_added_once(schedule: Schedule, model: Model) -> None:
    (one,), (other,) = (simulate(schedule, [2**20], Costs(launch_us=launch), model) for launch in (0, 100))
    assert other.seconds - one.seconds == pytest.approx(100e-6)


def test_the_efficiency_of_nics_counts_where_nics_limit() -> None:
    """Rings on two boxes are limited by NICs: 16/15 of 8 NICs of 25 GB/s; the forest by what enters a GPU."""
    costs = Costs(alpha_us=0, overhead_us=0, nic_efficiency=0.9)
    assert algbw(RINGS, costs) == pytest.approx(0.9 * 640 / 3, rel=1e-3)
    assert algbw(FOREST, costs) == pytest.approx(0.9 * 1040 / 3, rel=1e-3)
    wide = Costs(alpha_us=0, overhead_us=0, efficiency=0.9, nic_efficiency=1)
    assert algbw(RINGS, wide) == pytest.approx(640 / 3, rel=1e-3)
    assert algbw(FOREST, wide) == pytest.approx(0.9 * 1040 / 3, rel=1e-3)


def test_links_that_leave_a_box_are_nics() -> None:
    topology = build_topology("dgx-a100:boxes=2")
    nics = Wires.of(topology).are_nics
    assert {float(link.bandwidth) for link, nic in zip(topology.links, nics.tolist(), strict=True) if nic} == {25.0}
    assert nics.sum() == 32
    assert not Wires.of(build_topology("torus:dims=3x3")).are_nics.any()


@pytest.mark.parametrize("model", list(Model))
def test_the_limit_of_a_rank_counts_all_that_it_receives(model: Model) -> None:
    """A rank receives 15/16 of M, so 150 GB/s are 160 GB/s of M."""
    costs = Costs(alpha_us=0, overhead_us=0, rank_gbps=150)
    assert algbw(FOREST, costs, model, 2**34) == pytest.approx(160, rel=0.03)
    assert algbw(FOREST, Costs(alpha_us=0, overhead_us=0, rank_gbps=10**6)) == algbw(FOREST, FREE)


def test_the_limit_of_a_rank_counts_in_each_step() -> None:
    """A node of a torus has 4 links of 1 GB/s, and in no step does it receive more than they carry."""
    assert algbw(STEPS, Costs(rank_gbps=4)) == pytest.approx(float(step_shape(STEPS).algbw or 0), rel=1e-6)
    assert algbw(STEPS, Costs(rank_gbps=0.5)) < 0.51 * 12 / 11


def test_incast_slows_a_rank_with_many_senders_more() -> None:
    """Two neighbours send to each node of a ring, and more ranks to a GPU of the forest than to one of the rings."""
    costs = Costs(alpha_us=0, overhead_us=0, incast=0.1)
    ring = generate(build_topology("ring:nodes=5"))
    assert algbw(ring, costs) == pytest.approx(algbw(ring, FREE) / 1.1, rel=1e-3)
    assert algbw(FOREST, costs) / algbw(FOREST, FREE) < algbw(RINGS, costs) / algbw(RINGS, FREE) < 1


def test_a_reduction_costs_time_only_where_data_is_added_up() -> None:
    """A rank of a reduce-scatter receives and adds up 15/16 of M; 1 us for 1 MB is 1 ms for 1 GB."""
    costs, size = Costs(alpha_us=0, overhead_us=0, reduction_us_per_mb=1), 2**40
    scatter = generate(build_topology("dgx-a100:boxes=2"), demand="reduce-scatter")
    (slow,), (fast,) = (simulate(scatter, [size], each) for each in (costs, FREE))
    assert slow.seconds - fast.seconds == pytest.approx(15 / 16 * size * 1e-12, rel=1e-2)
    assert algbw(FOREST, costs) == algbw(FOREST, FREE)


def test_a_program_that_reduces_takes_longer() -> None:
    scatter = generate(build_topology("ring:nodes=4"), demand="reduce-scatter")
    slow, fast = (
        simulate(scatter, [2**24], Costs(reduction_us_per_mb=each), Model.PROGRAM)[0].seconds for each in (2000, 0)
    )
    assert slow > 1.3 * fast


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"format": "forestcoll.steps/1"},
            "costs: is a schedule, not a file of costs; use it as in 'forestcoll verify",
        ),
        ({"format": "costs"}, 'costs: is no file of costs; "format" must be "forestcoll.costs/1"'),
        ({"efficency": 1}, "'efficency' is no parameter of the costs; did you mean"),
        ({"efficiency": 1.5}, "efficiency is 1.5; it must be more than 0 and at"),
        ({"alpha_us": "5"}, "alpha_us is '5'; it must be between 0 and 10^9 micro"),
        ({"rank_gbps": 0}, "rank_gbps is 0; it must be more than 0"),
        ({"incast": True}, "incast is true; it must be between 0 and 1000"),
        ({"alpha_us": None}, "alpha_us is null; it must be between"),
        ({"alpha_us": -1}, "alpha_us is -1; it must be between 0 and 10^9 microseconds"),
        ({"overhead_us": inf}, "overhead_us is inf; it must be between 0 and 10^9 microseconds"),
        ({"overhead_us": nan}, "overhead_us is nan; it must be between 0 and 10^9 microseconds"),
    ],
)
def test_costs_that_are_not_valid_are_refused(changes: dict[str, object], message: str) -> None:
    assert message in refusal(costs_from_document, {"format": "forestcoll.costs/1"} | changes, "costs")


@pytest.mark.parametrize("schedule", [FOREST, RINGS, SYMMETRIC], ids=lambda each: each.size)
def test_no_other_number_of_pieces_is_faster(schedule: TreeSchedule) -> None:
    for overhead, size in product((0, 1e-320, 1e-6, 0.3, 1, 1000), (1, 1000, 2**20, 2**30)):
        model = TreeModel.of(schedule, Costs(overhead_us=overhead))
        best, most = model.best_pieces(size), max(1, int(size * model.greatest_share))
        others = {1, 2, 3, 7, 20, 100, 10**4, 10**6, best - 1, best + 1}
        times = [model.seconds(size, pieces) for pieces in others if 1 <= pieces <= most]
        assert 1 <= best <= most, (overhead, size)
        assert model.seconds(size, best) <= min(times) * (1 + 1e-9), (overhead, size)


def test_costs_are_read_as_they_are_written(tmp_path: Path) -> None:
    costs = Costs(alpha_us=1.25, launch_us=30, efficiency=0.75, rank_gbps=235)
    (tmp_path / "costs.json").write_text(json.dumps(costs.document()))
    assert read_costs(tmp_path / "costs.json") == costs
