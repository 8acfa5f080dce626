"""Trees from the weights: the bottleneck cut, and the fewest trees that reach it (ForestColl §4, §5.2, §5.5).

Let node v hold the weight w(v) of D, as `bounds.demand` says. Data of at least w(S)/D * M must leave every set S of
nodes that misses a compute node, over links of bandwidth B+(S). So

    algbw = M / time <= D * min over S of B+(S) / w(S) = D * x*,

and spanning trees reach it: k w(v) of them from node v, each on a bandwidth of y = x*/k. A set S that attains the
minimum is the certificate: anyone can add up its links.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, lcm
from operator import sub

from forestcoll.bounds.demand import Demand
from forestcoll.bounds.optimum import Optimum
from forestcoll.bounds.scaling import ScaledTopology, unbalanced_switch
from forestcoll.bounds.trimming import trimmed
from forestcoll.errors import NoSolutionError
from forestcoll.progress import SILENT, Progress

_MOST_TRIED = 256
"""How many multiples are tried one by one for the fewest trees."""


def unrestricted(
    scaled: ScaledTopology, demand: Demand, progress: Progress, *, algbw: Fraction | None = None
) -> Optimum:
    """Return the optimum, or what reaches a possible `algbw`, with the fewest trees that do. The latter has no cut."""
    if algbw is None:
        ratio, cut = bottleneck(scaled, progress)
    else:
        ratio, cut = scaled.whole * scaled.unit / algbw, ()
    progress.begin("finding the fewest trees")
    trees, unused = _fewest_trees(scaled, ratio, frozenset(cut), progress)
    algbw = scaled.whole * scaled.unit / ratio
    return Optimum(
        topology=scaled.topology,
        collective=demand.collective,
        algbw=algbw,
        trees_per_root=trees,
        tree_bandwidth=algbw / (scaled.whole * trees),
        optimal_algbw=algbw,
        cut=cut,
        unused=unused,
        root=demand.root,
        shards=demand.shards,
    )


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

    Beside it stands what must stay unused, as in `Optimum`.

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
    """Return what of floor(scale * b) must stay unused for balance: empty if nothing must, None if there is no way."""
    capacities = scaled.whole_trees(scale)
    balanced = trimmed(scaled.topology, capacities, lambda fewer: _fits(scaled, fewer, trees))
    if balanced is None:
        return None
    return tuple(map(sub, capacities, balanced)) if balanced != capacities else ()


def _multiples(sufficient: int) -> Iterator[int]:
    """Yield the multiples below `sufficient` that are worth a try, rising."""
    yield from range(1, min(sufficient, _MOST_TRIED + 1))
    multiple = 2 * _MOST_TRIED
    while multiple < sufficient:
        yield multiple
        multiple *= 2


def by_trees(best: Optimum, restricted: Callable[[int], Optimum], most: int, progress: Progress) -> tuple[Optimum, ...]:
    """Return `restricted` to each number of trees from 1 to `most`, up to the first that is as good as `best`.

    Raises:
        NoSolutionError: none of the numbers can be had.
    """
    progress.begin("finding the best number of trees")
    found: list[Optimum] = []
    refusal: NoSolutionError | None = None
    last = min(most, best.trees_per_root)  # so many reach the optimum, and fewer may
    for trees in range(1, last + 1):
        progress.advance(trees - 1, last)
        try:
            found.append(restricted(trees))
        except NoSolutionError as error:
            refusal = error
            continue
        if found[-1].algbw == best.algbw:
            break
    if refusal is not None and not found:
        raise refusal
    return tuple(found)


def with_trees(scaled: ScaledTopology, best: Optimum, trees: int) -> Optimum:
    """Return `best` restricted to `trees` trees per root.

    Raises:
        NoSolutionError: a switch becomes unbalanced for good when bandwidths are rounded to so many trees.
    """
    scale = _least_scale(scaled, best, trees)
    bandwidth = scaled.unit / scale
    restricted = replace(
        best,
        algbw=scaled.whole * trees * bandwidth,
        trees_per_root=trees,
        tree_bandwidth=bandwidth,
    )
    unused = _unused(scaled, scale, trees)
    if unused is None:
        raise _unbalanced(scaled, restricted)
    return replace(restricted, unused=unused)


def _unbalanced(scaled: ScaledTopology, restricted: Optimum) -> NoSolutionError:
    """Return the refusal of a number of trees that unbalances a switch for good."""
    topology, trees = restricted.topology, restricted.trees_per_root
    switch, surplus = unbalanced_switch(topology, restricted.tree_capacities()) or (0, 0)
    takes_more = (surplus > 0) != scaled.backwards
    return NoSolutionError(
        f"{topology.name}: with {trees} tree{'s' * (trees != 1)} per root, switch "
        f"{topology.nodes[switch].id!r} would take in {abs(surplus)} {'more' if takes_more else 'fewer'} "
        "than it gives out, and no link of it can spare as many; ask for another number of trees"
    )


def remark_on_trees(scaled: ScaledTopology, best: Optimum, trees: int, progress: Progress) -> None:
    """Let `progress` know if the numbers of so many trees are too wide for the native core."""
    scaled.remark_on_width(_width(scaled, scaled.whole_trees(_ideal_scale(scaled, best, trees)), trees), progress)


def _least_scale(scaled: ScaledTopology, best: Optimum, trees: int) -> Fraction:
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


def _ideal_scale(scaled: ScaledTopology, best: Optimum, trees: int) -> Fraction:
    """Return the U at which `trees` trees per root would reach the optimum if no capacity were rounded."""
    return trees * scaled.unit * scaled.whole / best.optimal_algbw


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
