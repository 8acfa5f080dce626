"""The value type of a group of symmetries: its order and its elements, orbits of links, and sums over all elements."""

from itertools import product

import numpy as np

from forestcoll.topology import Shift, Symmetry
from forestcoll.topology.changes import changed_network
from forestcoll.topology.registry import build_topology
from forestcoll.topology.symmetry.automorphisms import find_symmetry
from forestcoll.topology.symmetry.orbits import link_orbits, summed_over_images


def _shift(order: int, image: list[int]) -> Shift:
    return Shift(order, np.array(image, dtype=np.int32))


def test_elements_are_all_products_of_powers_and_the_identity_comes_first() -> None:
    group = Symmetry(())
    assert group.order == 1
    assert [element.tolist() for element in group.elements(3)] == [[0, 1, 2]]
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


def test_orbits_of_links_and_loads_of_all_images_are_those_by_the_elements_of_the_group() -> None:
    specs = ["dgx-a100:boxes=2,pcie=true", "torus:dims=2x3", "mi250:boxes=2", "rail:boxes=3", "dgx-a100:boxes=4"]
    broken = changed_network(build_topology("dgx-a100:boxes=4"), without=["b0/gpu0--ib"])
    for topology in (*map(build_topology, specs), broken):
        symmetry = find_symmetry(topology, moves_all=topology is not broken)
        assert symmetry.order > 1, topology.name
        number = {(link.source, link.target): place for place, link in enumerate(topology.links)}
        first = list(range(len(topology.links)))
        loads = np.arange(len(topology.links)) ** 2
        summed = np.zeros_like(loads)
        for element, (place, link) in product(symmetry.elements(len(topology.nodes)), enumerate(topology.links)):
            image = number[int(element[link.source]), int(element[link.target])]
            first[place] = min(first[place], image)
            summed[image] += loads[place]
        assert link_orbits(topology, symmetry).tolist() == first, topology.name
        assert summed_over_images(topology, symmetry, loads).tolist() == summed.tolist(), topology.name
