"""The comparison on emulated networks: its schedules, its table and its picture, without a network."""

from fractions import Fraction
from pathlib import Path

import pytest

from fabric_networks import FABRICS
from fabric_picture import draw
from fabric_schedules import METHODS, rings, two_level
from fabric_table import Result, table
from forestcoll.demand.collective import Collective
from forestcoll.verification import verify

SHARES = {
    "2x4": {"two-level": Fraction(1), "nic-rings": Fraction(4, 7)},
    "4x8": {"two-level": Fraction(1), "nic-rings": Fraction(24, 31)},
    "slow-nic": {"two-level": Fraction(1, 4), "nic-rings": Fraction(1, 7)},
    "relays": {"two-level": Fraction(3, 4), "nic-rings": Fraction(9, 20)},
}
"""Which part of the bound the competitors can reach, by network."""


@pytest.mark.parametrize("fabric", FABRICS, ids=lambda fabric: fabric.name)
@pytest.mark.parametrize("collective", [Collective.ALLGATHER, Collective.ALLREDUCE, Collective.REDUCE_SCATTER])
def test_competitors_are_right_and_have_their_known_bandwidths(fabric: object, collective: Collective) -> None:
    (found,) = [each for each in FABRICS if each is fabric]
    for name, make in METHODS.items():
        schedule = make(found, collective)
        report = verify(schedule)
        assert report.fault is None
        assert schedule.bound is not None
        expected = SHARES[found.name].get(name, Fraction(1)) * schedule.bound.algbw
        assert schedule.algbw == report.algbw == expected


def test_a_ring_uses_every_nic_once() -> None:
    schedule = rings(FABRICS[0], Collective.ALLGATHER)
    core = FABRICS[0].topology.number("core")
    crossing = [route for route in schedule.routes if core in route]
    assert len(crossing) == len({route[0] for route in crossing}) == len({route[-1] for route in crossing}) == 8


def test_trees_of_the_two_level_forest_are_of_height_two() -> None:
    schedule = two_level(FABRICS[1], Collective.ALLGATHER)
    routes = list(schedule.routes)
    for tree in schedule.phases[0]:
        senders = [routes[route][0] for route in tree.routes]
        reached = {routes[route][-1] for route in tree.routes if routes[route][0] == tree.root}
        assert set(senders) <= reached | {tree.root}


RESULTS = [
    Result("2x4", "allgather", 2**24, "forestcoll", [0.34, 0.33, 0.36], 5e7),
    Result("2x4", "allgather", 2**24, "gloo", [2.4, 2.3, 2.5], 5e7),
    Result("2x4", "ddp step", 2**22, "gloo", [1.0], None, 6.2),
]


def test_the_table_compares_with_forestcoll() -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table(RESULTS).splitlines()[2:]]
    assert rows == [
        ["2x4", "allgather", "16", "forestcoll", "340", "330 to 360", "98.7%", "1.00"],
        ["2x4", "allgather", "16", "gloo", "2400", "2300 to 2500", "14.0%", "7.06"],
        ["2x4", "ddp step", "4", "gloo", "1000", "1000 to 1000", "", ""],
    ]


def test_the_picture_shows_the_bound(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    draw(RESULTS, tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text().count("<path") > 10
    draw(RESULTS[2:], tmp_path / "none.svg")
    assert not (tmp_path / "none.svg").exists()
