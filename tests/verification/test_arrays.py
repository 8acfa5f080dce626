"""The network as arrays, permutations, and searches in arrays."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from forestcoll.schedule.rows import IntArray
from forestcoll.topology import Link, Node, NodeKind, Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import network
from forestcoll.verification.network import Network
from forestcoll.verification.permutations import orbits, power

RING = build_topology("ring:nodes=4")


def uneven() -> Topology:
    """Return three nodes and two switches with links of three bandwidths, two of them with the same ends."""
    kinds = [Node(name) for name in "abc"]
    kinds += [Node("copies", NodeKind.SWITCH, multicast=True), Node("adds", NodeKind.SWITCH, aggregation=True)]
    ends = [(1, 0, 3), (0, 1, 2), (1, 0, 7), (0, 3, 2), (3, 2, 3), (2, 4, 2)]
    links = tuple(Link(source, target, Fraction(bandwidth)) for source, target, bandwidth in ends)
    return replace(RING, nodes=tuple(kinds), links=links)


def _pairs(type_of_ends: type[np.signedinteger[Any]]) -> tuple[IntArray, IntArray]:
    """Return the sources and the targets of all pairs of five nodes."""
    return np.repeat(range(5), 5).astype(type_of_ends), np.tile(range(5), 5).astype(type_of_ends)


@pytest.mark.parametrize("most", [0, 24, 25, 2**25])
def test_links_are_found_by_their_ends(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of all pairs of nodes and the binary search agree. Of two links with equal ends, the first is found."""
    monkeypatch.setattr(network, "MAX_TABLE", most)
    found = Network(uneven())
    assert (found._table is None) == (most < 25)
    for sources, targets in (_pairs(np.int32), _pairs(np.int64)):
        expected = {(1, 0): 0, (0, 1): 1, (0, 3): 3, (3, 2): 4, (2, 4): 5}
        ends = zip(sources.tolist(), targets.tolist(), strict=True)
        assert found.find_links(sources, targets).tolist() == [expected.get(each, -1) for each in ends]
    assert found.find_links(np.array([], dtype=np.int32), np.array([], dtype=np.int32)).tolist() == []
    assert Network(replace(RING, links=())).find_links(np.array([0, 1]), np.array([1, 3])).tolist() == [-1, -1]


def test_of_many_links_with_equal_ends_the_first_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "MAX_TABLE", 0)
    links = tuple(Link(place % 2, 1 - place % 2, Fraction(1)) for place in range(64))
    found = Network(replace(RING, links=links))
    assert found.find_links(np.array([0, 1]), np.array([1, 0])).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("loads", "longest", "links"),
    [
        ([9, 6, 1, 5, 9, 6], Fraction(3), [0, 1, 4, 5]),
        ([0, 0, 2**60 + 1, 0, 0, 0], Fraction(2**60 + 1, 7), [2]),
    ],
)
def test_the_busiest_links_need_the_longest_time(loads: list[int], longest: Fraction, links: list[int]) -> None:
    time, found = Network(uneven()).busiest(np.array(loads, dtype=np.int64))
    assert (time, found.tolist()) == (longest, links)
    assert Network(replace(RING, links=())).busiest(np.array([], dtype=np.int64))[0] == 0


def test_powers_of_permutations_are_repeated_images() -> None:
    random = np.random.default_rng(3)
    for size in (1, 5, 12):
        image = random.permutation(size)
        expected = np.arange(size)
        for exponent in range(11):
            assert power(image, exponent).tolist() == expected.tolist()
            expected = image[expected]


def plain_orbits(images: list[list[int]], size: int) -> list[int]:
    least = list(range(size))
    for _ in range(size):
        for image in images:
            for place, moved in enumerate(image):
                least[place] = least[moved] = min(least[place], least[moved])
    return least


def test_orbits_are_named_by_their_least_number() -> None:
    random = np.random.default_rng(5)
    assert orbits([], 3).tolist() == [0, 1, 2]
    for size in (1, 2, 7, 8, 16):
        for count in (1, 2):
            images = [list(range(size)) for _ in range(count)]
            for image in images:
                for one, other in random.integers(size, size=(size // 2, 2)).tolist():
                    image[one], image[other] = image[other], image[one]
            assert orbits([np.array(image) for image in images], size).tolist() == plain_orbits(images, size)
    chain = [[1, 0, 3, 2, 5, 4, 7, 6], [0, 2, 1, 4, 3, 6, 5, 7]]
    for images in (chain, chain[::-1]):
        assert orbits([np.array(image) for image in images], 8).tolist() == [0] * 8
    assert orbits([np.roll(np.arange(17), 1)], 17).tolist() == [0] * 17
