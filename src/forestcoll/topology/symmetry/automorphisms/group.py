"""Abelian groups of permutations that move every compute node: collected, and combined from smaller groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import prod

import numpy as np

from forestcoll.topology.symmetry.automorphisms.basis import basis
from forestcoll.topology.symmetry.automorphisms.graph import Indices, Mask, components


@dataclass(frozen=True, eq=False, slots=True)
class Generator:
    """A permutation that gives the identity when it is applied `order` times."""

    order: int
    image: Indices


@dataclass(frozen=True, eq=False, slots=True)
class _Primary:
    """A generator of an order that is a power of one prime."""

    prime: int
    generator: Generator


class Gathering:
    """A group that grows: a new symmetry must commute, and the group must keep acting freely on `compute` nodes."""

    def __init__(self, compute: Mask) -> None:
        self._compute = compute
        self.first = int(np.argmax(compute))
        self.generators: list[Generator] = []

    @property
    def order(self) -> int:
        """Return the number of elements of the group."""
        return prod(each.order for each in self.generators)

    def offer(self, image: Indices) -> bool:
        """Add the symmetry `image`, or else the lowest power of it that fits, and return whether one was added."""
        if (generators := self.fitting(image)) is not None:
            self.generators = generators
        return generators is not None

    def fitting(self, image: Indices) -> list[Generator] | None:
        """Return the group with the lowest power of `image` that commutes, is new and keeps the group free, or None."""
        if any(not np.array_equal(image[each.image], each.image[image]) for each in self.generators):
            return None
        order = cycle_length(image, self.first)
        if not is_identity(power(image, order)):
            return None
        for divisor in divisors(order)[:-1]:
            added = Generator(order // divisor, power(image, divisor))
            if is_free([*self.generators, added], self._compute):
                return [*self.generators, added]
            if (generators := self._merged(added)) is not None:
                return generators
        return None

    def _merged(self, added: Generator) -> list[Generator] | None:
        """Return the group with `added`, of which it already contains a power, or None if the result is not free."""
        if not self.generators:
            return None
        number = steps_from(np.arange(len(self._compute)) == self.first, self.generators)
        node, times = int(added.image[self.first]), 1
        while number[node] < 0:
            node, times = int(added.image[node]), times + 1
        powers = _digits(int(number[node]), [each.order for each in self.generators])
        same = np.array_equal(_product_of(self.generators, powers), power(added.image, times))
        generators = [*self.generators, added]
        if times == 1 or not same or not is_free(generators, self._compute, self.order * times):
            return None
        relations = [
            [each.order * (one == two) for two in range(len(generators))] for one, each in enumerate(generators)
        ]
        relations[-1] = [*(-each for each in powers), times]
        return [Generator(order, _product_of(generators, each)) for order, each in basis(relations)]

    def orbits(self) -> Indices:
        """Return the number of the orbit of each node."""
        return orbits(self.generators, len(self._compute))


def orbits(generators: Sequence[Generator], nodes: int) -> Indices:
    """Return the number of the orbit of each node under `generators`."""
    source = np.tile(np.arange(nodes), len(generators))
    target = np.concatenate([each.image for each in generators]) if generators else source
    return components(nodes, source, target)


def is_free(generators: Sequence[Generator], compute: Mask, order: int | None = None) -> bool:
    """Return whether each orbit of commuting `generators` has `order` compute nodes; by default, one per product."""
    wanted = prod(each.order for each in generators) if order is None else order
    sizes = np.bincount(orbits(generators, len(compute))[compute])
    return bool((sizes[sizes > 0] == wanted).all())


def orbit_count(generators: Sequence[Generator], compute: Mask) -> int:
    """Return the number of orbits of compute nodes under `generators`."""
    return len(np.unique(orbits(generators, len(compute))[compute]))


def steps_from(first: Mask, generators: Sequence[Generator]) -> Indices:
    """Return, for each node, the powers of `generators` that lead to it from one of the nodes `first`, as one number.

    The powers are the digits of the number, the lowest first. The number is -1 if no powers lead to the node.
    """
    number = np.where(first, 0, -1)
    factor = 1
    for generator in generators:
        known = np.flatnonzero(number >= 0)
        image = known
        for step in range(1, generator.order):
            image = generator.image[image]
            fresh = number[image] < 0
            number[image[fresh]] = number[known[fresh]] + step * factor
        factor *= generator.order
    return number


def _digits(number: int, sizes: Sequence[int]) -> list[int]:
    digits = []
    for size in sizes:
        digits.append(number % size)
        number //= size
    return digits


def _product_of(generators: Sequence[Generator], powers: Sequence[int]) -> Indices:
    """Return the product of `generators` to the given powers; there is at least one generator."""
    image = np.arange(len(generators[0].image))
    for each, exponent in zip(generators, powers, strict=True):
        image = power(each.image, exponent % each.order)[image]
    return image


def cycle_length(image: Indices, start: int) -> int:
    """Return after how many applications of `image` the node `start` returns to its place."""
    images = image.tolist()
    length, node = 1, images[start]
    while node != start:
        length, node = length + 1, images[node]
    return length


def power(image: Indices, exponent: int) -> Indices:
    """Return `image` applied `exponent` times."""
    result = np.arange(len(image))
    while exponent:
        if exponent % 2:
            result = image[result]
        image = image[image]
        exponent //= 2
    return result


def is_identity(image: Indices) -> bool:
    """Return whether `image` leaves every node in place."""
    return np.array_equal(image, np.arange(len(image)))


def divisors(number: int) -> list[int]:
    """Return the divisors of `number`, in ascending order."""
    low = [each for each in range(1, int(number**0.5) + 2) if number % each == 0 and each * each <= number]
    return low + [number // each for each in reversed(low) if each * each < number]


def common(groups: Sequence[Sequence[Generator]]) -> list[Generator]:
    """Return the largest group that is a subgroup of each of `groups`; it acts on the nodes of all, group by group.

    Generators are first split into generators of prime power order. Then a group has a subgroup with given orders if,
    for each prime, its orders are at least as large: the largest compared with the largest, and so on.
    """
    primary = [_primary(group) for group in groups]
    primes = sorted({each.prime for each in primary[0]})
    rows = [_common_of_prime([[one for one in each if one.prime == prime] for each in primary]) for prime in primes]
    return [_product([each for each in parts if each is not None]) for parts in zip_longest(*rows)]


def _common_of_prime(groups: Sequence[Sequence[_Primary]]) -> list[Generator]:
    ranked = [sorted((each.generator for each in group), key=lambda one: -one.order) for group in groups]
    return [_side_by_side(each) for each in zip(*ranked, strict=False)]


def _side_by_side(generators: Sequence[Generator]) -> Generator:
    """Return what all `generators` do together, each on its own nodes; powers make their orders equal first."""
    order = min(each.order for each in generators)
    images, first = [], 0
    for each in generators:
        images.append(first + power(each.image, each.order // order))
        first += len(each.image)
    return Generator(order, np.concatenate(images))


def _product(generators: Sequence[Generator]) -> Generator:
    """Return the product of generators whose orders have no common divisor."""
    image = generators[0].image
    for each in generators[1:]:
        image = each.image[image]
    return Generator(prod(each.order for each in generators), image)


def _primary(group: Sequence[Generator]) -> list[_Primary]:
    return [
        _Primary(prime, Generator(part, power(each.image, each.order // part)))
        for each in group
        for prime, part in _prime_powers(each.order)
    ]


def _prime_powers(number: int) -> Iterator[tuple[int, int]]:
    """Yield (prime, power) for each prime that divides `number`; the power is the highest that divides it."""
    prime = 2
    while number > 1:
        part = 1
        while number % prime == 0:
            number, part = number // prime, part * prime
        if part > 1:
            yield prime, part
        prime += 1
