"""Which changes are symmetric: a symmetry of the network takes one to the other, so both have the same optimum.

Symmetries come from `exchanges`: of twins, and of boxes that are alike. And from `find_symmetry`: shifts of the whole
network, which are lost where one link is broken. Changes that a product of these symmetries takes to each other are in
one class. Changes in different classes may still be symmetric.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from forestcoll.base.errors import InputError
from forestcoll.demand.demand import NodeDemand
from forestcoll.topology import Topology
from forestcoll.topology.graph.part import relayed
from forestcoll.topology.link_classes import Ends
from forestcoll.topology.symmetry.automorphisms import find_symmetry
from forestcoll.topology.symmetry.automorphisms.graph import components
from forestcoll.what_if.exchanges import exchanges_of_boxes, exchanges_of_twins

Integers = npt.NDArray[np.int64]

MOST_SETS = 3_000_000
"""The most sets of several changes that are put into classes."""

_MOST_WORK = 30_000_000
"""The most images of sets that are computed. Symmetries beyond that are left out: there are more classes then."""


@dataclass(frozen=True)
class Symmetries:
    """Permutations of the nodes that are symmetries of a network and keep a demand.

    Attributes:
        images: each permutation, as the image of each node.
    """

    images: tuple[Integers, ...]

    @staticmethod
    def of(topology: Topology, demand: NodeDemand) -> "Symmetries":
        """Return the symmetries that are found: shifts of the network, then exchanges of boxes and of twins."""
        network = relayed(topology, demand.members(topology))
        weights = dict(zip(demand.members(topology), demand.weights(topology), strict=True))
        of_node = np.array([weights.get(node, 0) for node in range(len(topology.nodes))])
        images = [shift.image.astype(np.int64) for shift in find_symmetry(network).shifts]
        images += [*exchanges_of_boxes(network), *exchanges_of_twins(network)]
        return Symmetries(tuple(image for image in images if np.array_equal(of_node[image], of_node)))


def images_of_items(symmetries: Symmetries, items: Sequence[frozenset[Ends | int]]) -> list[Integers]:
    """Return, for each symmetry, the place of the image of each item, or -1 if the image is not among the items.

    An item is a set of links, by their ends, and of nodes. Only items that touch a node which moves are looked up.
    """
    places = {item: place for place, item in enumerate(items)}
    touching: dict[int, list[int]] = {}
    for place, item in enumerate(items):
        for node in {end for each in item for end in ((each,) if isinstance(each, int) else each)}:
            touching.setdefault(node, []).append(place)
    found = []
    for image in symmetries.images:
        moved, places_of = np.flatnonzero(image != np.arange(len(image))).tolist(), np.arange(len(items))
        nodes = image.tolist()
        for place in {place for node in moved for place in touching.get(node, ())}:
            places_of[place] = places.get(_moved(items[place], nodes), -1)
        found.append(places_of)
    return found


def _moved(item: Iterable[Ends | int], image: Sequence[int]) -> frozenset[Ends | int]:
    return frozenset(
        image[each]
        if isinstance(each, int)
        else (min(image[each[0]], image[each[1]]), max(image[each[0]], image[each[1]]))
        for each in item
    )


@dataclass(frozen=True)
class SetClass:
    """A class of sets of items.

    Attributes:
        first: the items of the first set of the class, by their places.
        count: the number of sets in the class.
    """

    first: tuple[int, ...]
    count: int


def classes_of_sets(items: int, at_once: int, images: Sequence[Integers]) -> list[SetClass]:
    """Return the classes of all sets of `at_once` items, in the order of their first sets.

    Raises:
        InputError: there are more than `MOST_SETS` sets.
    """
    count = comb(items, at_once)
    if count > MOST_SETS:
        fix = "ask for fewer at once" if at_once > 1 else "use a smaller network"
        raise InputError(f"there are {count:,} sets of {at_once} of {items} failures, {MOST_SETS:,} at most; {fix}")
    sets = _sets(items, at_once, count)
    codes = _codes(sets, items)
    of_set = np.arange(count)
    for image in images[: max(1, _MOST_WORK // max(1, count * at_once))]:
        moved = image[sets]
        inside = (moved >= 0).all(axis=1)
        targets = np.searchsorted(codes, _codes(np.sort(moved[inside], axis=1), items))
        of_set = _joined(of_set, np.flatnonzero(inside), targets)
    _, firsts, counts = np.unique(of_set, return_index=True, return_counts=True)
    return [
        SetClass(tuple(sets[first].tolist()), int(number))
        for first, number in sorted(zip(firsts.tolist(), counts.tolist(), strict=True))
    ]


def _sets(items: int, at_once: int, count: int) -> Integers:
    """Return all sets in the order of `itertools.combinations`, a row each."""
    if at_once == 2:
        return np.stack(np.triu_indices(items, 1), axis=1)
    return np.array(list(combinations(range(items), at_once)), dtype=np.int64).reshape(count, at_once)


def _codes(sets: Integers, items: int) -> Integers:
    """Return a number for each sorted set; the numbers rise in the order of `itertools.combinations`."""
    codes = np.zeros(len(sets), dtype=np.int64)
    for column in range(sets.shape[1]):
        codes = codes * items + sets[:, column]
    return codes


def _joined(of_set: Integers, sources: Integers, targets: Integers) -> Integers:
    """Return the classes after the classes of each source and its target became one."""
    together: Integers = components(int(of_set.max()) + 1, of_set[sources], of_set[targets])[of_set]
    return together
