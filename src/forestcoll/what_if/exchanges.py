"""Symmetries that exchange two parts of a network and leave all other nodes in place.

*Twins* are two nodes of the same sort with the same links to the same neighbours. Two boxes can be exchanged if their
nodes, taken in order, are of the same sorts and have the same links to each other and to the outside. Each exchange is
tested link by link before it is returned. Where a failed link has destroyed the symmetry of the whole network, these
remain.
"""

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from forestcoll.topology import Topology
from forestcoll.topology.graph.boxes import named_boxes
from forestcoll.topology.model import Node

Integers = npt.NDArray[np.int64]

_MOST_KINDS = 16
"""The most kinds of boxes that a box is compared with."""

Figures = tuple[object, object]
"""The bandwidth and the latency of a link."""


def exchanges_of_twins(network: Topology) -> Iterator[Integers]:
    """Yield the exchange of each node with its next twin, as the image of each node."""
    links: list[list[tuple[object, ...]]] = [[] for _ in network.nodes]
    for link in network.links:
        links[link.source].append((link.target, "to", link.bandwidth, link.latency_us))
        links[link.target].append((link.source, "from", link.bandwidth, link.latency_us))
    twins: dict[Hashable, list[int]] = {}
    for number, node in enumerate(network.nodes):
        twins.setdefault((_sort(node), tuple(sorted(links[number], key=str))), []).append(number)
    for alike in twins.values():
        for one, other in pairwise(alike):
            yield _exchange(len(network.nodes), [one], [other])


def exchanges_of_boxes(network: Topology) -> Iterator[Integers]:
    """Yield the exchange of each box with the last box before it that it can be exchanged with."""
    tester = _Tester(network)
    kinds: list[list[int]] = []
    for box in named_boxes(network).values():
        place = next((place for place, last in enumerate(kinds[:_MOST_KINDS]) if tester.allows(last, box)), None)
        if place is None:
            kinds.append(box)
            continue
        yield _exchange(len(network.nodes), kinds[place], box)
        kinds[place] = box


class _Tester:
    """Tests whether two groups of nodes can be exchanged."""

    def __init__(self, network: Topology) -> None:
        self._nodes = network.nodes
        self._ends = tuple(network.link_numbers)
        self._figures = {
            ends: (link.bandwidth, link.latency_us) for ends, link in zip(self._ends, network.links, strict=True)
        }
        self._touching = [[*out, *into] for out, into in zip(network.leaving, network.entering, strict=True)]

    def allows(self, one: Sequence[int], other: Sequence[int]) -> bool:
        """Return whether exchanging the nodes of two groups, in order, takes each link to a link with its figures.

        An exchange is its own inverse, and it is one-to-one, so it is enough to test the links that it moves.
        """
        if len(one) != len(other) or any(_sort(self._nodes[a]) != _sort(self._nodes[b]) for a, b in _pairs(one, other)):
            return False
        image = dict([*_pairs(one, other), *_pairs(other, one)])
        return all(
            self._figures[source, target] == self._figures.get((image.get(source, source), image.get(target, target)))
            for node in image
            for source, target in (self._ends[link] for link in self._touching[node])
        )


def _pairs(one: Sequence[int], other: Sequence[int]) -> Iterator[tuple[int, int]]:
    return zip(one, other, strict=True)


def _sort(node: Node) -> tuple[object, ...]:
    return node.kind, node.multicast, node.aggregation


def _exchange(nodes: int, one: Sequence[int], other: Sequence[int]) -> Integers:
    image = np.arange(nodes)
    image[[*one, *other]] = [*other, *one]
    return image
