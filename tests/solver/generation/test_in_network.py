"""Trees with copies and sums on switches: correct, at least as fast as without, and with less traffic."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import generate, optimum
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import SMALL, demand_for, examples, networks, with_abilities

ABILITIES = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=3, max_size=3)


def link_loads(schedule: TreeSchedule) -> dict[tuple[int, int], Fraction]:
    loads: dict[tuple[int, int], Fraction] = {}
    for phase in schedule.phases:
        for tree in phase:
            for route in tree.routes:
                path = schedule.routes[route]
                for link in pairwise(path):
                    loads[link] = loads.get(link, Fraction(0)) + tree.share
    return loads


@pytest.mark.parametrize("collective", [each for each in SCHEDULED if each is not Collective.ALLREDUCE])
@examples(100)
@given(networks(kinds=st.just(SMALL)), ABILITIES)
def test_no_link_carries_more_than_without(
    collective: Collective, topology: Topology, abilities: list[tuple[bool, bool]]
) -> None:
    able = with_abilities(topology, abilities)
    before = generate(topology, demand_for(topology, collective))
    after = generate(able, demand_for(able, collective))
    report = verify(after)
    assert report.fault is None
    assert report.algbw == after.algbw == before.algbw
    loads = link_loads(before)
    assert all(load <= loads[link] for link, load in link_loads(after).items())


@examples(100)
@given(networks(most=7, kinds=st.just(SMALL)), ABILITIES)
def test_an_allreduce_is_correct_and_no_slower_than_without(
    topology: Topology, abilities: list[tuple[bool, bool]]
) -> None:
    able = with_abilities(topology, abilities)
    best, schedule = optimum(able, "allreduce"), generate(able, "allreduce")
    report = verify(schedule)
    assert report.fault is None
    assert report.algbw == schedule.algbw
    assert optimum(topology, "allreduce").algbw <= best.algbw == schedule.algbw <= best.bound.algbw


@pytest.mark.parametrize("boxes", [1, 3])
def test_nvls_sends_each_shard_once_from_its_gpu_to_its_switch(boxes: int) -> None:
    """Each GPU of a box sends its shard to the NVSwitch once. Without copies it sends it once for each other GPU."""
    schedule = generate(build_topology(f"dgx-h100:boxes={boxes},nvls=true"))
    assert verify(schedule).optimal
    plain = generate(build_topology(f"dgx-h100:boxes={boxes}"))
    assert sum(link_loads(schedule).values()) < Fraction(3, 4) * sum(link_loads(plain).values())


@pytest.mark.parametrize(("boxes", "plain", "able"), [(1, "1800/7", 450), (2, "800/3", 400), (4, "8000/31", "800/3")])
def test_nvls_raises_the_optimum_of_allreduce(boxes: int, plain: int | str, able: int | str) -> None:
    """In one box of 8, data crosses each link once: 450 instead of 8/14 of 450. With more boxes, the NICs limit."""
    for spec, expected in ((f"dgx-h100:boxes={boxes}", plain), (f"dgx-h100:boxes={boxes},nvls=true", able)):
        schedule = generate(build_topology(spec), "allreduce")
        assert schedule.algbw == Fraction(expected)
        assert verify(schedule).ok
