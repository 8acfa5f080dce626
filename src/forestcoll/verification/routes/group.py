"""The group of a schedule's symmetry: the images of nodes, links and loads under its elements.

The shifts of a symmetry commute, so the group consists of all products of their powers. A sum over the group is a sum
over the powers of the first shift of the sum over the powers of the second, and so on. A sum over the powers of one
shift takes as many steps as its order has binary digits. So a group of thousands of elements costs a few passes over
the links, and no element is computed.
"""

import math
from functools import cached_property

import numpy as np

from forestcoll.schedule.rows import IntArray
from forestcoll.topology import Symmetry
from forestcoll.verification.network import ExactArray, Network
from forestcoll.verification.permutations import orbits


class ShiftGroup:
    """All products of powers of the shifts of `symmetry`.

    A property may rely on every rule that is applied before the rules that use it.

    Attributes:
        order: the number of products.
        shifts: for each shift, the image of each node.
        orders: for each shift, its order: the number of its different powers.
    """

    def __init__(self, network: Network, symmetry: Symmetry) -> None:
        self.shifts: tuple[IntArray, ...] = tuple(shift.image for shift in symmetry.shifts)
        self.orders = tuple(shift.order for shift in symmetry.shifts)
        self.order = math.prod(self.orders)
        self._network = network

    @cached_property
    def link_images(self) -> tuple[IntArray, ...]:
        """For each shift, the number of the image of each link, or -1 if the image is not a link."""
        network = self._network
        return tuple(network.find_links(shift[network.sources], shift[network.targets]) for shift in self.shifts)

    def images(self, node: int) -> IntArray:
        """Return the image of `node` under each product; the power of the last shift changes fastest."""
        images = np.array([node])
        for shift, order in zip(self.shifts, self.orders, strict=True):
            powers = [images]
            for _ in range(order - 1):
                powers.append(shift[powers[-1]])
            images = np.stack(powers, axis=1).reshape(-1)
        return images

    def powers(self, place: int) -> tuple[int, ...]:
        """Return the power of each shift in the product at `place` in `images`."""
        return tuple(int(each) for each in np.unravel_index(place, self.orders))

    @cached_property
    def orbits(self) -> IntArray:
        """For each node, the least node of its orbit."""
        return orbits(self.shifts, self._network.size)

    @cached_property
    def orbit_sizes(self) -> IntArray:
        """For each node, the number of nodes in its orbit.

        The elements of the group map a node to each node of its orbit equally often.
        """
        sizes: IntArray = np.bincount(self.orbits)[self.orbits]
        return sizes

    def to_least(self, keys: IntArray, nodes: IntArray) -> IntArray:
        """Return the image of each of `nodes` under the element that maps its key to the least node of the orbit.

        Args:
            keys: compute nodes that take part, one for each of `nodes`. No two elements map a key to the same node.
            nodes: the nodes that are mapped.
        """
        exponents = np.unravel_index(self._places[keys], self.orders) if self.shifts else ()
        for shift, order, exponent in zip(self.shifts, self.orders, exponents, strict=True):
            nodes = _powers(shift, (order - exponent) % order, nodes)
        return nodes

    @cached_property
    def _places(self) -> IntArray:
        """For each compute node, the place in `images` of the product that maps the least node of its orbit to it."""
        places = np.zeros(self._network.size, dtype=np.int64)
        for node in np.flatnonzero(self._network.is_compute & (self.orbits == np.arange(len(places)))).tolist():
            places[self.images(node)] = np.arange(self.order)
        return places

    def summed(self, loads: ExactArray) -> ExactArray:
        """Return the sum of the images of the link loads `loads` under all products."""
        for image, order in zip(self.link_images, self.orders, strict=True):
            loads = _sum_of_powers(loads, image, order)
        return loads


def _powers(shift: IntArray, exponents: IntArray, nodes: IntArray) -> IntArray:
    """Return the image of each of `nodes` under the power of `shift` with its exponent, one binary digit at a time."""
    while exponents.any():
        nodes = np.where(exponents % 2 == 1, shift[nodes], nodes)
        shift, exponents = shift[shift], exponents // 2
    return nodes


def _sum_of_powers(loads: ExactArray, image: IntArray, count: int) -> ExactArray:
    """Return the sum of the images of `loads` under the powers 0 to `count` - 1 of `image`.

    Let S(n) be the sum for the first n powers. S(2n) is S(n) plus S(n) moved by the n-th power; S(n + 1) is S(n) moved
    once, plus `loads`.
    """
    total, moved_by = np.zeros_like(loads), np.arange(len(image))
    for digit in f"{count:b}":
        total, moved_by = total + _moved(total, moved_by), moved_by[moved_by]
        if digit == "1":
            total, moved_by = loads + _moved(total, image), image[moved_by]
    return total


def _moved(loads: ExactArray, image: IntArray) -> ExactArray:
    moved = np.zeros_like(loads)
    np.add.at(moved, image, loads)
    return moved
