"""Sends in their order: what one tree, one step or one shard does."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise


@dataclass(frozen=True)
class DrawnSend:
    """Data that crosses a path of links.

    Attributes:
        order: the number of the send, from 1: a send needs the data of sends with smaller numbers only.
        path: the numbers of the nodes, from the source to the target; switches between them.
        part: the part of the total data M.
    """

    order: int
    path: tuple[int, ...]
    part: Fraction


@dataclass(frozen=True)
class Story:
    """Sends that a picture shows together.

    Attributes:
        name: what they are, such as `tree 1 of 16, root b0/gpu0`.
        sends: the sends, by their order.
        shard: the number of the node whose data the sends carry; None if they carry data of several nodes.
    """

    name: str
    sends: tuple[DrawnSend, ...]
    shard: int | None = None

    @cached_property
    def last(self) -> int:
        """The number of the last send."""
        return max((send.order for send in self.sends), default=0)

    @cached_property
    def reached(self) -> Mapping[int, int]:
        """For each node at an end of a send, the number of the first send that brings data to it; 0 if none does.

        The result is empty if the sends carry data of several nodes.
        """
        if self.shard is None:
            return {}
        found: dict[int, int] = {}
        for send in sorted(self.sends, key=lambda each: each.order):
            found.setdefault(send.path[-1], send.order)
        return dict.fromkeys((send.path[0] for send in self.sends), 0) | found

    def entries(self, sets: Sequence[Collection[int]]) -> tuple[int, ...]:
        """Return how often data of these sends enters each of some sets of nodes."""
        around: dict[int, list[int]] = {}
        for place, inside in enumerate(sets):
            for node in inside:
                around.setdefault(node, []).append(place)
        counts = [0] * len(sets)
        for send in self.sends:
            for source, target in pairwise(send.path):
                for place in around.get(target, ()):
                    counts[place] += place not in around.get(source, ())
        return tuple(counts)
