"""The times of bundles: the loads of all members count, and large messages reach the algbw of the bundle."""

from fractions import Fraction

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.value import Group
from forestcoll.schedule.bundle.value import BundleMember, BundleSchedule
from forestcoll.simulation import Costs, simulate
from forestcoll.simulation.simulate import loads_of, parts_of
from forestcoll.solver.groups.solving import generate_groups
from forestcoll.verification import verify

REQUESTS = [Demand("allreduce", "0-7"), Demand("all-to-all", "8-15"), Demand("allgather", "0,8")]


def test_large_messages_reach_the_algbw_of_the_bundle() -> None:
    bundle = generate_groups("dgx-a100:boxes=2", REQUESTS, sizes="1,2,1/3")
    (point,) = simulate(bundle, [2**40], Costs())
    assert point.algbw == pytest.approx(float(bundle.algbw or 0), rel=1e-2)


def test_the_loads_of_members_add_up_times_their_sizes() -> None:
    bundle = generate_groups("ring:nodes=4", "0,1;2,3", sizes="1,3")
    alone = [parts_of(each.schedule) for each in bundle.bundled]
    assert parts_of(bundle).tolist() == pytest.approx((alone[0] + 3 * alone[1]).tolist())
    report = verify(bundle)
    assert max(loads_of(bundle).seconds) == pytest.approx(1e-9 / float(report.algbw or 0))


def test_one_member_has_the_time_of_its_schedule() -> None:
    schedule = generate("dgx-a100:boxes=2", "allreduce")
    bundle = BundleSchedule(schedule.topology, (BundleMember(Fraction(1), schedule),), algbw=schedule.algbw)
    sizes = [2**10, 2**20, 2**30]
    for point, alone in zip(simulate(bundle, sizes), simulate(schedule, sizes), strict=True):
        assert (point.seconds, point.pieces) == (alone.seconds, alone.pieces)
        assert point.busbw == pytest.approx(alone.busbw)


def test_base_trees_count_with_all_of_their_images() -> None:
    compact = generate("ring:nodes=6", compact=True)
    listed = generate("ring:nodes=6")
    bundles = [
        BundleSchedule(each.topology, (BundleMember(Fraction(1), each),) * 2, algbw=each.algbw / 2)
        for each in (compact, listed)
    ]
    one, other = (simulate(each, [2**30])[0].seconds for each in bundles)
    assert one == pytest.approx(other)


def test_a_member_is_slower_beside_another_one() -> None:
    schedule = generate("ring:nodes=4")
    member = BundleMember(Fraction(1), schedule)
    one, two = (BundleSchedule(schedule.topology, (member,) * count, algbw=Fraction(8, 3) / count) for count in (1, 2))
    first, second = (simulate(each, [2**40])[0].seconds for each in (one, two))
    assert second == pytest.approx(2 * first, rel=1e-2)


def test_the_groups_of_a_bundle_have_the_demands_of_its_members() -> None:
    bundle = generate_groups("ring:nodes=4", "0,2;1,3", sizes="1,2")
    assert bundle.groups == tuple(Group(each.schedule.demand, each.size) for each in bundle.bundled)
