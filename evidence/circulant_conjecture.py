"""Test conjecture 1 of "Efficient Direct-Connect Topologies": every circulant has a BFB schedule with the least T_B.

    python evidence/circulant_conjecture.py --minutes 10

The program checks connected circulants C(n, {a1 < ... < ak}) in the order of n, one of each class under multiplication
by a unit modulo n. The check is exact: the balancing flows of one node must load all its links equally at every step.
One node is enough because all nodes are equivalent. The conjecture is proven for k <= 2, so k >= 3 is checked here.
Circulants with the offset n/2, which gives a node one link instead of two, are checked too and counted separately. The
program prints every counterexample.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import gcd

import numpy as np

from forestcoll.kernels import StepTransfers, cores

Offsets = tuple[int, ...]


def is_optimal(nodes: int, offsets: Offsets) -> bool:
    """Return whether BFB on the circulant graph reaches T_B = (N - 1)/N M/B, exactly."""
    steps = sorted({offset % nodes for each in offsets for offset in (each, -each)})
    tails = [(node - step) % nodes for node in range(nodes) for step in steps]
    heads = [node for node in range(nodes) for _ in steps]
    core = cores()["narrow"]
    problem = core.Problem(nodes, tails, heads, [1] * len(tails), list(range(nodes)))
    sent = StepTransfers(*core.broadcast_breadth_first(problem, 1, [0] * len(tails), 0, [0]))
    return _total_time(sent) * len(steps) == nodes - 1


def _total_time(sent: StepTransfers) -> Fraction:
    """Return the sum over the steps of the greatest load of a link, in shards."""
    points = list(map(Fraction, sent.numerators, sent.denominators))
    parts = Counter(
        zip(sent.steps.tolist(), sent.sources.tolist(), sent.lows.tolist(), sent.highs.tolist(), strict=True)
    )
    loads: dict[tuple[int, int], Fraction] = {}
    for (step, source, low, high), count in parts.items():
        loads[step, source] = loads.get((step, source), Fraction(0)) + count * (points[high] - points[low])
    greatest = [Fraction(0)] * (int(np.max(sent.steps)) + 1)
    for (step, _), load in loads.items():
        greatest[step] = max(greatest[step], load)
    return sum(greatest, Fraction(0))


def circulants(nodes: int, count: int, *, halves: bool) -> Iterator[Offsets]:
    """Yield connected circulants with `count` offsets, one of each class; with the offset n/2 if `halves`."""
    units = [unit for unit in range(1, nodes // 2 + 1) if gcd(unit, nodes) == 1]
    below = range(1, (nodes + 1) // 2)
    half: Offsets = (nodes // 2,) if halves else ()
    for chosen in combinations(below, count - len(half)):
        offsets = (*chosen, *half)
        if gcd(nodes, *offsets) == 1 and all(offsets <= _image(offsets, unit, nodes) for unit in units):
            yield offsets


def _image(offsets: Offsets, unit: int, nodes: int) -> Offsets:
    return tuple(sorted(min(offset * unit % nodes, -offset * unit % nodes) for offset in offsets))


def main() -> None:
    """Check graphs until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--max-offsets", type=int, default=8)
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    checked: Counter[tuple[int, bool]] = Counter()
    found: list[tuple[int, Offsets]] = []
    nodes = 5
    while time.monotonic() < end:
        for count in range(3, arguments.max_offsets + 1):
            for halves in (False, True) if nodes % 2 == 0 else (False,):
                for offsets in circulants(nodes, count, halves=halves):
                    checked[count, halves] += 1
                    if not is_optimal(nodes, offsets):
                        found.append((nodes, offsets))
                        print(f"counterexample: C({nodes}, {{{', '.join(map(str, offsets))}}})", flush=True)
                    if time.monotonic() > end:
                        break
        nodes += 1
    print(f"all circulants up to {nodes - 2} nodes, and some of {nodes - 1}; {sum(checked.values())} graphs")
    for (count, halves), number in sorted(checked.items()):
        print(f"  {count} offsets{', one of them n/2' if halves else ''}: {number}")
    print(f"{len(found)} counterexamples, {sum(1 for n, offsets in found if 2 * offsets[-1] != n)} without n/2")


if __name__ == "__main__":
    main()
