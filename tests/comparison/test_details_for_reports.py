"""What a report computes from a comparison: other numbers of boxes, busy links, and times for more sizes."""

import doctest
from fractions import Fraction

import pytest

from forestcoll import Comparison, TopologyBuilder, compare
from forestcoll.algorithms.baseline import OWN, baselines, summary_of, title_of
from forestcoll.comparison import busy, by_boxes, curves
from forestcoll.comparison.busy import busy_classes
from forestcoll.comparison.by_boxes import MOST_NODES, with_boxes
from forestcoll.comparison.curves import curve_of
from forestcoll.demand.demand import Demand
from forestcoll.topology import build_topology


@pytest.mark.parametrize("module", [busy, by_boxes, curves])
def test_examples_in_docstrings_run(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


def rings(topology: str, collective: str = "allgather") -> Comparison:
    return compare(topology, collective, baselines=["nccl-ring", "two-level"], sizes=())


def test_the_advantage_over_rings_on_h100_boxes_is_that_of_the_tables() -> None:
    found = by_boxes.by_boxes(rings("dgx-h100:boxes=2"))
    assert [each.boxes for each in found] == [1, 2, 4, 8, 16]
    assert [each.optimal_algbw / each.algbw["nccl-ring"] for each in found] == [
        Fraction(1),
        Fraction(5, 4),
        Fraction(5, 4),
        Fraction(9, 8),
        Fraction(127, 120),
    ]
    assert all(each.algbw["two-level"] <= each.optimal_algbw for each in found)
    assert found[-1].algbw["two-level"] == found[-1].optimal_algbw == Fraction(1280, 3)


def test_each_number_of_boxes_has_the_values_of_its_own_comparison() -> None:
    for each in by_boxes.by_boxes(rings("dgx-a100:boxes=3", "allreduce"))[:3]:
        other = rings(f"dgx-a100:boxes={each.boxes}", "allreduce")
        assert each.optimal_algbw == other.optimal_algbw
        assert each.compute_nodes == len(other.topology.compute)
        assert each.algbw == {row.name: row.algbw for row in other.rows if row.name != OWN}


def test_the_number_of_boxes_of_the_comparison_is_one_of_them_if_it_is_small() -> None:
    assert [each.boxes for each in by_boxes.by_boxes(rings("dgx-a100:boxes=3"))] == [1, 2, 3, 4, 8, 16]
    assert all(each.compute_nodes <= MOST_NODES for each in by_boxes.by_boxes(rings("gb200-nvl72:boxes=1")))


def test_networks_without_boxes_of_a_builder_are_left_out() -> None:
    network = TopologyBuilder("dgx-a100:boxes=2")
    for node in range(3):
        network.add_compute(node, box=0)
    for node in range(3):
        network.add_duplex(node, (node + 1) % 3, 10)
    only_the_name, one_box = network.build(), build_topology("dgx-a100:boxes=2")
    for topology, ranks in (("ring:nodes=4", None), (only_the_name, None), (one_box, "0-7")):
        assert by_boxes.by_boxes(compare(topology, Demand(ranks=ranks), baselines=["direct"], sizes=())) == ()


@pytest.mark.parametrize(
    ("spec", "other"),
    [("dgx-a100:boxes=2", "dgx-a100:boxes=4"), ("dgx-a100", "dgx-a100:boxes=4"), ("c:x=1,boxes=3", "c:boxes=4,x=1")],
)
def test_a_spec_is_changed_to_another_number_of_boxes(spec: str, other: str) -> None:
    assert with_boxes(spec, 4) == other


def test_the_busiest_links_of_rings_are_those_of_the_nics() -> None:
    found = rings("dgx-a100:boxes=2")
    classes = {each.name: each for each in busy_classes(found, found.rows)}
    assert set(classes) == {"nvswitch links", "NIC links"}
    assert sorted(number for each in classes.values() for number in each.links) == list(
        range(len(found.topology.links))
    )
    assert classes["NIC links"].busy["nccl-ring"].most == 1
    assert classes["nvswitch links"].busy["nccl-ring"].most == Fraction(7, 12)
    assert all(each.busy[OWN].most == each.busy[OWN].mean == 1 for each in classes.values())


def test_a_curve_has_the_times_of_the_comparison() -> None:
    found = compare("dgx-h100:boxes=2,nvls=true", "allreduce", baselines=["nvls-tree"], sizes=[2**20, 2**28])
    for row in found.rows:
        curve = curve_of(row, [2**10, 2**20, 2**24, 2**28])
        assert [point.size for point in curve] == [2**10, 2**20, 2**24, 2**28]
        assert [curve[1].seconds, curve[3].seconds] == pytest.approx([point.seconds for point in row.times], rel=1e-6)


def test_every_algorithm_has_a_description() -> None:
    undescribed = [each.name for each in baselines() if summary_of(each.name) == summary_of("a file")]
    assert undescribed == []
    assert all(title_of(each.name) != each.name for each in baselines())
