"""The times of flows, of bundles, and of one large message through a periodic schedule."""

from fractions import Fraction

import pytest

from forestcoll.algorithms.flows import Flows
from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.groups import Groups
from forestcoll.demand.groups.value import Group
from forestcoll.oneport import compare_series
from forestcoll.schedule.bundle.value import BundleMember, BundleSchedule
from forestcoll.schedule.loads_of import link_loads
from forestcoll.simulation import Costs
from forestcoll.simulation.series.times import SeriesModel
from forestcoll.simulation.simulate import Model, loads_of, simulate
from forestcoll.verification import verify
from oneport_platforms import figure_1, platform_of_costs

SERIES = compare_series(figure_1(), "s").schedule()
FREE = Costs(alpha_us=0, overhead_us=0)


@pytest.mark.parametrize(
    ("spec", "collective"),
    [("dgx-a100:boxes=2", "all-to-all"), ("torus:dims=3x3", "all-to-all"), ("mi250:boxes=1", "gather")],
)
def test_large_messages_of_flows_reach_algbw(spec: str, collective: str) -> None:
    schedule = generate(spec, Demand(collective, root=None if collective == "all-to-all" else 0))
    (point,) = simulate(schedule, [2**44])
    assert point.algbw == pytest.approx(float(schedule.algbw), rel=0.01)
    nodes = len(schedule.members)
    assert point.busbw == pytest.approx(point.algbw * (nodes - 1) / nodes)


def test_a_small_message_takes_the_latency_of_all_sends() -> None:
    schedule = generate("ring:nodes=6,one_way=true", "scatter:root=0")  # five sends to node 5
    (point,) = simulate(schedule, [1], Costs(alpha_us=10, overhead_us=2))
    assert point.seconds * 1e6 == pytest.approx(5 * 12, rel=1e-3)


def test_a_symmetry_does_not_change_times() -> None:
    base, listed = (generate("torus:dims=3x4", "all-to-all", Flows(compact=compact)) for compact in (True, False))
    times = [[each.seconds for each in simulate(made, [10**4, 10**9])] for made in (base, listed)]
    assert times[0] == pytest.approx(times[1])
    assert loads_of(base).parts.tolist() == pytest.approx(loads_of(listed).parts.tolist())


def test_a_gather_has_no_program() -> None:
    with pytest.raises(InputError, match="no runtime loads a program for a gather"):
        simulate(generate("ring:nodes=3", "gather:root=0"), [1000], model=Model.PROGRAM)


def test_large_messages_reach_the_algbw_of_the_bundle() -> None:
    requests = [Demand("allreduce", "0-7"), Demand("all-to-all", "8-15"), Demand("allgather", "0,8")]
    bundle = generate("dgx-a100:boxes=2", Groups(requests, sizes="1,2,1/3"))
    (point,) = simulate(bundle, [2**40], Costs())
    assert point.algbw == pytest.approx(float(bundle.algbw or 0), rel=1e-2)


def test_the_loads_of_members_add_up_times_their_sizes() -> None:
    bundle = generate("ring:nodes=4", Groups("0,1;2,3", sizes="1,3"))
    alone = [link_loads(each.schedule).parts for each in bundle.bundled]
    assert link_loads(bundle).parts.tolist() == pytest.approx((alone[0] + 3 * alone[1]).tolist())
    report = verify(bundle)
    assert max(loads_of(bundle).seconds) == pytest.approx(1e-9 / float(report.algbw or 0))


def test_one_member_has_the_time_of_its_schedule() -> None:
    schedule = generate("dgx-a100:boxes=2", "allreduce")
    bundle = BundleSchedule(schedule.topology, (BundleMember(Fraction(1), schedule),), algbw=schedule.algbw)
    sizes = [2**10, 2**20, 2**30]
    for point, alone in zip(simulate(bundle, sizes), simulate(schedule, sizes), strict=True):
        assert (point.seconds, point.pieces) == (alone.seconds, alone.pieces)
        assert point.busbw == pytest.approx(alone.busbw)


def test_base_trees_count_with_all_of_their_images_and_members_slow_each_other_down() -> None:
    bundles = [
        BundleSchedule(each.topology, (BundleMember(Fraction(1), each),) * count, algbw=each.algbw / count)
        for each in (generate("ring:nodes=6", method="trees:compact=true"), generate("ring:nodes=6"))
        for count in (1, 2)
    ]
    alone, both, listed_alone, listed_both = (simulate(each, [2**40])[0].seconds for each in bundles)
    assert [alone, both] == pytest.approx([listed_alone, listed_both])
    assert both == pytest.approx(2 * alone, rel=1e-2)


def test_the_groups_of_a_bundle_have_the_demands_of_its_members() -> None:
    bundle = generate("ring:nodes=4", Groups("0,2;1,3", sizes="1,2"))
    assert bundle.groups == tuple(Group(each.schedule.demand, each.size) for each in bundle.bundled)


def test_without_costs_the_time_is_the_makespan() -> None:
    """A message has M/(p m) units of a gigabyte, and takes as much less time than one of a unit."""
    for periods in (1, 2, 7, 1000):
        expected = SERIES.makespan(periods) / (periods * SERIES.messages)
        assert SeriesModel.of(SERIES, FREE).seconds(10**9, periods) == pytest.approx(float(expected)), periods


def test_every_round_adds_its_latency() -> None:
    dear, free = SeriesModel.of(SERIES, Costs(alpha_us=3, overhead_us=1)), SeriesModel.of(SERIES, FREE)
    rounds = len(SERIES.rounds) * (5 + SERIES.height - 1)
    assert dear.seconds(10**9, 5) - free.seconds(10**9, 5) == pytest.approx(rounds * 4e-6)


@pytest.mark.parametrize("alpha", [0.1, 5.0, 1000.0])
def test_the_best_number_of_periods_is_chosen(alpha: float) -> None:
    model = SeriesModel.of(SERIES, Costs(alpha_us=alpha))
    for size in (1, 100, 10**4, 10**6, 10**9):
        best, most = model.best_periods(size), max(1, size // SERIES.messages)
        near = {*range(1, 60), best - 1, best + 1, 2 * best, most}
        least = min(model.seconds(size, other) for other in near if 1 <= other <= most)
        assert model.seconds(size, best) <= least * (1 + 1e-12), size
        assert best <= most


def test_large_messages_approach_the_throughput() -> None:
    (point,) = simulate(SERIES, [10**15])
    assert point.algbw == pytest.approx(float(SERIES.throughput), rel=1e-3)
    assert point.busbw == point.algbw
    assert point.chunk_bytes * point.pieces == pytest.approx(10**15)


def test_loads_are_fractions_of_a_message() -> None:
    topology = platform_of_costs("abc", [("a", "b", 1), ("b", "c", 2)])
    schedule = compare_series(topology, "a").schedule()
    loads = loads_of(schedule)
    assert loads.parts.tolist() == [1.0, 1.0]
    assert Fraction(float(loads.seconds.max() * 1e9)) == 1 / schedule.throughput
