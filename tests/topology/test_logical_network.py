from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import build_topology
from forestcoll.errors import InputError
from forestcoll.topology.box_distances import box_distances, distance_counts
from forestcoll.topology.logical_network import Spread, logical_network


@given(boxes=st.integers(2, 24), most=st.integers(2, 12))
def test_few_symmetric_distances_reach_all_boxes(boxes: int, most: int) -> None:
    distances = box_distances(boxes, most)
    assert 1 <= len(distances) <= most
    assert {-each % boxes for each in distances} == set(distances)
    counts = distance_counts(boxes, distances)
    assert sum(counts.values()) == boxes - 1
    assert all(count >= 1 for count in counts.values())


@pytest.mark.parametrize("spread", Spread)
def test_logical_links_have_the_bandwidth_of_the_link_to_the_fabric(spread: Spread) -> None:
    network = build_topology("dgx-a100:boxes=6,gpus=2")
    logical = logical_network(network, 3, spread)
    for node in network.compute:
        out = [each for each in logical.topology.links if each.source == node and (node, each.target) in logical.paths]
        into = [each for each in logical.topology.links if each.target == node and (each.source, node) in logical.paths]
        assert sum(each.bandwidth for each in out) == sum(each.bandwidth for each in into) == Fraction(25)
        assert len({each.target for each in out} | {each.source for each in into}) <= 3


@pytest.mark.parametrize(
    ("spec", "peers", "message"),
    [
        ("dgx-a100:boxes=4", 1, "trees over 4 boxes need at least 2 peers"),
        ("dgx-a100:boxes=1", 2, "it has no two boxes"),
        ("ring:nodes=4", 2, "it has no two boxes"),
        ("aws-p5:boxes=3", 2, "has more than one NIC"),
        ("superpod-b300:boxes=3", 2, "switch 'b0/nic0' has more than one full-duplex link"),
    ],
)
def test_other_networks_are_refused(spec: str, peers: int, message: str) -> None:
    with pytest.raises(InputError, match=message) as refusal:
        logical_network(build_topology(spec), peers, Spread.OUTWARDS)
    assert "\n" not in str(refusal.value)
