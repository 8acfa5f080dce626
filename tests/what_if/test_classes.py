from itertools import combinations
from math import comb

import numpy as np
import pytest

from forestcoll.demand.demand import NodeDemand
from forestcoll.topology import TopologyBuilder
from forestcoll.topology.graph.changes import changed_network
from forestcoll.topology.registry import load_topology
from forestcoll.what_if.classes import Symmetries, classes_of_sets, images_of_items
from forestcoll.what_if.exchanges import exchanges_of_boxes
from forestcoll.what_if.failures import duplex_links


@pytest.mark.parametrize("broken", [(), ("b0/gpu0--b0/nvswitch",)])
@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2", "dgx-h100:boxes=3", "superpod-h100:boxes=3", "aws-p4d:boxes=3"])
def test_each_symmetry_keeps_all_links(spec: str, broken: tuple[str, ...]) -> None:
    topology = changed_network(load_topology(spec), broken)
    links = {(link.source, link.target): link.bandwidth for link in topology.links}
    symmetries = Symmetries.of(topology, NodeDemand())
    assert symmetries.images
    for image in symmetries.images:
        assert {(image[one], image[other]): each for (one, other), each in links.items()} == links


def test_a_symmetry_keeps_the_root() -> None:
    topology = load_topology("dgx-a100:boxes=2")
    images = Symmetries.of(topology, NodeDemand(root=3)).images
    assert images
    assert all(image[3] == 3 for image in images)


def test_boxes_can_be_exchanged_where_a_link_is_broken() -> None:
    whole = load_topology("superpod-h100:boxes=5")
    broken = changed_network(whole, ["b2/gpu3--leaf3"])
    assert len(list(exchanges_of_boxes(whole))) == 4
    images = list(exchanges_of_boxes(broken))
    assert len(images) == 3
    third = [number for number, node in enumerate(broken.nodes) if node.attributes.get("box") == 2]
    assert all((image[third] == third).all() for image in images)


def test_unlike_boxes_are_not_exchanged() -> None:
    builder = TopologyBuilder("unlike")
    for box, bandwidth in enumerate((5, 6, 5)):
        builder.add_duplex(builder.add_compute(f"a{box}", box=box), builder.add_compute(f"b{box}", box=box), bandwidth)
    builder.add_switch("fabric")
    for box in range(3):
        builder.add_duplex(f"a{box}", "fabric", 1)
    (image,) = exchanges_of_boxes(builder.build())
    assert image.tolist() == [4, 5, 2, 3, 0, 1, 6]


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_classes_count_every_set_once(at_once: int) -> None:
    topology = load_topology("ring:nodes=7")
    items = [frozenset((ends,)) for ends in duplex_links(topology)]
    images = images_of_items(Symmetries.of(topology, NodeDemand()), items)
    classes = classes_of_sets(len(items), at_once, images)
    assert sum(each.count for each in classes) == comb(7, at_once)
    assert {each.first for each in classes} <= set(combinations(range(7), at_once))


def test_pairs_of_links_of_a_ring_differ_by_their_distance() -> None:
    """Turning a ring of 7 takes pairs of links at one distance to each other: 1, 2 or 3."""
    topology = load_topology("ring:nodes=7")
    items = [frozenset((ends,)) for ends in duplex_links(topology)]
    images = images_of_items(Symmetries.of(topology, NodeDemand()), items)
    assert [each.count for each in classes_of_sets(7, 2, images)] == [7, 7, 7]


def test_an_image_outside_the_items_joins_nothing() -> None:
    outside = np.array([1, -1, -1])
    assert [each.count for each in classes_of_sets(3, 1, [outside])] == [2, 1]
