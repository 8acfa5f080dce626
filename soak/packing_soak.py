"""Compare allreduces on random networks (relays, switches that copy or add up, one-way links) with the exact optimum.

    python soak/packing_soak.py --networks 1000 --seed 0

The exact optimum is computed by plain column generation: two phases, one row for each link, and in each round the
shortest in-tree and out-tree of every root, by dynamic programming over sets of ranks (Dreyfus and Wagner). It uses no
heuristic, no symmetry and no other bound. Its lengths are then checked by the code of `verify`, which is independent of
the search. So a network counts only if its optimum is certified; the others are counted apart.

Goal: at least 0.98 of the optimum on each network and 0.999 on average, and never more. The exit status is 1 if not.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import lcm
from pathlib import Path
from random import Random

import numpy as np

from forestcoll.demand.demand import Demand

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "common"))

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.ranks import require_reach
from forestcoll.schedule.proof import TreeLengthsProof
from forestcoll.schedule.proof.tree_dual import PHASES, Roles
from forestcoll.solver.allreduce.tree_packing.steiner import cheapest_tree
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import Floats, LinearProgram
from forestcoll.solver.forests.packed_trees import PackedTree
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Topology
from forestcoll.topology.graph.least_trees import LeastTrees
from forestcoll.topology.graph.metric import Metric
from forestcoll.topology.graph.part import usable_part
from forestcoll.verification import verify
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks.checks import proven
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError
from networks import drawn_network

MOST_RANKS = 8
TOLERANCE = 1e-9


class Exact:
    """Column generation with exact pricing on the usable part of a network. The dual has the lengths of links."""

    def __init__(self, part: Topology) -> None:
        self.part, self.roles = part, Roles.in_network(part)
        self.capacities = ScaledTopology.of(part).capacities
        linked = {link.source for link in part.links} & {link.target for link in part.links}
        self.roots = sorted(self.roles.roots & linked)
        self.numbers = {(link.source, link.target): place for place, link in enumerate(part.links)}
        self.program = LinearProgram([-each for each in self.capacities] + [0] * len(self.roots))

    def lengths(self) -> tuple[int, ...] | None:
        """Return the lengths of all links in an optimal solution, or None if the basis is not solved exactly."""
        values = np.zeros(len(self.capacities) + len(self.roots))
        values[: len(self.capacities)] = TOLERANCE
        while self.added(values):
            solution = self.program.solve()
            values = solution.values
        exact = self.program.exact(solution)
        if exact is None or min(exact[0]) < 0:
            return None
        found = exact[0][: len(self.capacities)]
        whole = lcm(*(each.denominator for each in found))
        return tuple(int(each * whole) for each in found)

    def added(self, values: Floats) -> bool:
        """Add the shortest trees of each root that are too short; return whether there are any."""
        lengths = np.maximum(values[: len(self.capacities)], 0)
        lengths = lengths + 1e-9 * lengths.mean()
        new = False
        for phase in PHASES:
            for place, tree in enumerate(self.shortest(phase, lengths)):
                potential = float(values[len(self.capacities) + place])
                reduces = phase is PhaseOp.REDUCE
                uses = self.uses(phase, tree)
                length = sum(float(values[link]) * count for link, count in uses.items())
                if length < (1 - potential if reduces else potential) - TOLERANCE or not values.any():
                    uses[len(self.capacities) + place] = 1 if reduces else -1
                    self.program.add(Constraint(uses, int(reduces), None))
                    new = True
        return new

    def shortest(self, phase: PhaseOp, lengths: Floats) -> Iterator[PackedTree]:
        """Yield the shortest tree of each root."""
        metric = Metric(self.part, lengths, np.inf, backwards=phase is PhaseOp.REDUCE)
        copies = np.array([node not in self.roles.passive[phase] for node in range(len(self.part.nodes))])
        least = LeastTrees(metric.distances, np.flatnonzero(copies).tolist(), self.part.compute)
        for root in self.roots:
            yield cheapest_tree(metric, copies, least, root)

    def uses(self, phase: PhaseOp, tree: PackedTree) -> dict[int, int]:
        """Return how often the tree uses each link."""
        walks = (arc if phase is PhaseOp.BROADCAST else arc[::-1] for arc in tree.arcs)
        return dict(Counter(self.numbers[ends] for walk in walks for ends in pairwise(walk)))


def network(random: Random) -> tuple[Topology, tuple[int, ...]]:
    """Return a random network and the node numbers of its ranks."""
    kinds = random.choice(("c", "ca", "caams", "cs", "cm"))
    topology = drawn_network(
        random.randrange(10**9), nodes=random.randint(4, 14), kinds=kinds, one_way=random.random() < 0.5
    )
    most = min(MOST_RANKS, len(topology.compute))
    return topology, tuple(sorted(random.sample(topology.compute, random.randint(2, most))))


def ratio(topology: Topology, ranks: tuple[int, ...]) -> Fraction | None:
    """Return the algbw of `generate`, verified, as a part of the optimum; None if the optimum is not certified."""
    demand = NodeDemand(Collective.ALLREDUCE, ranks=ranks)
    require_reach(topology, ranks)
    part = usable_part(topology, ranks)
    lengths = Exact(part).lengths()
    if lengths is None:
        return None
    question = BoundQuestion(
        Network(topology), Collective.ALLREDUCE, ranks, (Fraction(1, len(ranks)),) * len(ranks), None
    )
    try:
        optimum = proven(TreeLengthsProof.of(part, lengths), question)
    except UnprovenError:
        return None
    positions = [topology.compute.index(rank) for rank in demand.members(topology)]
    schedule = generate(topology, Demand("allreduce", ranks=positions))
    report = verify(schedule)
    if not report.ok or report.algbw != schedule.algbw:
        raise SystemExit(f"verify refuses a schedule on {topology}: {report.fault}")
    made: Fraction | None = schedule.algbw / optimum
    return made


def main() -> None:
    """Compare the networks, print the figures, and exit with status 1 if the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found: list[Fraction] = []
    open_ = 0
    start = time.process_time()
    for number in range(arguments.networks):
        part = ratio(*network(Random(f"{arguments.seed}/{number}")))  # noqa: S311 (not for security)
        if part is None:
            open_ += 1
            continue
        found.append(part)
        if part != 1:
            print(f"{number}: {float(part):.6f} of the optimum", flush=True)
    mean, least, most = sum(found, Fraction(0)) / len(found), min(found), max(found)
    print(
        f"{len(found)} networks in {time.process_time() - start:.0f} s of processor time: {found.count(Fraction(1))} "
        f"at the optimum, mean {float(mean):.6f}, least {float(least):.6f}, greatest {float(most):.6f}; "
        f"{open_} without a certificate"
    )
    sys.exit(not (mean >= Fraction(999, 1000) and least >= Fraction(98, 100) and most <= 1))


if __name__ == "__main__":
    main()
