"""Flows over time: by hand, and against a linear program with times and against the bounds of cuts."""

from fractions import Fraction
from itertools import chain, combinations, permutations

import highspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.simulation.lower_bound.arrivals import Arrival
from forestcoll.simulation.lower_bound.distances import Distances
from forestcoll.simulation.lower_bound.flows_over_time import MOST_PAIRS, quickest_flows, successive_shortest_paths
from forestcoll.topology import Topology, build_topology
from networks import examples, linked, uneven_networks


def test_summands_of_one_box_reach_another_directly_and_over_the_nics_of_others() -> None:
    """A NIC of 25 GB/s sends directly; those of seven other ranks need a send before and one after."""
    across = Arrival(1.0, ((1, 25e3), (3, 7 * 25e3)))
    found = quickest_flows(build_topology("dgx-a100:boxes=2"), range(16))
    assert across in found
    assert len(found) == 2  # the other pair is in one box


def test_a_later_path_may_take_back_what_an_earlier_one_uses() -> None:
    """The shortest path a-b-c-d blocks both others, a-b-f-h-d and a-e-g-c-d: 3 sends, then 5 in addition."""
    crossed = linked("a b c d e f g h", "a>b b>c c>d a>e e>g g>c b>f f>h h>d d>a")
    assert list(successive_shortest_paths(crossed, 0, 3)) == [(3, Fraction(1)), (5, Fraction(1))]


def test_pairs_of_equal_members_are_tried_once() -> None:
    assert len(quickest_flows(build_topology("ring:nodes=9"), range(9))) == 4  # for each distance
    assert len(quickest_flows(build_topology("mi250:boxes=2"), range(32))) <= MOST_PAIRS


def test_pairs_of_many_members_are_found_soon() -> None:
    """The first and the last 32 of 100 nodes of a row: the ends are 99 sends apart."""
    topology = build_topology("mesh:dims=2x50")
    found = quickest_flows(topology, topology.compute)
    assert len(found) <= MOST_PAIRS
    assert max(arrival.rates[0][0] for arrival in found) == 1 + 49


@pytest.mark.parametrize("spec", ["mi250:boxes=1", "dgx-a100:boxes=2,gpus=3"])
def test_successive_shortest_paths_are_optimal_for_each_time(spec: str) -> None:
    topology = build_topology(spec)
    for source, target in list(permutations(topology.compute, 2))[:8]:
        check_times(topology, source, target)


@given(network=uneven_networks(), data=st.data())
@examples(60)
def test_successive_shortest_paths_are_optimal_for_each_time_on_any_network(
    network: Topology, data: st.DataObject
) -> None:
    source, target = data.draw(st.permutations(list(network.compute)))[:2]
    check_times(network, source, target)


def check_times(topology: Topology, source: int, target: int) -> None:
    """Compare what the paths bring in whole numbers of sends with a flow in a network that is copied for each time."""
    paths = list(successive_shortest_paths(topology, source, target))
    assert [sends for sends, _ in paths] == sorted({sends for sends, _ in paths})
    for time in range(1, 6):
        brought = sum((bandwidth * max(0, time - sends) for sends, bandwidth in paths), Fraction(0))
        assert float(brought) == pytest.approx(most_in_time(topology, source, target, time), rel=1e-6, abs=1e-6)


def most_in_time(topology: Topology, source: int, target: int, time: int) -> float:
    """Return what a flow brings in `time` sends: node v at the time t is row t·nodes + v, and data may wait.

    A link that leaves a compute node ends one send later. In each unit of time it carries its bandwidth.
    """
    count = len(topology.nodes)
    lp = highspy.HighsLp()
    arcs: list[tuple[int, int, float]] = []
    for now in range(time):
        arcs += [(now * count + node, (now + 1) * count + node, highspy.kHighsInf) for node in range(count)]
        for link in topology.links:
            later = now + topology.nodes[link.source].is_compute
            arcs.append((now * count + link.source, later * count + link.target, float(link.bandwidth)))
    start, end = source, (time - 1) * count + target
    ends = [row for arc in arcs for row in arc[:2]]
    arcs.append((end, start, highspy.kHighsInf))
    ends += [end, start]
    lp.num_col_, lp.num_row_ = len(arcs), (time + 1) * count
    lp.col_cost_ = np.array([0.0] * (len(arcs) - 1) + [-1.0])
    lp.col_lower_, lp.col_upper_ = np.zeros(len(arcs)), np.array([most for *_, most in arcs])
    lp.row_lower_ = lp.row_upper_ = np.zeros(lp.num_row_)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.arange(0, len(ends) + 1, 2)
    lp.a_matrix_.index_ = np.array(ends)
    lp.a_matrix_.value_ = np.array([-1.0, 1.0] * len(arcs))
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)  # noqa: FBT003
    highs.passModel(lp)
    highs.run()
    return -float(highs.getObjectiveValue())


@pytest.mark.parametrize("spec", ["mi250:boxes=1,gpus=8", "ring:nodes=5", "dgx-a100:boxes=2,gpus=2"])
def test_no_cut_bounds_the_data_of_two_members_more(spec: str) -> None:
    """A link into a set has the sends from the source before, and those to the target inside the set after."""
    topology, size = build_topology(spec), 2**20
    source, target = topology.compute[0], topology.compute[-1]
    arrival = Arrival.of(1.0, topology, successive_shortest_paths(topology, source, target))
    onwards, back = Distances(topology), Distances(topology.transposed())
    others = sorted({*range(len(topology.nodes))} - {source, target})
    for more in chain.from_iterable(combinations(others, count) for count in range(min(4, len(others)))):
        nodes = {target, *more}
        found = []
        for link in topology.links:
            if link.source not in nodes and link.target in nodes:
                before = back.around(link.source).get(source)
                after = onwards.around(link.target, nodes).get(target)
                if before is not None and after is not None:
                    found.append((1 + before + after, link.bandwidth))
        most = arrival.microseconds(size, 6, 1) * (1 + 1e-9)
        assert Arrival.of(1.0, topology, found).microseconds(size, 6, 1) <= most
