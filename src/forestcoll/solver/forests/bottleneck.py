"""The bottleneck cut, and the fewest spanning trees that reach its bound (ForestColl §4, §5.2, §5.5).

Node v has the weight w(v) of D, as defined in `request`. Data of at least w(S)/D * M must leave every set S of nodes
that misses a compute node, over links of total bandwidth B+(S). So

    algbw = M / time <= D * min over S of B+(S) / w(S) = D * x*.

Spanning trees reach this bound: k w(v) trees from node v, each with a bandwidth of y = x*/k. A set S that attains the
minimum is the certificate: the bound follows from the sum of the bandwidths of the links that leave S.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, lcm
from operator import sub

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.demand import NodeDemand
from forestcoll.solver.forests.node_order import NodeOrder
from forestcoll.solver.forests.plan import ForestPlan
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.solver.forests.trimming import excess_of, trimmed

_MOST_TRIED = 256
"""The number of multiples that are tried one after the other for the fewest trees."""

_MOST_DOUBLED = 8
"""The most scales, each twice the last, at which trimming of rounded bandwidths is tried."""


def plan_reaching(
    scaled: ScaledTopology, demand: NodeDemand, algbw: Fraction, cut: Collection[int], progress: Progress
) -> ForestPlan:
    """Return few trees that reach `algbw`, which must be reachable; `cut` is the bottleneck cut, or empty.

    The number of trees does not depend on the order of the nodes.
    """
    progress.begin("finding the fewest trees")
    ratio = scaled.whole * scaled.unit / algbw
    trees, unused = _fewest_trees(scaled, ratio, frozenset(cut), progress)
    return ForestPlan(scaled.topology, demand, algbw, trees, unused)


def bottleneck(scaled: ScaledTopology, progress: Progress = SILENT) -> tuple[Fraction, tuple[int, ...]]:
    """Return the greatest w(S) / B+(S), with capacities as bandwidths, and a set S that attains it."""
    progress.begin("finding the bottleneck cut")
    bound = scaled.whole * scaled.total
    scaled.remark_on_width(bound, progress)
    core, problem = scaled.problem(scaled.capacities, bound)
    inside, leaving, cut = core.bottleneck(problem, progress.advance)
    return Fraction(inside, leaving), tuple(cut)


def _fewest_trees(
    scaled: ScaledTopology, ratio: Fraction, cut: frozenset[int], progress: Progress
) -> tuple[int, tuple[int, ...]]:
    """Return the least k found for which floor(k b ratio) trees on each link of bandwidth b reach the optimum.

    The second value is `ForestPlan.unused`.

    The links that leave the bottleneck cut are fully used, so k b ratio must be an integer on each of them: k is a
    multiple of `step`. The k for which it is an integer on all links (§E.1) is sufficient, and also a multiple of
    `step`. The smaller multiples are tried in rising order; after `_MOST_TRIED` of them, each is twice the last. The k
    found is the least if all smaller multiples were tried and no trimming was needed; otherwise it may not be.
    """
    step = _least_step(scaled, ratio, cut)
    sufficient = lcm(*((capacity * ratio).denominator for capacity in set(scaled.capacities)))
    if cut and sufficient // step > _MOST_TRIED:
        # Of several bottleneck cuts, which one was found depends on the order of the nodes of the given network.
        order = NodeOrder.of(scaled)
        step = _least_step(order.scaled, ratio, frozenset(bottleneck(order.scaled)[1]))
    scaled.remark_on_width(_width(scaled, scaled.whole_trees(step * ratio), step), progress)
    for tried, multiple in enumerate(_multiples(sufficient // step)):
        progress.advance(tried, _MOST_TRIED)
        trees = multiple * step
        if _fits(scaled, scaled.whole_trees(trees * ratio), trees):
            unused = _unused_in_order(scaled, trees * ratio, trees)
            if unused is not None:
                return trees, unused
    return sufficient, ()


def _unused_in_order(scaled: ScaledTopology, scale: Fraction, trees: int) -> tuple[int, ...] | None:
    """Return the same as `_unused`, found with the nodes in the order of their ids."""
    if not any(_excess_of_switches(scaled, scaled.whole_trees(scale))):
        return ()
    order = NodeOrder.of(scaled)
    unused = _unused(order.scaled, scale, trees)
    return order.of_links(unused) if unused else unused


def _excess_of_switches(scaled: ScaledTopology, capacities: Sequence[int]) -> Iterator[int]:
    """Yield by how much the exit capacity of each switch is greater than its entering capacity."""
    excess = excess_of(scaled.topology, capacities)
    return (max(0, excess[switch]) for switch in scaled.topology.switches)


def _least_step(scaled: ScaledTopology, ratio: Fraction, cut: frozenset[int]) -> int:
    """Return the least k for which k b ratio is an integer on all links that leave the cut."""
    ends = zip(*scaled.topology.link_ends, scaled.capacities, strict=True)
    leaving = {capacity for source, target, capacity in ends if source in cut and target not in cut}
    return lcm(*((capacity * ratio).denominator for capacity in leaving))


def _unused(scaled: ScaledTopology, scale: Fraction, trees: int) -> tuple[int, ...] | None:
    """Return the unused part of floor(scale * b) of each link, as in `ForestPlan`, or None if no trimming is found."""
    capacities = scaled.whole_trees(scale)
    spare = _spare(scaled, capacities, trees)
    balanced = trimmed(scaled.topology, capacities, spare, lambda fewer: _fits(scaled, fewer, trees))
    if balanced is None:
        return None
    return tuple(map(sub, capacities, balanced)) if balanced != capacities else ()


def _spare(scaled: ScaledTopology, capacities: Sequence[int], trees: int) -> list[int]:
    """Return the entering capacity of each compute node minus the trees of all others; 0 for switches."""
    spare = [0] * len(scaled.topology.nodes)
    for node, weight in zip(scaled.topology.compute, scaled.weights, strict=True):
        spare[node] = -trees * (scaled.whole - weight)
    for link, capacity in zip(scaled.topology.links, capacities, strict=True):
        if scaled.topology.nodes[link.target].is_compute:
            spare[link.target] += capacity
    return spare


def _multiples(sufficient: int) -> Iterator[int]:
    """Yield the multiples below `sufficient` that are tried, in rising order."""
    yield from range(1, min(sufficient, _MOST_TRIED + 1))
    multiple = 2 * _MOST_TRIED
    while multiple < sufficient:
        yield multiple
        multiple *= 2


def plan_with_trees(scaled: ScaledTopology, best: ForestPlan, trees: int) -> ForestPlan:
    """Return `best` restricted to `trees` trees per root.

    Raises:
        NoSolutionError: when bandwidths are rounded to so many trees, a switch sends more than it receives, and no
            trimming was found that fixes this.
    """
    scale = _least_scale(scaled, best, trees)
    restricted = replace(best, algbw=scaled.whole * trees * scaled.unit / scale, trees_per_root=trees, unused=())
    unused = _unused(scaled, scale, trees)
    if unused is None:
        raise _unbalanced(scaled, restricted, best.trees_per_root)
    return replace(restricted, unused=unused)


def plan_with_trees_trimmed(scaled: ScaledTopology, best: ForestPlan, trees: int) -> ForestPlan:
    """Return the best plan found for `trees` trees per root on a network with unbalanced switches.

    `best` is the optimum on the balanced use of the network. Bandwidths are rounded to trees and then trimmed, at the
    least scale found at which trimming succeeds. Trimming is not a complete search, so a smaller scale may exist.

    Raises:
        NoSolutionError: trimming failed at every scale that was tried.
    """

    def trimmed_at(scale: Fraction) -> tuple[int, ...] | None:
        fits = _fits(scaled, scaled.whole_trees(scale), trees)
        return _unused(scaled, scale, trees) if fits else None

    ideal = _ideal_scale(scaled, best, trees)
    enough = next(
        (scale for scale in (ideal * 2**each for each in range(_MOST_DOUBLED)) if trimmed_at(scale) is not None), None
    )
    if enough is None:
        raise _unbalanced(scaled, replace(best, topology=scaled.topology, unused=()), best.trees_per_root)
    bandwidths = sorted(set(scaled.capacities))
    scale = _narrow_down(bandwidths, ideal / 2, enough, lambda each: trimmed_at(each) is not None)
    return replace(
        best,
        topology=scaled.topology,
        algbw=scaled.whole * trees * scaled.unit / scale,
        trees_per_root=trees,
        unused=trimmed_at(scale) or (),
    )


def _unbalanced(scaled: ScaledTopology, restricted: ForestPlan, possible: int) -> NoSolutionError:
    """Return the error for a number of trees with which a switch sends more than it receives.

    `possible` is a number of trees for which there is a solution.
    """
    topology, trees = restricted.topology, restricted.trees_per_root
    excess = excess_of(topology, restricted.tree_capacities())
    switch = next(each for each in topology.switches if excess[each] > 0)
    missing = f"{excess[switch]} tree{'s' * (excess[switch] != 1)}"
    return NoSolutionError(
        f"{topology.name}: with {trees} tree{'s' * (trees != 1)} per root, switch "
        f"{topology.nodes[switch].id!r} would receive {missing} {'more' if scaled.backwards else 'fewer'} "
        f"than it sends, and the trees need all routes over it; use {possible} tree{'s' * (possible != 1)} per root"
    )


def remark_on_trees(scaled: ScaledTopology, best: ForestPlan, trees: int, progress: Progress) -> None:
    """Report to `progress` if the numbers for so many trees are too wide for the native core."""
    scaled.remark_on_width(_width(scaled, scaled.whole_trees(_ideal_scale(scaled, best, trees)), trees), progress)


def _least_scale(scaled: ScaledTopology, best: ForestPlan, trees: int) -> Fraction:
    """Return the least U for which capacities floor(U b) carry `trees` trees per root (Theorem 12).

    At the least U, some U b is an integer, so U = j/b for a bandwidth b and an integer j. Trees that fit at U also fit
    at every greater U. For each b, j is bisected between the greatest U known not to fit and the best U so far.
    """
    ideal = _ideal_scale(scaled, best, trees)
    bandwidths = sorted(set(scaled.capacities))
    least = max(Fraction(ceil(ideal * bandwidth), bandwidth) for bandwidth in bandwidths)  # fits: Theorem 13

    def fits(scale: Fraction) -> bool:
        return _fits(scaled, scaled.whole_trees(scale), trees)

    return ideal if fits(ideal) else _narrow_down(bandwidths, ideal, least, fits)


def _ideal_scale(scaled: ScaledTopology, best: ForestPlan, trees: int) -> Fraction:
    """Return the U at which `trees` trees per root would reach the optimum if no capacity were rounded."""
    return trees * scaled.unit * scaled.whole / best.algbw


def _narrow_down(
    bandwidths: list[int], too_small: Fraction, least: Fraction, fits: Callable[[Fraction], bool]
) -> Fraction:
    for bandwidth in bandwidths:
        low, high = floor(too_small * bandwidth) + 1, ceil(least * bandwidth) - 1
        while low <= high:
            middle = (low + high) // 2
            scale = Fraction(middle, bandwidth)
            if fits(scale):
                least, high = scale, middle - 1
            else:
                too_small, low = scale, middle + 1
    return least


def _fits(scaled: ScaledTopology, capacities: Sequence[int], trees: int) -> bool:
    """Return whether `trees` trees for each weight of 1 fit into `capacities` (Theorem 3)."""
    core, problem = scaled.problem(capacities, _width(scaled, capacities, trees))
    return core.supply_reaches_all(problem, trees)


def _width(scaled: ScaledTopology, capacities: Sequence[int], trees: int) -> int:
    """Return a bound on all sums in the test whether `trees` trees fit."""
    return sum(capacities) + scaled.whole * trees
