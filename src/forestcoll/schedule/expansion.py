"""The trees that a schedule with a symmetry stands for: the image of each base tree under each element of the group."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from forestcoll.schedule.model import IntArray, Phase, Rows, Schedule, row_starts
from forestcoll.topology import NodeArray, Symmetry


@dataclass(frozen=True, slots=True)
class TreeImage:
    """One tree of a schedule, written out.

    Attributes:
        root: the number of the node that the data starts from.
        share: the exact fraction of the total data M that the tree carries.
        paths: the node numbers of its routes, in the order in which data flows.
    """

    root: int
    share: Fraction
    paths: Rows


def tree_images(schedule: Schedule, phase: int) -> Iterator[TreeImage]:
    """Yield each tree of a phase, one at a time: element by element of the group, in the order of the base trees."""
    listed = schedule.phases[phase]
    for element in _elements(schedule):
        for tree in listed:
            base = schedule.routes.take(np.array(tree.routes, dtype=np.int64))
            yield TreeImage(int(element[tree.root]), tree.share, Rows(base.starts, element[base.entries]))


def expanded(schedule: Schedule) -> Schedule:
    """Return the same schedule without a symmetry: every tree in the order of `tree_images`, every route once."""
    if schedule.symmetry is None:
        return schedule
    elements = list(_elements(schedule))
    lengths = np.tile(np.diff(schedule.routes.starts), len(elements))
    entries = np.concatenate([element[schedule.routes.entries] for element in elements])
    routes, numbers = _distinct(Rows(row_starts(lengths), entries))
    of_element = numbers.reshape(len(elements), -1)
    phases = tuple(_expanded_phase(phase, elements, of_element) for phase in schedule.phases)
    return replace(schedule, routes=routes, phases=phases, symmetry=None)


def _elements(schedule: Schedule) -> Iterator[NodeArray]:
    return (schedule.symmetry or Symmetry(())).elements(len(schedule.topology.nodes))


def _expanded_phase(phase: Phase, elements: list[NodeArray], routes: IntArray) -> Phase:
    """Return the images of `phase`; `routes` has a row an element, the number of each base route's image."""
    roots = np.array(phase.roots, dtype=np.int64)
    lengths = np.tile(np.diff(phase.routes.starts), len(elements))
    return Phase(
        op=phase.op,
        roots=tuple(np.concatenate([element[roots] for element in elements]).tolist()),
        shares=phase.shares * len(elements),
        routes=Rows(row_starts(lengths), routes[:, phase.routes.entries].reshape(-1)),
    )


def _distinct(rows: Rows) -> tuple[Rows, IntArray]:
    """Return each of `rows` once, in order of first occurrence, and of each of `rows` its number among them.

    Rows get numbers by their beginnings, one entry longer at each step; in the end number and length tell them apart.
    """
    lengths = np.diff(rows.starts)
    longest = int(lengths.max(initial=0))
    numbers = np.zeros(len(rows), dtype=np.int64)
    bound = int(rows.entries.max(initial=0)) + 1
    for position in range(longest):
        longer = np.flatnonzero(lengths > position)
        codes = numbers[longer] * bound + rows.entries[rows.starts[longer] + position]
        numbers[longer] = np.unique(codes, return_inverse=True)[1]
    _, firsts, numbers = np.unique(numbers * (longest + 1) + lengths, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return rows.take(firsts[order]), ranks[numbers]
