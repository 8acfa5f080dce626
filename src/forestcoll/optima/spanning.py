"""Trees from the weights: the bottleneck cut, and the fewest trees that reach it (ForestColl §4, §5.2, §5.5).

Let node v hold the weight w(v) of D, as `request` says. Data of at least w(S)/D * M must leave every set S of
nodes that misses a compute node, over links of bandwidth B+(S). So

    algbw = M / time <= D * min over S of B+(S) / w(S) = D * x*,

and spanning trees reach it: k w(v) of them from node v, each on a bandwidth of y = x*/k. A set S that attains the
minimum is the certificate: anyone can add up its links.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, lcm
from operator import sub

from forestcoll.errors import NoSolutionError
from forestcoll.optima.plan import ForestPlan
from forestcoll.optima.scaling import ScaledTopology
from forestcoll.optima.trimming import excess_of, trimmed
from forestcoll.progress import SILENT, Progress
from forestcoll.request import Demand

_MOST_TRIED = 256
"""How many multiples are tried one by one for the fewest trees."""

_MOST_DOUBLED = 8
"""How often the scale is doubled until rounded bandwidths can be trimmed."""


def reaching(
    scaled: ScaledTopology, demand: Demand, algbw: Fraction, cut: Collection[int], progress: Progress
) -> ForestPlan:
    """Return the fewest trees that reach a possible `algbw`; `cut` is the bottleneck cut, or empty if not known."""
    progress.begin("finding the fewest trees")
    ratio = scaled.whole * scaled.unit / algbw
    trees, unused = _fewest_trees(scaled, ratio, frozenset(cut), progress)
    return ForestPlan(scaled.topology, demand, algbw, trees, unused)


def bottleneck(scaled: ScaledTopology, progress: Progress = SILENT) -> tuple[Fraction, tuple[int, ...]]:
    """Return the greatest w(S) / B+(S), in units of the scaled network, and a set S that attains it."""
    progress.begin("finding the bottleneck cut")
    bound = scaled.whole * scaled.total
    scaled.remark_on_width(bound, progress)
    core, problem = scaled.problem(scaled.capacities, bound)
    inside, leaving, cut = core.bottleneck(problem, progress.advance)
    return Fraction(inside, leaving), tuple(cut)


def _fewest_trees(
    scaled: ScaledTopology, ratio: Fraction, cut: frozenset[int], progress: Progress
) -> tuple[int, tuple[int, ...]]:
    """Return the least k whose whole trees, floor(k b ratio) on a link of bandwidth b, still reach the optimum.

    The second value says what must stay unused, as in `ForestPlan`.

    The links that leave the bottleneck cut have nothing to spare, so k must make each of theirs a whole number: k is
    a multiple of some `step`. The k that makes all links' numbers whole (§E.1) is large enough, and a multiple too.
    The multiples between are tried in order; beyond `_MOST_TRIED` of them only doubled ones are.
    """
    leaving = (
        capacity
        for link, capacity in zip(scaled.topology.links, scaled.capacities, strict=True)
        if link.source in cut and link.target not in cut
    )
    step = lcm(*((capacity * ratio).denominator for capacity in leaving))
    scaled.remark_on_width(_width(scaled, scaled.whole_trees(step * ratio), step), progress)
    sufficient = lcm(*((capacity * ratio).denominator for capacity in set(scaled.capacities)))
    for tried, multiple in enumerate(_multiples(sufficient // step)):
        progress.advance(tried, _MOST_TRIED)
        trees = multiple * step
        if _fits(scaled, scaled.whole_trees(trees * ratio), trees):
            unused = _unused(scaled, trees * ratio, trees)
            if unused is not None:
                return trees, unused
    return sufficient, ()


def _unused(scaled: ScaledTopology, scale: Fraction, trees: int) -> tuple[int, ...] | None:
    """Return what of floor(scale * b) must stay unused for balance: empty if nothing must, None if none is found."""
    capacities = scaled.whole_trees(scale)
    spare = _spare(scaled, capacities, trees)
    balanced = trimmed(scaled.topology, capacities, spare, lambda fewer: _fits(scaled, fewer, trees))
    if balanced is None:
        return None
    return tuple(map(sub, capacities, balanced)) if balanced != capacities else ()


def _spare(scaled: ScaledTopology, capacities: Sequence[int], trees: int) -> list[int]:
    """Return of each compute node how much more leads into it than the trees of all others; 0 of switches."""
    spare = [0] * len(scaled.topology.nodes)
    for node, weight in zip(scaled.topology.compute, scaled.weights, strict=True):
        spare[node] = -trees * (scaled.whole - weight)
    for link, capacity in zip(scaled.topology.links, capacities, strict=True):
        if scaled.topology.nodes[link.target].is_compute:
            spare[link.target] += capacity
    return spare


def _multiples(sufficient: int) -> Iterator[int]:
    """Yield the multiples below `sufficient` that are worth a try, rising."""
    yield from range(1, min(sufficient, _MOST_TRIED + 1))
    multiple = 2 * _MOST_TRIED
    while multiple < sufficient:
        yield multiple
        multiple *= 2


def with_trees(scaled: ScaledTopology, best: ForestPlan, trees: int) -> ForestPlan:
    """Return `best` restricted to `trees` trees per root.

    Raises:
        NoSolutionError: a switch becomes unbalanced for good when bandwidths are rounded to so many trees.
    """
    scale = _least_scale(scaled, best, trees)
    restricted = replace(best, algbw=scaled.whole * trees * scaled.unit / scale, trees_per_root=trees, unused=())
    unused = _unused(scaled, scale, trees)
    if unused is None:
        raise _unbalanced(scaled, restricted)
    return replace(restricted, unused=unused)


def with_trees_trimmed(scaled: ScaledTopology, best: ForestPlan, trees: int) -> ForestPlan:
    """Return the best that is found for `trees` trees per root on a network some of whose switches are not balanced.

    `best` is the optimum on what of the network can be used. Bandwidths are rounded to trees and then trimmed, at the
    least scale at which trimming does it; as that is no complete search, a smaller one might do.

    Raises:
        NoSolutionError: trimming does it at no scale that was tried.
    """

    def trimmed_at(scale: Fraction) -> tuple[int, ...] | None:
        fits = _fits(scaled, scaled.whole_trees(scale), trees)
        return _unused(scaled, scale, trees) if fits else None

    ideal = _ideal_scale(scaled, best, trees)
    enough = next(
        (scale for scale in (ideal * 2**each for each in range(_MOST_DOUBLED)) if trimmed_at(scale) is not None), None
    )
    if enough is None:
        raise _unbalanced(scaled, replace(best, topology=scaled.topology, unused=()))
    bandwidths = sorted(set(scaled.capacities))
    scale = _narrow_down(bandwidths, ideal / 2, enough, lambda each: trimmed_at(each) is not None)
    return replace(
        best,
        topology=scaled.topology,
        algbw=scaled.whole * trees * scaled.unit / scale,
        trees_per_root=trees,
        unused=trimmed_at(scale) or (),
    )


def _unbalanced(scaled: ScaledTopology, restricted: ForestPlan) -> NoSolutionError:
    """Return the refusal of a number of trees that unbalances a switch for good."""
    topology, trees = restricted.topology, restricted.trees_per_root
    excess = excess_of(topology, restricted.tree_capacities())
    switch = next(each for each in topology.switches if excess[each] > 0)
    return NoSolutionError(
        f"{topology.name}: with {trees} tree{'s' * (trees != 1)} per root, switch "
        f"{topology.nodes[switch].id!r} would take in {excess[switch]} {'more' if scaled.backwards else 'fewer'} "
        "than it sends, and no route over it can spare as many; ask for another number of trees"
    )


def remark_on_trees(scaled: ScaledTopology, best: ForestPlan, trees: int, progress: Progress) -> None:
    """Let `progress` know if the numbers of so many trees are too wide for the native core."""
    scaled.remark_on_width(_width(scaled, scaled.whole_trees(_ideal_scale(scaled, best, trees)), trees), progress)


def _least_scale(scaled: ScaledTopology, best: ForestPlan, trees: int) -> Fraction:
    """Return the least U for which capacities floor(U b) carry `trees` trees per root (Theorem 12).

    At the least U some U b is an integer, so U = j/b for a bandwidth b and an integer j, and what fits at U fits above.
    For each b, j is bisected between what is known not to fit and the best so far; both bounds are exact.
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
    return core.feeds(problem, trees)


def _width(scaled: ScaledTopology, capacities: Sequence[int], trees: int) -> int:
    """Return a bound on all sums that the question takes whether `trees` trees fit."""
    return sum(capacities) + scaled.whole * trees
