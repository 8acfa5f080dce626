"""Pairs of ranks of different boxes: by hand, and against random programs for one element."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import TopologyBuilder
from forestcoll.simulation.lower_bound.box_pairs import MOST_NODES, PairTimes, box_pairs, reached_inside
from forestcoll.simulation.lower_bound.distances import Distances
from forestcoll.topology import Topology, build_topology
from forestcoll.topology.graph.boxes import box_numbers
from networks import examples

SEND, OVERHEAD = 3, 1

TIMES = sorted({Fraction(hops * SEND + late * OVERHEAD) for hops in range(4) for late in range(hops + 1)})


def times_of(topology: Topology, send: float = 6, overhead: float = 1, crossing: float = 6) -> list[PairTimes]:
    return [each.times(send, overhead, crossing) for each in box_pairs(topology, topology.compute)]


def test_single_ranks_send_all_data_once() -> None:
    """One rank in each box: after the overhead, M crosses in both directions, and a send ends."""
    (found,) = times_of(build_topology("dgx-a100:boxes=2,gpus=1"))
    assert found.microseconds(25e3 * 2, 0) == pytest.approx(1 + 2 + 6)


def test_two_ranks_of_a_box_count_for_one_pair_at_first_and_at_last() -> None:
    """The NICs of both boxes carry 100e3 B/us, and each byte counts for eight pairs.

    In the time T, messages leave from 1 on until T - 6. If T is 11, all of them count for one pair. Those that leave
    before T - 12 may count for two, as a rank can still send on, and those that leave after 7.
    """
    (found,) = times_of(build_topology("dgx-a100:boxes=2,gpus=2"))
    assert found.microseconds(50e3, 0) == pytest.approx(7 + 4)
    late = 4 / 3
    assert found.microseconds(125e3, 0) == pytest.approx(13 + late)
    assert (2 * late + (6 - late) + 2 * late) * 100e3 == pytest.approx(8 * 125e3)
    assert found.pairs == 8


def test_the_bound_is_at_least_the_one_known_and_slower_sends_between_boxes_delay_all() -> None:
    network = build_topology("dgx-a100:boxes=2,gpus=2")
    (found,), (slow,) = times_of(network), times_of(network, crossing=15)
    assert found.microseconds(50e3, 11.5) == 11.5
    assert found.microseconds(50e3, 10.5) == pytest.approx(11)
    assert slow.microseconds(50e3, 0) == pytest.approx(16 + 4)


def test_there_is_no_bound_for_one_box_or_without_boxes_or_for_huge_boxes() -> None:
    assert not box_pairs(build_topology("mi250:boxes=1"), range(16))
    assert not box_pairs(build_topology("ring:nodes=4"), range(4))
    builder = TopologyBuilder("huge")
    fabric = builder.add_switch("fabric")
    for box, count in enumerate((MOST_NODES + 1, 1)):
        for place in range(count):
            builder.add_duplex(builder.add_compute(f"{box}/{place}", box=box), fabric, 1)
    topology = builder.build()
    assert not box_pairs(topology, topology.compute)


def test_links_of_switches_in_boxes_are_used_by_all_ranks_behind_them() -> None:
    """Two ranks of a box share a link of 1 GB/s: M crosses once in each direction, if it could be added up before."""
    builder = TopologyBuilder("shared")
    first, second = (builder.add_switch(f"switch {box}", box=box) for box in range(2))
    for box, place in product(range(2), repeat=2):
        builder.add_duplex(builder.add_compute(f"{box}/{place}", box=box), (first, second)[box], 10)
    builder.add_duplex(first, second, 1)
    (found,) = times_of(builder.build())
    large = 2**30
    assert found.microseconds(large, 0) == pytest.approx(1 + large / 1e3 + 6, rel=1e-3)


def test_received_data_leaves_at_once_over_one_link() -> None:
    """In a star, data of the centre reaches one rank in a send, and all others an overhead later."""
    star = np.array([[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]], dtype=float)
    times = [Fraction(each) for each in (0, 3, 4, 6, 7, 8)]
    found = reached_inside(star, np.ones(4), times, Fraction(3), Fraction(1))
    assert found[:, 0].tolist() == [1, 2, 4, 4, 4, 4]
    assert found[:, 1].tolist() == [1, 2, 2, 3, 4, 4]


@dataclass(frozen=True)
class Message:
    """A message for one element: what it brings leaves at a time, and is received one send later."""

    source: int
    target: int
    leaves: int


@dataclass(frozen=True)
class Element:
    """Random programs for one element on a network of boxes in which all compute nodes are on one switch, too."""

    topology: Topology
    crossing: int

    @cached_property
    def boxes(self) -> Mapping[int, int]:
        return box_numbers(self.topology)

    @cached_property
    def inside(self) -> frozenset[tuple[int, int]]:
        """The pairs of nodes that a link inside a box joins."""
        return frozenset((link.source, link.target) for link in self.topology.links)

    def is_outside(self, message: Message) -> bool:
        return (message.source, message.target) not in self.inside

    def ends(self, message: Message) -> int:
        """Return when the instruction ends that receives a message."""
        return message.leaves + (self.crossing if self.is_outside(message) else SEND)

    def known(self, messages: list[Message]) -> list[list[tuple[int, frozenset[int]]]]:
        """Return, for each node, what it receives and when, if each message brings all that it may bring.

        It brings what one message brings in the same instruction, and what was there an overhead before.
        """
        found = [[(0, frozenset({node}))] for node in self.topology.compute]
        fresh: set[tuple[int, int]] = set()
        for message in sorted(messages, key=lambda each: each.leaves):
            sent = [what for when, what in found[message.source] if when <= message.leaves - OVERHEAD]
            at_once = [what for when, what in found[message.source] if when == message.leaves]
            if at_once and (message.source, message.leaves) not in fresh:
                fresh.add((message.source, message.leaves))
                sent.append(at_once[0])
            found[message.target].append((self.ends(message), frozenset().union(*sent)))
        return found

    def end(self, messages: list[Message]) -> int | None:
        """Return when all nodes have all summands; None if they do not get them."""
        ends = []
        for received in self.known(messages):
            have: set[int] = set()
            for when, what in sorted(received, key=lambda each: each[0]):
                have |= what
                if len(have) == len(self.topology.compute):
                    ends.append(when)
                    break
        return max(ends) if len(ends) == len(self.topology.compute) else None

    def drawn(self, random: Random) -> list[Message]:
        """Return messages that bring all summands to all nodes, none of which can be left out."""
        pairs = [(one, other) for one in self.topology.compute for other in self.topology.compute if one != other]
        near = [pair for pair in pairs if pair in self.inside]
        listed: list[Message] = []
        for time in range(OVERHEAD, 200):
            sent = random.sample(near, random.randint(0, min(4, len(near)))) + random.sample(
                pairs, random.randint(0, min(2, len(pairs)))
            )
            listed += [Message(*pair, leaves=time) for pair in sent]
            if self.end(listed) is not None:
                break
        end = self.end(listed)
        assert end is not None
        for message in random.sample(listed, len(listed)):
            fewer = [each for each in listed if each is not message]
            after = self.end(fewer)
            if after is not None and after <= end:
                listed = fewer
        return listed


@st.composite
def networks_of_boxes(draw: st.DrawFn) -> Topology:
    """Return boxes of nodes in a row, with some links more; all nodes are also on one switch."""
    builder = TopologyBuilder("boxes")
    names: list[str] = []
    for box, count in enumerate(draw(st.lists(st.integers(1, 4), min_size=2, max_size=3))):
        names += [f"{box}/{place}" for place in range(count)]
        for later in range(count):
            builder.add_compute(f"{box}/{later}", box=box)
            for earlier in range(later):
                if earlier == later - 1 or draw(st.booleans()):
                    builder.add_duplex(f"{box}/{earlier}", f"{box}/{later}", 10)
    builder.add_switch("fabric")
    for name in names:
        builder.add_duplex(name, "fabric", 1)
    return builder.build()


@given(network=networks_of_boxes(), crossing=st.integers(SEND, SEND + 3), seed=st.integers(0, 2**32))
@examples(200)
def test_messages_of_any_program_count_for_all_pairs(network: Topology, crossing: int, seed: int) -> None:
    """For each time z, the outside messages of one element count for at least as many pairs as there are."""
    element, random = Element(network, crossing), Random(seed)  # noqa: S311 (a test)
    messages = element.drawn(random)
    end = element.end(messages)
    assert end is not None
    outside = [each for each in messages if element.is_outside(each)]
    for weights in (dict.fromkeys(network.compute, 1), {node: random.randint(0, 2) for node in network.compute}):
        needed = sum(
            weights[one] * weights[other]
            for one, other in product(network.compute, repeat=2)
            if element.boxes[one] != element.boxes[other]
        )
        counts = Counts(element, weights)
        for z in range(end + 1):
            assert sum(counts.of(each, end, z) for each in outside) >= needed


class Counts:
    """For how many pairs a message counts, as the table of `box_pairs` says."""

    def __init__(self, element: Element, weights: Mapping[int, int]) -> None:
        distances, self.crossing = Distances(element.topology), element.crossing
        self.others: dict[int, int] = {}
        self.before: dict[int, list[float]] = {}
        self.after: dict[int, list[float]] = {}
        for box in set(element.boxes.values()):
            nodes = [node for node in element.topology.compute if element.boxes[node] == box]
            sends = np.array([[distances.sends({one}, nodes).get(other, np.inf) for other in nodes] for one in nodes])
            inside = np.array([weights[node] for node in nodes], dtype=float)
            for matrix, table in ((sends.T, self.before), (sends, self.after)):
                found = reached_inside(matrix, inside, TIMES, Fraction(SEND), Fraction(OVERHEAD))
                table |= {node: found[:, place].tolist() for place, node in enumerate(nodes)}
            self.others |= dict.fromkeys(nodes, sum(weights.values()) - int(inside.sum()))

    def of(self, message: Message, end: int, z: int) -> float:
        before = at(self.before[message.source], message.leaves - OVERHEAD)
        after = at(self.after[message.target], end - self.crossing - message.leaves)
        if message.leaves < z:
            return before * self.others[message.source]
        return before * after if message.leaves < z + self.crossing else after * self.others[message.target]


def at(row: list[float], time: int) -> float:
    """Return R in a time."""
    return row[bisect_right(TIMES, time) - 1] if time >= 0 else 0
