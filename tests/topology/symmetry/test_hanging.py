"""Symmetries that keep hubs in place: their orbits, compared with all permutations of small networks."""

from collections.abc import Iterator
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.topology.symmetry.hanging import hanging_orbits
from mixed_networks import random_network
from networks import SMALL, examples, linked, networks


def symmetries(topology: Topology) -> Iterator[tuple[int, ...]]:
    """Yield all permutations of the nodes that keep compute nodes, links and bandwidths."""
    bandwidths = {(link.source, link.target): link.bandwidth for link in topology.links}
    for image in permutations(range(len(topology.nodes))):
        moved = {(image[one], image[other]): each for (one, other), each in bandwidths.items()}
        if moved == bandwidths and {image[node] for node in topology.compute} == set(topology.compute):
            yield image


@examples(100)
@given(networks(most=6, kinds=st.just(SMALL)))
def test_a_symmetry_maps_all_nodes_and_links_of_an_orbit_to_each_other(topology: Topology) -> None:
    orbits, numbers = hanging_orbits(topology), topology.link_numbers
    kept = [
        image
        for image in symmetries(topology)
        if all(orbits.of_node[node] == orbits.of_node[image[node]] for node in range(len(image)))
    ]
    for node, orbit in enumerate(orbits.of_node):
        assert {image[node] for image in kept} == {each for each, of in enumerate(orbits.of_node) if of == orbit}
    for (source, target), link in numbers.items():
        images = {numbers[image[source], image[target]] for image in kept}
        assert images == {each for each, of in enumerate(orbits.of_link) if of == orbits.of_link[link]}


def test_a_forest_has_no_hubs() -> None:
    star = linked("0 1 2 hub", "0=hub 1=hub 2=hub")
    assert hanging_orbits(star).node_sizes == (3, 1)


def test_a_ring_keeps_enough_nodes_in_place_to_have_no_cycle() -> None:
    assert sorted(hanging_orbits(build_topology("ring:nodes=5")).node_sizes) == [1, 2, 2]


def test_boxes_without_faults_on_the_same_leaves_are_exchanged() -> None:
    topology = random_network("leaf-spine", "1", 256)
    assert len(hanging_orbits(topology).first_compute(topology)) < 30
