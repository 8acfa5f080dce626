"""The least tree of a root if links have lengths, and each failure that breaks the tree has a price.

The price of a failure counts once, however often a tree uses its links, so this is no least arborescence. Branch and
bound: each failure is *paid*, *avoided* (its links may not be used) or open. For open failures, the price is added only
to links of which a tree uses at most one (`Breaking.used_once`), or not at all. Then the least arborescence of the
shortest walks is a lower limit for all trees of a branch. It is also a tree, whose real length is an upper limit. If
they differ, the tree breaks an open failure, which is paid or avoided next. All numbers are integers, so the result is
exact if the search ends.

Cost: an all-pairs search and an arborescence for each branch, O(V^3); the number of branches may grow exponentially
with the number of failures, and is limited. Failures of links between compute nodes need one branch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from forestcoll.solver.forests.packed_trees import Arc
from forestcoll.solver.survival.breaking import Breaking
from forestcoll.topology.graph.arborescence import cheapest_tree
from forestcoll.topology.graph.metric import Lengths, Metric
from forestcoll.topology.graph.walks import reached

_HOP = 2**20
"""A unit of length, in hops: of trees with the least length, one with few hops is taken. No tree has as many hops."""

_LONGEST_FAST = 2**61
_ENOUGH = 24
"""The branches after which a search for any short tree ends as soon as it has one."""


@dataclass(frozen=True)
class LeastTree:
    """A tree that is shorter than a limit.

    Attributes:
        arcs: the walks between compute nodes; empty if no tree is known that is shorter than the limit.
        complete: whether no other tree is shorter.
    """

    arcs: tuple[Arc, ...]
    complete: bool


def least_tree(  # noqa: PLR0913, PLR0917 (a root, its prices and two limits)
    breaking: Breaking, root: int, lengths: Sequence[int], prices: Mapping[int, int], limit: int, branches: int
) -> LeastTree:
    """Return the least tree from a root if it is shorter than `limit`.

    Args:
        breaking: the failures.
        root: the root.
        lengths: the length of each link, 0 or more.
        prices: the price of each failure, 0 or more; those of the others are 0.
        limit: trees of this length or more are not looked for.
        branches: the most branches.
    """
    open_branches: list[tuple[frozenset[int], frozenset[int]]] = [(frozenset(), frozenset())]
    best: tuple[Arc, ...] = ()
    for count in range(branches):
        if not open_branches or (best and count >= _ENOUGH):
            break
        paid, avoided = open_branches.pop()
        found = _relaxed(breaking, root, lengths, prices, paid, avoided)
        if found is None:
            continue
        low, arcs = found
        low += sum(prices[each] for each in paid)
        if low >= limit:
            continue
        uses = breaking.uses(arcs)
        broken = {each for each in breaking.broken_by(uses) if prices.get(each)}
        real = sum(lengths[number] for number in uses) + sum(prices[each] for each in broken)
        if real < limit:
            best, limit = arcs, real
        if real > low:
            choice = max(broken - paid, key=lambda each: (prices[each], -each))
            open_branches += [(paid | {choice}, avoided), (paid, avoided | {choice})]
    return LeastTree(best, not open_branches)


def _relaxed(  # noqa: PLR0913, PLR0917 (a branch)
    breaking: Breaking,
    root: int,
    lengths: Sequence[int],
    prices: Mapping[int, int],
    paid: frozenset[int],
    avoided: frozenset[int],
) -> tuple[int, tuple[Arc, ...]] | None:
    """Return the length and the arcs of the least tree if open failures cost too little; None if there is no tree."""
    of_links = [length * _HOP + 1 for length in lengths]
    for failure, price in prices.items():
        if failure not in paid:
            for number in breaking.used_once[failure]:
                of_links[number] += price * _HOP
    far = sum(of_links) + 1
    for failure in avoided:
        for number in breaking.links[failure]:
            of_links[number] = far
    found = _tree(breaking, root, np.array(of_links, dtype=np.int64 if far < _LONGEST_FAST else object), far)
    return None if found is None else (found[0] // _HOP, found[1])


def _tree(breaking: Breaking, root: int, lengths: Lengths, far: int) -> tuple[int, tuple[Arc, ...]] | None:
    """Return the length and the arcs of a least arborescence of the walks shorter than `far`; None if there is none.

    A walk through another compute node is longer than one that starts there, so the arcs pass through switches only.
    """
    compute, metric = breaking.topology.compute, Metric(breaking.topology, lengths, far)
    near = (metric.distances < far).tolist()
    heads = {tail: [head for head in compute if near[tail][head] and tail != head != root] for tail in compute}
    if len(reached([root], heads.__getitem__)) < len(compute):
        return None
    ends = [(tail, head) for tail in compute for head in heads[tail]]
    costs = [int(metric.distances[each]) for each in ends]
    tree = cheapest_tree(compute, ends, costs, root)
    return sum(costs[place] for place in tree.arcs), tuple(tuple(metric.walk(*ends[place])) for place in tree.arcs)
