import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from forestcoll.algorithms.baseline import Problem
from forestcoll.algorithms.by_steps import generate_steps
from forestcoll.algorithms.generate import generate
from forestcoll.algorithms.table import baselines_named
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.measurement.fit import FitModel, MeasuredTimes, fit_costs
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.simulation import Costs, simulate
from forestcoll.solver.optimum import solve
from forestcoll.topology.registry import build_topology

SIZES = tuple(2**power for power in (14, 18, 20, 22, 24, 26, 28, 30))


def made(schedule: Schedule, costs: Costs, sizes: Sequence[int] = SIZES) -> MeasuredTimes:
    """Return the times that the model gives exactly."""
    points = simulate(schedule, sizes, costs)
    return MeasuredTimes(schedule.collective.value, schedule, tuple(sizes), tuple(point.seconds for point in points))


def schedule_of(algorithm: str, collective: Collective) -> Schedule:
    best = solve(build_topology("dgx-a100:boxes=2"), Demand.of(collective)).optimum
    (baseline,) = baselines_named([algorithm])
    return baseline.result(Problem(best.topology, best.demand)).schedule


FOREST = generate(build_topology("dgx-a100:boxes=2"))
RINGS = schedule_of("nccl-ring", Collective.ALLGATHER)
SCATTER = generate(build_topology("dgx-a100:boxes=2"), collective="reduce-scatter")


@pytest.mark.parametrize(
    "true",
    [
        Costs(alpha_us=12, overhead_us=3, launch_us=40, efficiency=0.8, nic_efficiency=0.9),
        Costs(alpha_us=2.5, overhead_us=0.5, launch_us=0, efficiency=0.72, nic_efficiency=0.72),
        Costs(alpha_us=20, overhead_us=1, launch_us=15, efficiency=0.95, nic_efficiency=0.6),
    ],
)
def test_exact_times_of_a_forest_and_rings_return_the_default_parameters(true: Costs) -> None:
    found = fit_costs([made(FOREST, true), made(RINGS, true)])
    assert set(found.fitted) == {"alpha_us", "efficiency", "overhead_us", "launch_us", "nic_efficiency"}
    for name in found.fitted:
        assert getattr(found.costs, name) == pytest.approx(getattr(true, name), rel=2e-3, abs=2e-2), name
    assert found.worst_error < 1e-3


@pytest.mark.parametrize(
    ("true", "names", "schedules"),
    [
        (Costs(rank_gbps=200, alpha_us=7), ("alpha_us", "rank_gbps"), (FOREST, RINGS)),
        (Costs(incast=0.07, overhead_us=2), ("overhead_us", "incast"), (FOREST, RINGS)),
        (Costs(reduction_us_per_mb=0.9), ("alpha_us", "reduction_us_per_mb"), (FOREST, SCATTER)),
    ],
)
def test_exact_times_return_the_other_parameters_if_they_are_named(
    true: Costs, names: tuple[str, ...], schedules: tuple[Schedule, ...]
) -> None:
    start = replace(true, rank_gbps=None, incast=0.0, reduction_us_per_mb=0.0)
    found = fit_costs([made(each, true) for each in schedules], parameters=names, fixed=start)
    for name in names:
        assert getattr(found.costs, name) == pytest.approx(getattr(true, name), rel=2e-3), name


def test_noise_of_five_percent_moves_the_parameters_little() -> None:
    true = Costs(alpha_us=12, overhead_us=3, launch_us=40, efficiency=0.8, nic_efficiency=0.9)
    noise = random.Random(5)  # noqa: S311 (not cryptography)
    times = []
    for schedule in (FOREST, RINGS):
        exact = made(schedule, true)
        times.append(replace(exact, seconds=tuple(each * noise.uniform(0.95, 1.05) for each in exact.seconds)))
    found = fit_costs(times)
    assert found.costs.alpha_us == pytest.approx(12, rel=0.15)
    assert found.costs.efficiency == pytest.approx(0.8, rel=0.08)
    assert 0.005 < found.mean_error < 0.05


def test_the_same_times_return_the_same_bytes() -> None:
    times = [made(FOREST, Costs(alpha_us=9, efficiency=0.7)), made(RINGS, Costs(alpha_us=8, efficiency=0.9))]
    assert fit_costs(times).costs.document() == fit_costs(times).costs.document()


def test_a_parameter_that_one_schedule_does_not_identify_is_left_out_with_the_reason() -> None:
    found = fit_costs([made(RINGS, Costs(alpha_us=9, efficiency=0.8))])
    reasons = {each.name: each.reason for each in found.left_out}
    assert reasons["launch_us"] == "the measured times do not tell it from alpha_us"
    assert found.costs.alpha_us == pytest.approx(9, rel=1e-2)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("alpha_us", "launch_us"), "launch_us: the measured times do not tell it from alpha_us; also measure"),
        (("reduction_us_per_mb",), "reduction_us_per_mb: it has no influence on the measured times; also measure a re"),
        (("alfa_us",), "'alfa_us' is no parameter of the costs; did you mean 'alpha_us'?"),
        (("alpha_us", "alpha_us"), "alpha_us is named twice"),
        ((), "there is no parameter to fit"),
    ],
)
def test_a_named_parameter_that_is_not_identified_is_refused(names: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError) as caught:
        fit_costs([made(FOREST, Costs())], parameters=names)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_times_of_one_size_are_refused() -> None:
    with pytest.raises(InputError, match="1 message size, which cannot tell latency from bandwidth"):
        fit_costs([made(FOREST, Costs(), [2**20]), made(RINGS, Costs(), [2**20])])


def test_fewer_times_than_parameters_are_refused() -> None:
    with pytest.raises(InputError, match="there are 2 times for 3 parameters"):
        fit_costs([made(FOREST, Costs(), [1, 2**30])], parameters=["alpha_us", "overhead_us", "efficiency"])


def test_the_alpha_beta_model_is_the_regression_of_the_appendix() -> None:
    """T = alpha·x + epsilon + M/B·y, for rings of 4 to 12 nodes, as in Figure 14."""
    alpha, epsilon, part = 13.33, 21.60, 0.79
    times = []
    for nodes in (4, 6, 8, 12):
        schedule = generate_steps(build_topology(f"ring:nodes={nodes},bandwidth=25/4"))
        algbw = float(step_shape(schedule).algbw or 0)
        sizes = (2**10, 2**30)
        seconds = tuple((alpha * schedule.steps + epsilon) * 1e-6 + size / (part * algbw * 1e9) for size in sizes)
        times.append(MeasuredTimes(f"ring of {nodes}", schedule, sizes, seconds))
    found = fit_costs(times, model=FitModel.ALPHA_BETA)
    assert found.fitted == ("alpha_us", "efficiency", "launch_us")
    assert found.costs.alpha_us == pytest.approx(alpha, rel=1e-4)
    assert found.costs.launch_us == pytest.approx(epsilon, rel=1e-4)
    assert found.costs.efficiency == pytest.approx(part, rel=1e-4)
    assert found.costs.overhead_us == 0


def test_times_must_be_positive() -> None:
    with pytest.raises(InputError, match="both must be greater than 0"):
        MeasuredTimes("x", FOREST, (1,), (0.0,))
    with pytest.raises(InputError, match="give a time for each size"):
        MeasuredTimes("x", FOREST, (1, 2), (1.0,))
