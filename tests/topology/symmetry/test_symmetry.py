"""The value type of a group of symmetries: its order and its elements, orbits of links, and sums over all elements."""

from itertools import product

import numpy as np
import pytest

from forestcoll.topology import Shift, Symmetry
from forestcoll.topology.graph.changes import changed_network
from forestcoll.topology.registry import build_topology
from forestcoll.topology.symmetry.automorphisms import find_symmetry
from forestcoll.topology.symmetry.orbits import link_orbits, summed_over_images


def _shift(order: int, image: list[int]) -> Shift:
    return Shift(order, np.array(image, dtype=np.int32))


def test_no_shifts_are_the_trivial_group() -> None:
    group = Symmetry(())
    assert group.order == 1
    assert [element.tolist() for element in group.elements(3)] == [[0, 1, 2]]


def test_elements_are_all_products_of_powers_and_the_identity_comes_first() -> None:
    group = Symmetry((_shift(2, [3, 4, 5, 0, 1, 2]), _shift(3, [1, 2, 0, 4, 5, 3])))
    assert group.order == 6
    elements = [element.tolist() for element in group.elements(6)]
    assert elements[0] == [0, 1, 2, 3, 4, 5]
    assert sorted(element[0] for element in elements) == [0, 1, 2, 3, 4, 5]
    assert elements[4] == [4, 5, 3, 1, 2, 0]


def test_the_repr_of_a_symmetry_is_one_line() -> None:
    shifts = (_shift(2, [3, 4, 5, 0, 1, 2]), _shift(3, [1, 2, 0, 4, 5, 3]))
    assert repr(Symmetry(shifts)) == "Symmetry(order 6 = 2 x 3)"
    assert repr(Symmetry(shifts[:1])) == "Symmetry(order 2)"
    assert repr(Symmetry(())) == "Symmetry(order 1)"
    assert repr(shifts[1]) == "Shift(order 3, 6 nodes)"


@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2,nics=true", "torus:dims=2x3", "mi250:boxes=2", "rail:boxes=3"])
def test_the_links_of_an_orbit_are_the_images_of_a_link_under_the_group(spec: str) -> None:
    topology = build_topology(spec)
    symmetry = find_symmetry(topology)
    number = {(link.source, link.target): place for place, link in enumerate(topology.links)}
    first = list(range(len(topology.links)))
    for element, (place, link) in product(symmetry.elements(len(topology.nodes)), enumerate(topology.links)):
        first[place] = min(first[place], number[int(element[link.source]), int(element[link.target])])
    assert link_orbits(topology, symmetry).tolist() == first


@pytest.mark.parametrize("change", [None, "b0/gpu0--ib"])
def test_loads_of_all_images_are_the_sums_over_the_elements_of_the_group(change: str | None) -> None:
    topology = build_topology("dgx-a100:boxes=4")
    if change is not None:
        topology = changed_network(topology, without=[change])
    symmetry = find_symmetry(topology, moves_all=change is None)
    loads = np.arange(len(topology.links)) ** 2
    number = {(link.source, link.target): place for place, link in enumerate(topology.links)}
    summed = np.zeros_like(loads)
    for element in symmetry.elements(len(topology.nodes)):
        for place, link in enumerate(topology.links):
            summed[number[int(element[link.source]), int(element[link.target])]] += loads[place]
    assert symmetry.order > 1
    assert summed_over_images(topology, symmetry, loads).tolist() == summed.tolist()
