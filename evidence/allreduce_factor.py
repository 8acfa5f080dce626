"""Measure the factor between the cut-set bound of an allreduce and the best packing of trees, on all small networks.

*On the Computation Rate of All-Reduce* asks whether the factor is always at most 2. It is at most 2 - 2/K for K ranks
on networks whose switches and relays are balanced (docs/evidence/allreduce-proofs.md). This program computes the
exact factor

- of all networks of a few nodes, one of each class of isomorphic networks: full duplex or one-way, with links of 1 or
  of other small bandwidths, and with a part of the nodes as relays, which can copy and add up;
- of random larger networks.

    python evidence/allreduce_factor.py
    python evidence/allreduce_factor.py --more --random 200
    python evidence/allreduce_factor.py --write examples/allreduce-rate

For each kind, it prints the number of networks, those on which trees reach the cut-set bound, those with a cut-edge
(Theorem 3), those that reach the factor 2 - 2/K, the greatest factor, and a smallest network with this factor. `--more`
adds kinds that take minutes, and `--write` writes the smallest networks with the greatest factors as topology files.
The seeds are fixed, so every run prints the same table.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from allreduce_hypothesis import KINDS as RANDOM_KINDS
from allreduce_hypothesis import described
from forestcoll.algorithms.generate import optimum
from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.solver.allreduce.linear_program import allreduce_optimum
from forestcoll.solver.allreduce.strength import strength
from forestcoll.solver.bounds.cut_edge import cut_edge
from forestcoll.solver.forests.broadcast import cut_set_bound
from forestcoll.topology import Topology, TopologyBuilder, write_topology

Arc = tuple[int, int]


@dataclass(frozen=True)
class Kind:
    """All networks of a kind, up to isomorphism.

    Attributes:
        name: the name in the table.
        nodes: the number of nodes.
        bandwidths: the bandwidths of a link, from 1 to this number; 0 means no link.
        duplex: whether the links are full duplex.
        relays: the number of nodes that are relays.
    """

    name: str
    nodes: int
    bandwidths: int = 1
    duplex: bool = True
    relays: int = 0

    def networks(self) -> Iterator[Topology]:
        """Yield one network of each class whose ranks reach each other."""
        pairs = self.pairs
        for code in self.codes():
            digits = (
                int(code) // (self.bandwidths + 1) ** place % (self.bandwidths + 1) for place in range(len(pairs))
            )
            topology = self._network({pair: each for pair, each in zip(pairs, digits, strict=True) if each})
            if topology is not None:
                yield topology

    @property
    def pairs(self) -> list[Arc]:
        """The pairs of nodes that can have a link."""
        nodes = range(self.nodes)
        return list(combinations(nodes, 2) if self.duplex else permutations(nodes, 2))

    def codes(self) -> NDArray[np.int64]:
        """Return the networks as numbers, with a digit for each pair: the least number of each class."""
        pairs, base, ranks = self.pairs, self.bandwidths + 1, self.nodes - self.relays
        place_of = {pair: place for place, pair in enumerate(pairs)}
        if self.duplex:
            place_of |= {(other, one): place for (one, other), place in place_of.items()}
        codes = np.arange(base ** len(pairs), dtype=np.int64)
        for first, last in product(permutations(range(ranks)), permutations(range(ranks, self.nodes))):
            image = (*first, *last)
            moved = np.zeros_like(codes)
            for place, (one, other) in enumerate(pairs):
                moved += codes // base**place % base * base ** place_of[image[one], image[other]]
            codes = codes[moved >= codes]
        return codes

    def _network(self, links: dict[Arc, int]) -> Topology | None:
        """Return a network, or None if its ranks do not reach each other or a relay cannot forward anything."""
        builder = TopologyBuilder(self.name)
        for node in range(self.nodes):
            if node < self.nodes - self.relays:
                builder.add_compute(node)
            else:
                builder.add_switch(node, multicast=True, aggregation=True)
        for ends, bandwidth in links.items():
            (builder.add_duplex if self.duplex else builder.add_link)(*ends, bandwidth)
        try:
            topology = builder.build()
        except InputError:  # the ranks do not reach each other
            return None
        arcs = [(link.source, link.target) for link in topology.links]
        forwards = all(
            any(one[1] == other[0] == relay and one[0] != other[1] for one, other in product(arcs, arcs))
            for relay in topology.switches
        )
        return topology if forwards else None


@dataclass
class Tally:
    """The results of one kind of networks."""

    networks: int = 0
    unproven: int = 0
    known: int = 0
    cut_edges: int = 0
    greatest: int = 0
    above: int = 0
    most: Fraction = Fraction(0)
    example: Topology | None = None

    def add(self, topology: Topology) -> None:
        """Compute the factor of a network and count it."""
        self.networks += 1
        trees, cut = best_of_trees(topology), cut_set_bound(topology).algbw
        if trees is None:
            self.unproven += 1
            return
        factor = cut / trees
        self.known += factor == 1
        self.cut_edges += factor == 1 and cut_edge(topology, trees) is not None
        limit = 2 - Fraction(2, len(topology.compute))
        self.greatest += factor == limit > 1
        self.above += factor > limit
        if self.example is None or (-factor, _size(topology)) < (-self.most, _size(self.example)):
            self.most, self.example = factor, topology

    def row(self, name: str) -> str:
        """Return a row of the table."""
        cells = (self.networks, self.known, self.cut_edges, self.greatest, self.above, self.most, self.unproven)
        return f"| {name} | {' | '.join(map(str, cells))} |"


def _size(topology: Topology) -> tuple[int, int, Fraction]:
    return len(topology.nodes), len(topology.links), sum((link.bandwidth for link in topology.links), Fraction(0))


def best_of_trees(topology: Topology) -> Fraction | None:
    """Return the exact optimum along trees; None if it was not proven."""
    demand = NodeDemand(Collective.ALLREDUCE)
    if topology.switches:
        best = optimum(topology, Collective.ALLREDUCE)
        return best.algbw if best.is_optimal else None
    if topology.is_full_duplex:
        proof = strength(topology, cut_set_bound(topology).cut, SILENT)
        return None if proof is None else proof.algbw(topology, demand)
    found = allreduce_optimum(topology)
    return found.upper if found.exact else None


SMALL = (
    Kind("full duplex, 3 nodes, links of 1 to 3", 3, bandwidths=3),
    Kind("full duplex, 4 nodes, links of 1 or 2", 4, bandwidths=2),
    Kind("full duplex, 5 nodes, links of 1 or 2", 5, bandwidths=2),
    Kind("full duplex, 6 nodes, links of 1", 6),
    Kind("full duplex, 7 nodes, links of 1", 7),
    Kind("full duplex, 3 ranks and 1 relay, links of 1 or 2", 4, bandwidths=2, relays=1),
    Kind("full duplex, 4 ranks and 1 relay, links of 1", 5, relays=1),
    Kind("full duplex, 3 ranks and 2 relays, links of 1", 5, relays=2),
    Kind("one way, 3 nodes, links of 1 to 3", 3, bandwidths=3, duplex=False),
    Kind("one way, 4 nodes, links of 1", 4, duplex=False),
    Kind("one way, 2 ranks and 2 relays, links of 1", 4, duplex=False, relays=2),
    Kind("one way, 3 ranks and 1 relay, links of 1", 4, duplex=False, relays=1),
)
"""Networks that take seconds."""

MORE = (
    Kind("full duplex, 4 ranks and 2 relays, links of 1", 6, relays=2),
    Kind("full duplex, 3 ranks and 3 relays, links of 1", 6, relays=3),
    Kind("one way, 4 nodes, links of 1 or 2", 4, bandwidths=2, duplex=False),
    Kind("one way, 5 nodes, links of 1", 5, duplex=False),
    Kind("one way, 4 ranks and 1 relay, links of 1", 5, duplex=False, relays=1),
)
"""Networks that take minutes."""

HEAD = """\
| networks | number | factor 1 | with a cut-edge | factor 2 - 2/K | greater | greatest factor | not proven |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""


