"""The choice among packings of trees with the same rate: low trees first, then little traffic.

The search for the greatest rate ends with many trees, and usually many weights of them have this rate. Of these, the
weights are chosen for which

1. the mean height of the trees, by weight, is least, and of these
2. the mean number of links that a tree uses is least.

This is one more linear program with a column for each tree. Its last basis is solved in fractions. The result is used
only if its rate, computed from the loads of links, is that of the search.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.demand.collective import PhaseOp
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram


@dataclass(frozen=True)
class WeighedTree:
    """What the choice must know about a tree.

    Attributes:
        phase: the phase of the tree.
        root: the orbit of its root; None if trees can have any root.
        height: the height of the tree.
        uses: how often it uses each class of links.
    """

    phase: PhaseOp
    root: int | None
    height: int
    uses: Mapping[int, int]


def lowest_weights(trees: Sequence[WeighedTree], capacities: Sequence[int], rate: Fraction) -> list[Fraction] | None:
    """Return weights of `trees` with the total `rate` in each phase, or None if floating point finds none.

    Args:
        trees: the trees.
        capacities: the capacity of each class of links.
        rate: the total weight of the trees of each phase, which is possible.
    """
    longest = 1 + max(sum(tree.uses.values()) for tree in trees)
    costs = [-tree.height * longest - sum(tree.uses.values()) for tree in trees]
    program = LinearProgram(costs, scale=rate.denominator * max(capacities))
    for of_link, capacity in enumerate(capacities):
        loads = {place: tree.uses[of_link] for place, tree in enumerate(trees) if of_link in tree.uses}
        program.add(Constraint(loads, None, capacity * rate.denominator))
    for phase in {tree.phase for tree in trees}:
        of_phase = {place: 1 for place, tree in enumerate(trees) if tree.phase is phase}
        program.add(Constraint(of_phase, rate.numerator, rate.numerator))
    for root in sorted({tree.root for tree in trees if tree.root is not None}):
        of_root = {
            place: 1 if tree.phase is PhaseOp.REDUCE else -1 for place, tree in enumerate(trees) if tree.root == root
        }
        program.add(Constraint(of_root, 0, 0))
    exact = program.proven(program.attempt())
    return None if exact is None else [each / rate.denominator for each in exact[0]]
