"""Check on random networks whether a reduce-scatter plus an allgather is the best allreduce.

ForestColl (§5.7) assumes that this is so if all compute nodes have the same bandwidth. Three exact rates are computed
for each network:

- one after the other: the harmonic sum of the optima of reduce-scatter and allgather,
- equal roots: both at the same time over the same links, which are shared in the best way,
- variable roots: the optimum along trees, from appendix G of ForestColl.

    python evidence/allreduce_hypothesis.py --networks 300 --largest 8

prints how often each rate is strictly better than the previous one, the greatest ratio, and the smallest such network.
The seeds are fixed, so every run prints the same table.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from random import Random
from types import MappingProxyType

from forestcoll.algorithms.generate import optimum
from forestcoll.solver.allreduce.linear_program import allreduce_optimum
from forestcoll.topology import Topology, TopologyBuilder

BANDWIDTHS = (1, 1, 1, 2, 3, 5, 10)


@dataclass
class Gain:
    """How often one rate is better than another, and on which networks."""

    count: int = 0
    most: Fraction = Fraction(1)
    smallest: Topology | None = None

    def add(self, topology: Topology, better: Fraction, worse: Fraction) -> None:
        """Count a network."""
        if better == worse:
            return
        self.count += 1
        self.most = max(self.most, better / worse)
        if self.smallest is None or _size(topology) < _size(self.smallest):
            self.smallest = topology

    def __str__(self) -> str:
        return f"{self.count} (at most {float(self.most):.3f} times)" if self.count else "0"


@dataclass
class Tally:
    """The results of one kind of network so far."""

    networks: int = 0
    unproven: int = 0
    sharing: Gain = field(default_factory=Gain)
    rooting: Gain = field(default_factory=Gain)

    def add(self, topology: Topology) -> None:
        """Compute the three rates of a network and count them."""
        self.networks += 1
        variable, equal = allreduce_optimum(topology), allreduce_optimum(topology, equal_roots=True)
        if not (variable.exact and equal.exact):
            self.unproven += 1
            return
        self.sharing.add(topology, equal.upper, one_after_the_other(topology))
        self.rooting.add(topology, variable.upper, equal.upper)


def _size(topology: Topology) -> tuple[int, int]:
    return len(topology.nodes), len(topology.links)


def one_after_the_other(topology: Topology) -> Fraction:
    """Return the rate of a reduce-scatter followed by an allgather over the same links."""
    gather, scatter = optimum(topology).bound.algbw, optimum(topology.transposed()).bound.algbw
    return gather * scatter / (gather + scatter)


def _nodes(nodes: int) -> TopologyBuilder:
    builder = TopologyBuilder("random")
    for node in range(nodes):
        builder.add_compute(node)
    return builder


def _cycle(random: Random, nodes: int) -> list[int]:
    around = random.sample(range(nodes), nodes)
    return [*around, around[0]]


def equal_one_way(random: Random, nodes: int) -> Topology:
    """Weighted one-way cycles through all nodes: incoming and outgoing bandwidths are the same for all nodes."""
    builder = _nodes(nodes)
    for _ in range(random.randint(1, 4)):
        bandwidth = random.choice(BANDWIDTHS)
        for source, target in pairwise(_cycle(random, nodes)):
            builder.add_link(source, target, bandwidth)
    return builder.build()


def equal_permutations(random: Random, nodes: int) -> Topology:
    """A one-way cycle through all nodes, and weighted permutations, which are unions of shorter cycles."""
    builder = _nodes(nodes)
    for source, target in pairwise(_cycle(random, nodes)):
        builder.add_link(source, target, 1)
    for _ in range(random.randint(1, 4)):
        bandwidth = random.choice(BANDWIDTHS)
        targets = random.sample(range(nodes), nodes)
        if all(source != target for source, target in enumerate(targets)):
            for source, target in enumerate(targets):
                builder.add_link(source, target, bandwidth)
    return builder.build()


def equal_duplex(random: Random, nodes: int) -> Topology:
    """Weighted cycles through all nodes, full duplex."""
    builder = _nodes(nodes)
    for _ in range(random.randint(1, 3)):
        bandwidth = random.choice(BANDWIDTHS)
        for source, target in pairwise(_cycle(random, nodes)):
            builder.add_duplex(source, target, bandwidth)
    return builder.build()


def equal_matchings(random: Random, nodes: int) -> Topology:
    """A cycle and weighted perfect matchings, full duplex. Sparse cuts are more likely than with cycles only."""
    nodes += nodes % 2
    builder = _nodes(nodes)
    for source, target in pairwise(_cycle(random, nodes)):
        builder.add_duplex(source, target, 1)
    for _ in range(random.randint(1, 3)):
        bandwidth = random.choice(BANDWIDTHS)
        order = random.sample(range(nodes), nodes)
        for one, other in zip(order[::2], order[1::2], strict=True):
            builder.add_duplex(one, other, bandwidth)
    return builder.build()


def equal_switched(random: Random, nodes: int) -> Topology:
    """Nodes with equal ports on a few switches, which are joined by links of any bandwidth."""
    builder = _nodes(nodes)
    switches = random.randint(2, 3)
    for switch in range(switches):
        builder.add_switch(f"s{switch}")
    up = random.choice(BANDWIDTHS)
    for node in range(nodes):
        builder.add_duplex(node, f"s{random.randrange(switches)}", up)
    for one, other in pairwise(range(switches)):
        builder.add_duplex(f"s{one}", f"s{other}", random.choice(BANDWIDTHS))
    if random.random() < 0.5:
        bandwidth = random.choice(BANDWIDTHS)
        for source, target in pairwise(_cycle(random, nodes)):
            builder.add_duplex(source, target, bandwidth)
    return builder.build()


def any_duplex(random: Random, nodes: int) -> Topology:
    """A random tree and more links, full duplex, with any bandwidths."""
    builder = _nodes(nodes)
    for child in range(1, nodes):
        builder.add_duplex(child, random.randrange(child), random.choice(BANDWIDTHS))
    for _ in range(random.randint(0, 2 * nodes)):
        one, other = random.sample(range(nodes), 2)
        builder.add_duplex(one, other, random.choice(BANDWIDTHS))
    return builder.build()


def any_balanced(random: Random, nodes: int) -> Topology:
    """One-way cycles through some of the nodes, with any bandwidths. Every node is balanced."""
    builder = _nodes(nodes)
    for source, target in pairwise(_cycle(random, nodes)):
        builder.add_link(source, target, 1)
    for _ in range(random.randint(1, 5)):
        bandwidth = random.choice(BANDWIDTHS)
        around = random.sample(range(nodes), random.randint(2, nodes))
        for source, target in pairwise([*around, around[0]]):
            builder.add_link(source, target, bandwidth)
    return builder.build()


def any_one_way(random: Random, nodes: int) -> Topology:
    """A one-way cycle and more one-way links, with any bandwidths."""
    builder = _nodes(nodes)
    for source, target in pairwise(_cycle(random, nodes)):
        builder.add_link(source, target, random.choice(BANDWIDTHS))
    for _ in range(random.randint(0, 2 * nodes)):
        source, target = random.sample(range(nodes), 2)
        builder.add_link(source, target, random.choice(BANDWIDTHS))
    return builder.build()


KINDS: Mapping[str, Callable[[Random, int], Topology]] = MappingProxyType(
    {
        "equal, one way": equal_one_way,
        "equal, permutations": equal_permutations,
        "equal, full duplex": equal_duplex,
        "equal, matchings": equal_matchings,
        "equal, switches": equal_switched,
        "any, full duplex": any_duplex,
        "any, balanced": any_balanced,
        "any, one way": any_one_way,
    }
)


def results_of(kind: str, networks: int, largest: int) -> Tally:
    """Return the results of `networks` networks of one kind, with 3 to `largest` compute nodes."""
    tally = Tally()
    for number in range(networks):
        random = Random(f"{kind}/{number}")  # noqa: S311 (not for security)
        tally.add(KINDS[kind](random, random.randint(3, largest)))
    return tally


def described(topology: Topology) -> str:
    """Return a network as one line. A one-way link is source>target:bandwidth, and `=` joins full-duplex ends."""
    links = {(link.source, link.target): link.bandwidth for link in topology.links}
    parts = []
    for (source, target), bandwidth in links.items():
        both = links.get((target, source)) == bandwidth
        if not both or source < target:
            one, other = topology.ids([source, target])
            parts.append(f"{one}{'=' if both else '>'}{other}:{bandwidth}")
    return " ".join(parts)


def main() -> None:
    """Print the table and the smallest networks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=300, help="number of networks of each kind")
    parser.add_argument("--largest", type=int, default=8, help="maximum number of compute nodes")
    options = parser.parse_args()
    print("| kind | networks | shared links better | variable roots better still | not proven |")
    print("| --- | --- | --- | --- | --- |")
    smallest = []
    for kind in KINDS:
        tally = results_of(kind, options.networks, options.largest)
        print(f"| {kind} | {tally.networks} | {tally.sharing} | {tally.rooting} | {tally.unproven} |", flush=True)
        smallest += [(kind, gain.smallest) for gain in (tally.sharing, tally.rooting) if gain.smallest is not None]
    print()
    for kind, topology in smallest:
        rates = (
            one_after_the_other(topology),
            allreduce_optimum(topology, equal_roots=True).upper,
            allreduce_optimum(topology).upper,
        )
        print(f"{kind}: {', '.join(map(str, rates))} on {described(topology)}")


if __name__ == "__main__":
    main()
