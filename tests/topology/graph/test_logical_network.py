from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import optimum
from forestcoll.topology import build_topology
from forestcoll.topology.graph.box_distances import box_distances, distance_counts
from forestcoll.topology.graph.boxes import box_numbers, is_one_box
from forestcoll.topology.graph.logical_network import BandwidthSplit, logical_network, one_peer_network
from networks import examples
from refusal import refusal


@examples(100)
@given(boxes=st.integers(2, 24), most=st.integers(2, 12))
def test_few_symmetric_distances_reach_all_boxes(boxes: int, most: int) -> None:
    distances = box_distances(boxes, most)
    assert 1 <= len(distances) <= most
    assert {-each % boxes for each in distances} == set(distances)
    counts = distance_counts(boxes, distances)
    assert sum(counts.values()) == boxes - 1
    assert all(count >= 1 for count in counts.values())


@pytest.mark.parametrize("spread", BandwidthSplit)
def test_logical_links_have_the_bandwidth_of_the_link_to_the_fabric(spread: BandwidthSplit) -> None:
    network = build_topology("dgx-a100:boxes=6,gpus=2")
    logical = logical_network(network, 3, spread)
    for node in network.compute:
        out = [each for each in logical.topology.links if each.source == node and (node, each.target) in logical.paths]
        into = [each for each in logical.topology.links if each.target == node and (each.source, node) in logical.paths]
        assert sum(each.bandwidth for each in out) == sum(each.bandwidth for each in into) == Fraction(25)
        assert len({each.target for each in out} | {each.source for each in into}) <= 3


@pytest.mark.parametrize("spec", ["mi250:boxes=2,gpus=8", "mi250:boxes=4", "dgx-a100:boxes=12"])
def test_with_one_peer_a_rank_sends_to_one_rank_of_another_box_with_its_whole_bandwidth(spec: str) -> None:
    network = build_topology(spec)
    logical = one_peer_network(network)
    box = box_numbers(network)
    between = [each for each in logical.topology.links if box[each.source] != box.get(each.target, box[each.source])]
    assert [each.source for each in between] == list(network.compute)
    assert sorted(each.target for each in between) == list(network.compute)
    out = {each.source: each.bandwidth for each in network.links if each.target not in box}
    assert all(each.bandwidth == out[each.source] for each in between)
    boxes = max(box.values()) + 1
    assert {(box[each.target] - box[each.source]) % boxes for each in between} == set(logical.distances)
    assert logical.distances == tuple(range(1, min(boxes, 1 + len(network.compute) // boxes)))
    assert optimum(network).algbw >= optimum(logical.topology).algbw > 0


def test_boxes_whose_links_do_not_join_their_nodes_are_refused() -> None:
    """With four GPUs of each box, two of them have no link to the others: they meet only over the fabric."""
    network = build_topology("mi250:boxes=2,gpus=4")
    said = "without the fabric, compute node 'b0/gpu0' cannot reach 'b0/gpu2'"
    assert said in refusal(one_peer_network, network)
    assert said in refusal(logical_network, network, 1, BandwidthSplit.BOTH)


def test_other_networks_are_refused() -> None:
    for spec in ("dgx-a100:boxes=1", "ring:nodes=4", "aws-p5:boxes=3"):
        assert "max_peers does not apply" in refusal(one_peer_network, build_topology(spec))
    for spec, peers, message in [
        ("dgx-a100:boxes=4", 1, "4 boxes need at least 2 peers"),
        ("dgx-a100:boxes=1", 2, "it has no two boxes"),
        ("ring:nodes=4", 2, "it has no two boxes"),
        ("aws-p5:boxes=3", 2, "has more than one NIC"),
        ("superpod-b300:boxes=3", 2, "switch 'b0/nic0' has more than one full-duplex link"),
    ]:
        assert message in refusal(logical_network, build_topology(spec), peers, BandwidthSplit.OUTWARDS)


def test_which_networks_are_one_box() -> None:
    assert is_one_box(build_topology("dgx-a100:boxes=1"))
    assert is_one_box(build_topology("mi250:boxes=1"))
    assert not is_one_box(build_topology("dgx-a100:boxes=2,gpus=2"))
    assert not is_one_box(build_topology("ring:nodes=4"))  # nothing says which nodes are in a box
