"""The price of surviving a failure: the algbw of ordinary and of surviving trees, before and after the worst failure.

    python benchmarks/survival.py
    python benchmarks/survival.py --networks torus:dims=3x3/links

After a failure, "left" are the trees that it does not break, with the bandwidth that they had. "Rerouted" means that
these trees keep their shares, and the data of the others takes new trees in the bandwidth that is left: the greatest
algbw of such trees, by Edmonds' theorem. "Replanned" is the optimum of the damaged network.
"""

import argparse
import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import lcm

from forestcoll import TreeSchedule, generate
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.surviving import Surviving
from forestcoll.kernels import core_for
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.topology.changes import Change

NETWORKS = (
    "dgx-a100:boxes=2/nics",
    "dgx-a100:boxes=4/nics",
    "dgx-h100:boxes=2/nics",
    "mi300x:boxes=2/nics",
    "mi250:boxes=2,gpus=8/nics",
    "dgx-a100:boxes=2/nodes",
    "torus:dims=4x4/links",
    "hypercube:dim=4/links",
    "mesh:dims=3x3/links",
)

Ends = tuple[int, int]


class Damaged:
    """The trees of an allgather that a failure of links leaves, with their loads.

    Args:
        schedule: the allgather, whose trees are all listed.
        failure: the failure of links.
    """

    def __init__(self, schedule: TreeSchedule, failure: Change) -> None:
        network = failure.applied(schedule.topology)
        self.bandwidths = {(link.source, link.target): link.bandwidth for link in network.links}
        self.loads = dict.fromkeys(self.bandwidths, Fraction(0))
        self.left, self.broken = (dict.fromkeys(network.compute, Fraction(0)) for _ in range(2))
        self.nodes = len(network.nodes)
        for tree in schedule.phases[0]:
            uses = [ends for route in tree.routes for ends in pairwise(schedule.routes[route])]
            if any(ends not in self.bandwidths for ends in uses):
                self.broken[tree.root] += tree.share
                continue
            self.left[tree.root] += tree.share
            for ends in uses:
                self.loads[ends] += tree.share

    def least_left(self) -> Fraction:
        """Return the least part of the data of a root whose trees are left."""
        return min(self.left.values()) * len(self.left)

    def rerouted(self) -> Fraction:
        """Return the greatest algbw if the data of broken trees takes new trees (Newton's method on cuts)."""
        longest = max(load / self.bandwidths[ends] for ends, load in self.loads.items())
        while (inside := self._full_cut(longest)) is not None:
            leaving = [ends for ends in self.loads if ends[0] in inside and ends[1] not in inside]
            carried = sum((share for node, share in self.broken.items() if node in inside), Fraction(0))
            carried += sum(self.loads[ends] for ends in leaving)
            longest = carried / sum(self.bandwidths[ends] for ends in leaving)
        return 1 / longest

    def _full_cut(self, longest: Fraction) -> set[int] | None:
        """Return a set that the data of broken trees cannot leave in a time, or None if there is none."""
        room = [longest * self.bandwidths[ends] - load for ends, load in self.loads.items()]
        whole = lcm(*(each.denominator for each in (*room, *self.broken.values())))
        weights = [int(share * whole) for share in self.broken.values()]
        if not any(weights):
            return None
        # A small amount added to each capacity keeps all ratios defined; it is too small to change their order.
        fine = len(room) * sum(weights) ** 2 + 1
        capacities = [int(each * whole) * fine + 1 for each in room]
        core = core_for(4 * sum(capacities) * sum(weights))
        tails, heads = (list(each) for each in zip(*self.loads, strict=True))
        problem = core.Problem(self.nodes, tails, heads, capacities, list(self.broken), weights)
        inside = set(core.bottleneck(problem)[2])
        places = enumerate(self.loads)
        leaving = sum(
            int(room[place] * whole) for place, (one, other) in places if one in inside and other not in inside
        )
        held = sum(weight for node, weight in zip(self.broken, weights, strict=True) if node in inside)
        return inside if held > leaving else None


COLUMNS = (
    *("network", "one of its", "ordinary", "surviving", "replanned", "surviving, left", "surviving, rerouted"),
    *("ordinary, left", "ordinary, rerouted", "CPU s"),
)


def row(spec: str, part: str) -> Iterator[str]:
    """Yield the cells of a network."""
    problem, ordinary = problem_of(spec), expanded(generate(spec))
    began = time.process_time()
    found = Surviving(part).survival(problem)
    seconds = time.process_time() - began
    yield from (spec, part, *map(_number, (ordinary.algbw, found.schedule.algbw, found.replanned)))
    yield _number(found.guarantee) + ("" if found.is_optimal else " (found)")
    if any(failure.nodes for failure in found.failures):
        yield from ("", "", "")
    else:
        surviving, plain = (
            [Damaged(each, failure) for failure in found.failures] for each in (found.schedule, ordinary)
        )
        yield _number(min(each.rerouted() for each in surviving))
        yield _number(min(each.least_left() for each in plain) * ordinary.algbw)
        yield _number(min(each.rerouted() for each in plain))
    yield f"{seconds:.1f}"


def _number(value: Fraction) -> str:
    return f"{float(value):.5g}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=NETWORKS, metavar="TOPOLOGY/PART")
    print("|", " | ".join(COLUMNS), "|")
    print("| --- " * len(COLUMNS) + "|")
    for each in parser.parse_args().networks:
        print("|", " | ".join(row(*each.rsplit("/", 1))), "|", flush=True)


if __name__ == "__main__":
    main()
