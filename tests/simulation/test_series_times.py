"""How long one large message takes through a periodic schedule: the closed form, compared with the schedule itself."""

from fractions import Fraction

import pytest

from forestcoll.oneport import compare_series
from forestcoll.simulation import Costs, simulate
from forestcoll.simulation.series.times import SeriesModel
from forestcoll.simulation.simulate import loads_of
from oneport_platforms import figure_1, platform_of_costs

GIGABYTE = 10**9
SCHEDULE = compare_series(figure_1(), "s").schedule()
FREE = Costs(alpha_us=0, overhead_us=0)


@pytest.mark.parametrize("periods", [1, 2, 7, 1000])
def test_without_costs_the_time_is_the_makespan(periods: int) -> None:
    """A message has M/(p m) units of a gigabyte, and takes as much less time than one of a unit."""
    messages = periods * SCHEDULE.messages
    expected = SCHEDULE.makespan(periods) / messages
    assert SeriesModel.of(SCHEDULE, FREE).seconds(GIGABYTE, periods) == pytest.approx(float(expected))


def test_every_round_adds_its_latency() -> None:
    dear, free = SeriesModel.of(SCHEDULE, Costs(alpha_us=3, overhead_us=1)), SeriesModel.of(SCHEDULE, FREE)
    rounds = len(SCHEDULE.rounds) * (5 + SCHEDULE.height - 1)
    assert dear.seconds(GIGABYTE, 5) - free.seconds(GIGABYTE, 5) == pytest.approx(rounds * 4e-6)


@pytest.mark.parametrize("size", [1, 100, 10**4, 10**6, GIGABYTE])
@pytest.mark.parametrize("alpha", [0.1, 5.0, 1000.0])
def test_the_best_number_of_periods_is_chosen(size: int, alpha: float) -> None:
    model = SeriesModel.of(SCHEDULE, Costs(alpha_us=alpha))
    best = model.best_periods(size)
    most = max(1, size // SCHEDULE.messages)
    near = {*range(1, 60), best - 1, best + 1, 2 * best, most}
    assert all(
        model.seconds(size, best) <= model.seconds(size, other) * (1 + 1e-12) for other in near if 1 <= other <= most
    )
    assert best <= most


def test_large_messages_approach_the_throughput() -> None:
    (point,) = simulate(SCHEDULE, [10**15])
    assert point.algbw == pytest.approx(float(SCHEDULE.throughput), rel=1e-3)
    assert point.busbw == point.algbw
    assert point.chunk_bytes * point.pieces == pytest.approx(10**15)


def test_loads_are_fractions_of_a_message() -> None:
    topology = platform_of_costs("abc", [("a", "b", 1), ("b", "c", 2)])
    schedule = compare_series(topology, "a").schedule()
    loads = loads_of(schedule)
    assert loads.parts.tolist() == [1.0, 1.0]
    assert Fraction(float(loads.seconds.max() * 1e9)) == 1 / schedule.throughput
