"""Compare plans for one large message with the best of all schedules, on small random one-port platforms.

    python benchmarks/one_port_packets.py
    python benchmarks/one_port_packets.py --platforms 4

The best schedule for each number of equal packets is found by listing the schedules: up to 4 packets on 3 nodes, and up
to 3 packets on 4 nodes. The plans have the same numbers of packets. Plans by cycles are those in which a node forwards
in each cycle the packets of the cycle before. The seeds are fixed, so the platforms are the same on every run.
"""

import argparse
import sys
from fractions import Fraction
from math import lcm
from pathlib import Path
from random import Random
from statistics import mean

from forestcoll.oneport import Platform
from forestcoll.oneport.message.pipeline_bound import packet_times
from forestcoll.oneport.message.pipelined import Pipeline
from forestcoll.topology import Topology, TopologyBuilder

sys.path.append(str(Path(__file__).parents[1] / "tests" / "common"))
from packet_schedules import least_makespan

PLATFORMS = 24
_MOST_PACKETS = {3: 4, 4: 3}
"""The most packets for each number of nodes. More would take minutes for each platform."""


def small_platform(seed: int) -> Topology:
    """Return a random one-port platform with 3 or 4 nodes: a tree and up to two more pairs of links."""
    draws = Random(seed)  # noqa: S311 (not for security)
    nodes = draws.choice(sorted(_MOST_PACKETS))
    pairs = {(draws.randrange(node), node) for node in range(1, nodes)}
    every = [(one, other) for other in range(nodes) for one in range(other)]
    pairs |= set(draws.sample(every, 2))
    network = TopologyBuilder(f"seed {seed}", port_model="one-port")
    for node in range(nodes):
        network.add_compute(node)
    for one, other in sorted(pairs):
        network.add_duplex(one, other, draws.randint(1, 9), latency_us=draws.randint(0, 20))
    return network.build()


def ratios(topology: Topology, size: int) -> tuple[Fraction, Fraction]:
    """Return the times of the best plan and of the best plan by cycles, as multiples of the time of the best schedule.

    Args:
        topology: a one-port network of 3 or 4 compute nodes without switches.
        size: the size of the message in bytes.
    """
    pipeline = Pipeline(topology, 0)
    counts = range(1, _MOST_PACKETS[len(topology.compute)] + 1)
    planned = [pipeline.plan(size, packets=count).makespan for count in counts]
    by_cycles = [pipeline.plan_by_cycles(size, packets=count).makespan for count in counts]
    best = min(_best_schedule(topology, size, count, most) for count, most in zip(counts, planned, strict=True))
    return min(planned) / best, min(by_cycles) / best


def _best_schedule(topology: Topology, size: int, packets: int, known: Fraction) -> Fraction:
    """Return the least time for a number of equal packets; `known` is the time of a schedule with as many packets."""
    times = packet_times(topology, -(-size // packets))
    scale = lcm(known.denominator, *(time.denominator for time in times))
    units = [int(time * scale) for time in times]
    return Fraction(least_makespan(Platform.of(topology, 0), units, packets, int(known * scale)), scale)


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platforms", type=int, default=PLATFORMS, help="the number of platforms")
    count = parser.parse_args().platforms
    found = [ratios(small_platform(seed), 10 ** (3 + seed % 4)) for seed in range(count)]
    print(f"time as a multiple of the time of the best schedule, on {count} platforms")
    print("| plan | mean | worst |")
    print("| --- | --- | --- |")
    for name, column in zip(("best plan", "by cycles"), zip(*found, strict=True), strict=True):
        print(f"| {name} | {float(mean(column)):.3f} | {float(max(column)):.3f} |")


if __name__ == "__main__":
    main()
