"""Classes of pairs of a source and a link whose flows may be equal, so that a linear program needs one column a class.

The flow of source s over link e is a column of the program of `program.py`. Columns and rows are put into classes such
that every row of a class has the same sum of coefficients in every class of columns, and the same holds with rows and
columns exchanged. Such a partition is called equitable. If all columns of a class get their mean, every row keeps its
value on average, so some optimal solution is constant on every class (M. Grohe et al., *Dimension Reduction via Colour
Refinement*, 2014). The partition is found by refinement:

- Pairs of a source s and a node v begin with one colour for v = s, and one for each demand and sort of v. Colours are
  refined by the colours of neighbours, together with the classes of the links between, until nothing changes.
- The class of a pair of a source and a link consists of the class of the link and the colours of its two ends.
- Links begin with classes by bandwidth. A class is split if two of its links are not used by the same numbers of pairs
  of each class. Then pairs are refined again.

If a group of symmetries is known, only one source of each orbit is listed. The flows of its images are images of its
flow, so the load of a link is a mean over the orbit of the link. All sums then count a source as often as its orbit has
nodes.

Colours are sums of 64-bit hashes. Colours of nodes, classes of links and classes of pairs with a link are hashed as
three kinds of numbers, so that a sum tells a node of colour 1 at a link of class 2 from the reverse. Every refinement
ends when the number of classes does not grow, so it ends even if hashes were equal. The flow that results is checked
in fractions, so that equal hashes of different colours could only make the search fail, not its result wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby

import numpy as np
import numpy.typing as npt

from forestcoll.topology import Topology
from forestcoll.topology.symmetry.orbits import Orbits

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]

_NODE, _LINK, _PAIR = 1, 2, 3
"""The kinds of numbers that are hashed: colours of nodes, classes of links, classes of pairs with a link."""

MOST_CELLS = 2**23
"""The most pairs of a listed source and a link. Each takes about a hundred bytes."""


@dataclass(frozen=True, eq=False)
class FlowClasses:
    """The classes of one network and one demand.

    Attributes:
        topology: the network.
        sources: the listed sources, one of each orbit of nodes that send.
        of_node: one row for each source: the class of the pair with each node. Classes are shared by all sources.
        of_pair: one row for each source: the class of the pair with each link; -1 for links into the source.
        of_link: the class of each link.
        orbits: the orbits of the group of symmetries.
        times: for each listed source, the number of nodes of its orbit.
    """

    topology: Topology
    sources: tuple[int, ...]
    of_node: Numbers
    of_pair: Numbers
    of_link: Numbers
    orbits: Orbits
    times: Numbers

    @staticmethod
    def of(topology: Topology, sent: Mapping[int, Mapping[int, Fraction]], orbits: Orbits) -> "FlowClasses":
        """Return the coarsest classes that the refinement finds.

        Args:
            topology: the network.
            sent: for each compute node that sends data, the parts of M by target.
            orbits: the orbits of a group of symmetries that keeps `sent`.
        """
        refinement = _Refinement(topology, sent, orbits)
        refinement.run()
        return refinement.classes()

    @staticmethod
    def few(
        topology: Topology, sent: Mapping[int, Mapping[int, Fraction]], orbits: Orbits, most: int
    ) -> "FlowClasses | None":
        """Return what `of` returns, or None if there are more than `most` classes of pairs of a source and a link.

        Without symmetry this is usually known after two or three steps of the refinement of a few sources.
        """
        few = 2 * most // len(topology.nodes) + 1
        if few < len(orbits.first_nodes) and _Refinement(topology, sent, orbits, most, few).finds_many():
            return None
        refinement = _Refinement(topology, sent, orbits, most)
        return refinement.classes() if refinement.run() else None

    @cached_property
    def columns(self) -> int:
        """The number of classes of pairs of a source and a link."""
        return int(self.of_pair.max(initial=-1)) + 1

    @cached_property
    def first_cells(self) -> list[tuple[int, int]]:
        """For each class of pairs of a source and a node, the place of the source and the node of its first pair."""
        _, firsts = np.unique(self.of_node.ravel(), return_index=True)
        width = self.of_node.shape[1]
        return [divmod(int(each), width) for each in firsts]

    @cached_property
    def column_sizes(self) -> Numbers:
        """The number of pairs in each class, of which those that the listed symmetries map to each other count once."""
        return self._counts(slice(None)) // self.orbits.symmetry.order

    def _counts(self, links: slice | Numbers) -> Numbers:
        """Return the number of pairs with these links in each class, with all images of the listed sources."""
        used = self.of_pair[:, links]
        is_used = used >= 0
        times = np.broadcast_to(self.times[:, None], used.shape)[is_used]
        return np.bincount(used[is_used], times, self.columns).astype(np.int64)

    def loads(self, link_class: int) -> dict[int, int]:
        """Return how often each class of pairs uses a link of this class, with all images of the listed sources."""
        orbit_of = np.array(self.orbits.of_link)
        first = int((self.of_link == link_class).argmax())
        members = np.flatnonzero(orbit_of == orbit_of[first])
        counts = self._counts(members)
        return {int(column): int(counts[column]) // len(members) for column in np.flatnonzero(counts)}

    def flow(self, place: int, values: Sequence[Fraction]) -> list[Fraction]:
        """Return the flow of the source at `place` over each link, from the values of the classes."""
        nothing = Fraction(0)
        return [values[column] if column >= 0 else nothing for column in self.of_pair[place].tolist()]


class _Refinement:
    """The refinement of one network and one demand."""

    def __init__(
        self,
        topology: Topology,
        sent: Mapping[int, Mapping[int, Fraction]],
        orbits: Orbits,
        most: int | None = None,
        first_sources: int | None = None,
    ) -> None:
        self._topology, self._orbits, self._most = topology, orbits, most
        self._sources = tuple(node for node in orbits.first_nodes if sent.get(node))[:first_sources]
        self._times = np.array(orbits.node_sizes)[np.array(orbits.of_node)[list(self._sources)]]
        self._tails = np.array([link.source for link in topology.links], dtype=np.int64)
        self._heads = np.array([link.target for link in topology.links], dtype=np.int64)
        nodes = len(topology.nodes)
        self._by_head, self._by_tail = _Groups(self._heads, nodes), _Groups(self._tails, nodes)
        known: dict[Fraction, int] = {}
        self._of_link = np.array([known.setdefault(link.bandwidth, len(known)) for link in topology.links])
        self._of_node = self._first_colours(sent)

    def _first_colours(self, sent: Mapping[int, Mapping[int, Fraction]]) -> Numbers:
        """Return the colours before the refinement: 0 for the source, then by demand, and by sort of node."""
        known: dict[Fraction, int] = {}
        colours = np.zeros((len(self._sources), len(self._topology.nodes)), dtype=np.int64)
        for place, source in enumerate(self._sources):
            targets = sent[source]
            # the hash of a fraction takes long, and consecutive parts are often the same object
            runs = [(known.setdefault(part, len(known)), len(list(run))) for part, run in groupby(targets.values())]
            colours[place] = 1
            colours[place, list(targets)] = 2 + np.repeat(*np.array(runs, dtype=np.int64).T)
            colours[place, source] = 0
        _, numbers = np.unique(colours, return_inverse=True)
        return numbers.reshape(colours.shape).astype(np.int64)

    def run(self) -> bool:
        """Refine all classes, and return whether there are at most `most` classes of pairs of a source and a link."""
        while True:
            self._refine_nodes()
            if self._will_be_many():
                return False
            self._of_pair = self._pairs()
            split = self._split_links(self._of_pair)
            if split.max() <= self._of_link.max():
                return self._most is None or int(self._of_pair.max(initial=-1)) < self._most
            self._of_link = split

    def finds_many(self) -> bool:
        """Return whether the first refinement of nodes shows that there will be more than `most` classes of pairs.

        If so for some of the sources, so for all: before links are split, the colours of the pairs of a source do not
        depend on other sources.
        """
        self._refine_nodes()
        return self._will_be_many()

    def classes(self) -> FlowClasses:
        """Return the classes after `run`."""
        return FlowClasses(
            self._topology, self._sources, self._of_node, self._of_pair, self._of_link, self._orbits, self._times
        )

    def _will_be_many(self) -> bool:
        """Return whether the colours of nodes show that there will be more than `most` classes of pairs with a link.

        Pairs have different classes if their links lead to nodes of different colours. Only links into the source have
        no class.
        """
        if self._most is None or int(self._of_node.max()) < self._most + len(self._sources):
            return False
        entered = self._of_node[:, np.unique(self._heads)]
        return len(np.unique(entered)) - len(self._sources) > self._most

    def _refine_nodes(self) -> None:
        """Refine the colours of pairs of a source and a node until their number no longer grows, or is too large."""
        classes = int(self._of_node.max()) + 1
        of_link = _hashes(self._of_link, _LINK)
        while not self._will_be_many():
            colour = _hashes(self._of_node, _NODE)
            entering = self._by_head.sums(_mixed(colour[:, self._tails] + of_link))
            leaving = self._by_tail.sums(_mixed(colour[:, self._heads] ^ of_link))
            fresh = _mixed(colour + _mixed(entering) + _mixed(_mixed(leaving)))
            self._of_node = _numbered(fresh)
            found = int(self._of_node.max()) + 1
            if found <= classes:
                return
            classes = found

    def _pairs(self) -> Numbers:
        """Return the class of each pair of a source and a link; -1 for links into the source."""
        colour, of_link = _hashes(self._of_node, _NODE), _hashes(self._of_link, _LINK)
        hashes = _mixed(_mixed(colour[:, self._tails]) + (colour[:, self._heads] ^ of_link))
        useless = self._heads[None, :] == np.array(self._sources)[:, None]
        numbers = np.full(hashes.shape, -1, dtype=np.int64)
        numbers[~useless] = _numbered(hashes[~useless])
        return numbers

    def _split_links(self, of_pair: Numbers) -> Numbers:
        """Return classes of links such that equal links are used by equal numbers of pairs of each class."""
        orbit_of = np.array(self._orbits.of_link)
        sizes, times = np.array(self._orbits.link_sizes, dtype=np.uint64), self._times.astype(np.uint64)
        hashes = np.where(of_pair < 0, np.uint64(0), _hashes(of_pair, _PAIR))
        signature = np.zeros(len(orbit_of), dtype=np.uint64)
        for half in (hashes >> np.uint64(32), hashes & np.uint64(2**32 - 1)):  # sums of halves do not overflow
            totals = np.zeros(len(sizes), dtype=np.uint64)
            np.add.at(totals, orbit_of, times @ half)
            signature = _mixed(signature + (totals // sizes)[orbit_of])
        return _numbered(signature + _hashes(self._of_link, _LINK))


class _Groups:
    """Sums over the links that enter, or leave, each node."""

    def __init__(self, ends: Numbers, count: int) -> None:
        self._count = count
        self._order = np.argsort(ends, kind="stable")
        self._nodes, self._starts = np.unique(ends[self._order], return_index=True)

    def sums(self, values: Hashes) -> Hashes:
        """Return, for each source and node, the sum of the values of its links; one row for each source."""
        sums = np.zeros((values.shape[0], self._count), dtype=np.uint64)
        sums[:, self._nodes] = np.add.reduceat(values[:, self._order], self._starts, axis=1)
        return sums


def _hashes(numbers: Numbers, kind: int) -> Hashes:
    """Return a hash of each number; equal numbers of different kinds have different hashes."""
    return _mixed(numbers.astype(np.uint64) + np.uint64(kind << 56))


def _mixed(values: Hashes) -> Hashes:
    """Return a hash of each value (splitmix64); sums of hashes describe sets with repetitions."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)  # in place: new memory takes longer than the arithmetic
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _numbered(hashes: Hashes) -> Numbers:
    """Return the place of each hash among all different ones, in the order of their first occurrence."""
    values = np.unique(hashes)
    places = np.searchsorted(values, hashes.ravel())  # faster than the inverse of `unique`: there are few values
    firsts = np.empty(len(values), dtype=np.int64)
    firsts[places[::-1]] = np.arange(len(places) - 1, -1, -1)  # of equal places, the last write stays
    order = np.empty(len(firsts), dtype=np.int64)
    order[np.argsort(firsts)] = np.arange(len(firsts))
    return order[places].reshape(hashes.shape)
