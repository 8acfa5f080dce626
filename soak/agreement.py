"""Compare `optimum`, `generate`, `bounds` and `verify`: they must state one algbw and one bound with a valid proof.

    python soak/agreement.py --networks 2000 --seed 0

Each network is random: it has full-duplex and one-way links, balanced and unbalanced switches, some of which can
multicast or aggregate, and very different bandwidths. The collective, ranks, shards and the number of trees are random
too. Each disagreement is printed with its network. The last line counts the comparisons.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "common"))

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import SCHEDULED
from forestcoll.topology import Topology, TopologyBuilder, topology_to_document
from one_answer import disagreement

ABILITIES = ((False, False), (False, False), (True, False), (False, True), (True, True))


def bandwidths(random: Random) -> Callable[[], Fraction]:
    """Return a function that draws bandwidths of one kind."""
    return random.choice(
        [
            lambda: Fraction(1),
            lambda: Fraction(random.randint(1, 10)),
            lambda: Fraction(random.randint(1, 60), random.randint(1, 12)),
            lambda: Fraction(random.choice((1, 25, 300, 10**6))),
            lambda: Fraction(random.choice((1, 10**12))),
        ]
    )


def network(random: Random) -> Topology:
    """Return a network of two to six compute nodes and up to three switches, all of them connected."""
    while True:
        builder = TopologyBuilder("random")
        nodes = random.randint(2, 6)
        names = [builder.add_compute(number) for number in range(nodes)]
        able = random.random() < 0.4
        for number in range(nodes, nodes + random.randint(0, 3)):
            multicast, aggregation = random.choice(ABILITIES) if able else (False, False)
            names.append(builder.add_switch(number, multicast=multicast, aggregation=aggregation))
        _add_links(builder, names, random)
        try:
            return builder.build()
        except InputError:
            continue


def _add_links(builder: TopologyBuilder, names: list[Any], random: Random) -> None:
    bandwidth, one_way = bandwidths(random), random.choice((0, 0.2, 1))
    around = random.sample(names, len(names))
    pairs = [*zip(around, around[1:] + around[:1], strict=True)] if len(names) > 2 else [(names[0], names[1])]
    for _ in range(random.randint(0, 2 * len(names))):
        one, other = random.sample(names, 2)
        pairs.append((one, other))
    for source, target in pairs:
        if random.random() < one_way:
            builder.add_link(source, target, bandwidth())
        else:
            builder.add_duplex(source, target, bandwidth())


def demand_for(topology: Topology, random: Random) -> dict[str, Any]:
    """Return random arguments of `optimum`."""
    collective = random.choice(SCHEDULED)
    options: dict[str, Any] = {"collective": collective}
    members = list(range(len(topology.compute)))
    if len(members) > 2 and random.random() < 0.4:
        members = sorted(random.sample(members, random.randint(2, len(members))))
        options["ranks"] = members
    ids = topology.ids(topology.compute)
    if collective.has_root:
        options["root"] = ids[random.choice(members)]
    if collective.has_shards and random.random() < 0.2:
        counts = [random.randint(0, 4) for _ in members]
        counts[0] += 1
        options["shards"] = {ids[each]: Fraction(n, sum(counts)) for each, n in zip(members, counts, strict=True)}
    number = random.choice((None, "trees", "max_trees"))
    if number is not None:
        options[number] = random.randint(1, 6)
    return options


def main() -> None:
    """Compare the results, and exit with status 1 if there is a disagreement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    faults = 0
    start = time.perf_counter()
    for number in range(arguments.networks):
        random = Random(f"{arguments.seed}/{number}")  # noqa: S311 (not for security)
        topology = network(random)
        options = demand_for(topology, random)
        found = disagreement(topology, options, counts)
        if found:
            faults += 1
            print(f"{number}: {found}\n  arguments: {options}\n  network: {topology_to_document(topology)}", flush=True)
    counted = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    print(f"{faults} disagreements in {time.perf_counter() - start:.0f} s: {counted}")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