def random_networks(kind: str, count: int) -> Iterator[Topology]:
    """Yield random networks of 6 to 12 nodes, of a kind of `allreduce_hypothesis`."""
    for number in range(count):
        random = Random(f"factor/{kind}/{number}")  # noqa: S311 (not for security)
        yield RANDOM_KINDS[kind](random, random.randint(6, 12))


def tallies(kinds: Sequence[Kind], count: int) -> Iterator[tuple[str, Tally]]:
    """Yield the name and the results of each kind, and of `count` random networks of each random kind."""
    for kind in kinds:
        yield kind.name, tally_of(kind.networks())
    for name in RANDOM_KINDS:
        yield f"random: {name}", tally_of(random_networks(name, count))


def tally_of(networks: Iterator[Topology]) -> Tally:
    """Return the results of some networks."""
    tally = Tally()
    for topology in networks:
        tally.add(topology)
    return tally


def file_name(name: str) -> str:
    """Return the name of the file for the network of a kind with the greatest factor."""
    return f"{name.split(', links', maxsplit=1)[0].replace(',', '').replace(' ', '-')}.json"


def main() -> None:
    """Print the table and the networks with the greatest factors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--more", action="store_true", help="add kinds that take minutes")
    parser.add_argument("--random", type=int, default=30, metavar="N", help="random networks of each kind")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write the networks with the greatest factors")
    options = parser.parse_args()
    print(HEAD)
    examples = []
    for name, tally in tallies((*SMALL, *MORE) if options.more else SMALL, options.random):
        print(tally.row(name), flush=True)
        if tally.example is not None:
            examples.append((name, tally.most, tally.example))
    print()
    for name, factor, topology in examples:
        print(f"{name}: {factor} on {described(topology)}")
        if options.write is not None and not name.startswith("random") and factor > 1:
            write_topology(topology, options.write / file_name(name))


if __name__ == "__main__":
    main()
