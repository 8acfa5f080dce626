"""Compare all methods on random networks for a given time, as `make soak` does, or this file with --minutes.

Goal: no network on which a method fails, two methods disagree, or the verifier finds a fault. A network with a failure
is written as a topology file, to reproduce the failure, and the exit status is 1.
"""

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from forestcoll.base.errors import ForestcollError
from forestcoll.topology import Topology, write_topology

sys.path.append(str(Path(__file__).parents[1] / "tests" / "common"))
from methods import Comparison, DisagreementError, compare
from mixed_networks import KINDS, random_network

SMALLEST = 8
LIMIT = 60.0
"""Seconds for one method on one network."""


@dataclass
class Tally:
    """The results so far."""

    networks: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    trees: list[int] = field(default_factory=list)
    unproven: int = 0
    slowest: tuple[float, str] = (0.0, "none")
    slowest_proven: tuple[float, str] = (0.0, "none")

    def add(self, kind: str, label: str, nodes: int, found: Comparison) -> None:
        """Count a network without a failure."""
        self.networks[kind] += 1
        self.fallbacks[kind] += found.fell_back
        self.sizes.append(nodes)
        self.trees.append(found.trees_per_root)
        self.slowest = max(self.slowest, (found.auto_seconds, label))
        if found.proven_seconds is None:
            self.unproven += 1
        else:
            self.slowest_proven = max(self.slowest_proven, (found.proven_seconds, label))

    def lines(self) -> list[str]:
        """Return the summary."""
        return [
            f"networks       {self.networks.total()} ({_by_kind(self.networks)})",
            f"compute nodes  {_spread(self.sizes)}",
            f"k              {_spread(self.trees)}",
            f"fallbacks      {self.fallbacks.total()} ({_by_kind(+self.fallbacks)})",
            f"proven         {self.unproven} times over the limit, so not compared",
            f"slowest auto   {self.slowest[0]:.3f} s: {self.slowest[1]}",
            f"slowest proven {self.slowest_proven[0]:.3f} s: {self.slowest_proven[1]}",
            f"failures       {len(self.failures)}",
        ]


def _by_kind(counts: Counter[str]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())) or "none"


def _spread(values: list[int]) -> str:
    if not values:
        return "none"
    return f"{min(values)} to {max(values)}, median {sorted(values)[len(values) // 2]}"


def write_reproducer(folder: Path, topology: Topology, number: int) -> Path:
    """Write the network to a new file and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"failure-{number}.json"
    write_topology(topology, path)
    return path


def soak(*, seconds: float, most: int, seed: int, largest: int, folder: Path) -> Tally:
    """Try networks until the time or the number is reached, at least one of each kind, and return the results."""
    tally = Tally()
    kinds = sorted(KINDS)
    end = time.monotonic() + seconds
    number = 0
    while number < most and (number < len(kinds) or time.monotonic() < end):
        random = Random(f"{seed}/{number}")  # noqa: S311 (not for security)
        kind = kinds[number % len(kinds)]
        # Small networks find most faults for their time, so that few are large: the median is 1.4 times the smallest.
        nodes = round(SMALLEST * (largest / SMALLEST) ** (random.random() ** 3))
        label = f"{kind}, number {number}, seed {seed}, {nodes} nodes"
        topology = random_network(kind, f"{seed}/{number}", nodes)
        try:
            tally.add(kind, label, len(topology.compute), compare(topology, limit=LIMIT))
        except (ForestcollError, DisagreementError, ArithmeticError, RuntimeError) as error:
            path = write_reproducer(folder, topology, number)
            tally.failures.append(f"{label}: {error}; forestcoll generate {json.dumps(str(path))}")
            print(f"FAILED: {tally.failures[-1]}", file=sys.stderr, flush=True)
        number += 1
    return tally


def main() -> None:
    """Print the summary."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="duration in minutes (10)")
    parser.add_argument("--most", type=int, default=10**9, help="the most networks")
    parser.add_argument("--seed", type=int, default=1, help="seed of the networks (1)")
    parser.add_argument("--largest", type=int, default=192, help="approximate maximum number of compute nodes (192)")
    parser.add_argument("--folder", type=Path, default=Path("build/soak"), help="folder for networks with a failure")
    arguments = parser.parse_args()
    tally = soak(
        seconds=arguments.minutes * 60,
        most=arguments.most,
        seed=arguments.seed,
        largest=arguments.largest,
        folder=arguments.folder,
    )
    print(f"seed {arguments.seed}, {arguments.minutes:g} minutes, up to about {arguments.largest} compute nodes")
    print("\n".join(tally.lines()))
    sys.exit(1 if tally.failures else 0)


if __name__ == "__main__":
    main()
