"""The exact optimum of a collective, and the cut that proves it (ForestColl §4, §5.2, §5.5).

For an allgather of M over N compute nodes, data of at least |S & compute| * M/N must leave every set S of nodes that
misses a compute node, over links of bandwidth B+(S). So

    algbw = M / time <= N * min over S of B+(S) / |S & compute| = N * x*,

and spanning trees reach it: k of them from every node, each on a bandwidth of y = x*/k. A set S that attains the
minimum is the certificate: anyone can add up its links.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, lcm
from numbers import Integral
from operator import sub

from forestcoll.bounds.scaling import ScaledTopology, require_all_ports, require_balanced_switches, unbalanced_switch
from forestcoll.bounds.trimming import trimmed
from forestcoll.collective import Collective
from forestcoll.errors import InputError, NoSolutionError, shown
from forestcoll.exact import MAX_TREES_DIGITS
from forestcoll.progress import SILENT, Progress
from forestcoll.topology import Topology

_MOST_TRIED = 256
"""How many multiples are tried one by one for the fewest trees."""


@dataclass(frozen=True)
class Optimum:
    """How fast a collective can run on a topology, and why no faster.

    Attributes:
        topology: the network.
        collective: the operation.
        algbw: the best algorithmic bandwidth for `trees_per_root` trees per root, in the topology's unit.
        trees_per_root: k, how many trees from every compute node reach `algbw`.
        tree_bandwidth: y, the bandwidth that each tree gets.
        optimal_algbw: what no schedule can beat, with any number of trees; `algbw` unless k was asked for.
        cut: the bottleneck cut, node numbers, rising: data must leave it, and its links bound `optimal_algbw`.
        unused: of each link, how many more trees would fit on it but must not use it, so that switches stay balanced;
            empty if all may.
    """

    topology: Topology
    collective: Collective
    algbw: Fraction
    trees_per_root: int
    tree_bandwidth: Fraction
    optimal_algbw: Fraction
    cut: tuple[int, ...]
    unused: tuple[int, ...] = ()

    @property
    def compute_inside(self) -> int:
        """How many compute nodes the cut holds."""
        return sum(self.topology.nodes[number].is_compute for number in self.cut)

    @property
    def exit_bandwidth(self) -> Fraction:
        """The sum of the bandwidths of the links that leave the cut."""
        inside = set(self.cut)
        leaving = (link for link in self.topology.links if link.source in inside and link.target not in inside)
        return sum((link.bandwidth for link in leaving), Fraction(0))

    def tree_capacities(self) -> tuple[int, ...]:
        """Return of each link how many trees may use it: its bandwidth by `tree_bandwidth`, rounded down."""
        whole = tuple(floor(link.bandwidth / self.tree_bandwidth) for link in self.topology.links)
        return tuple(map(sub, whole, self.unused)) if self.unused else whole


def optimum(
    topology: Topology,
    collective: Collective = Collective.ALLGATHER,
    *,
    trees: int | None = None,
    max_trees: int | None = None,
    progress: Progress = SILENT,
) -> Optimum:
    """Return the exact optimum of `collective` on `topology`.

    Without `trees` or `max_trees`, k is the fewest trees per root that reach the optimum.

    Args:
        topology: the network; its switches must take in as much as they give out.
        collective: the operation.
        trees: ask for exactly this many trees per root, and the best bandwidth that they allow.
        max_trees: ask for the best number of trees per root from 1 to this; the smallest of equally good ones, so
            none beyond the first that reaches the optimum is tried.
        progress: is told of stages.

    Raises:
        InputError: `trees` or `max_trees` is less than 1 or has more than `MAX_TREES_DIGITS` digits, or both are given.
        NoSolutionError: the topology is one-port, or a switch is not balanced or becomes so when bandwidths are rounded
            to `trees`.
    """
    require_all_ports(topology)
    require_balanced_switches(topology)
    trees, max_trees = _counts(trees, max_trees)
    scaled = ScaledTopology.of(topology)
    progress.begin("finding the bottleneck cut")
    best = _unrestricted(scaled, collective, progress)
    if trees is not None:
        progress.begin("finding the best bandwidth for the number of trees")
        scaled.remark_on_width(_width(scaled, scaled.whole_trees(_ideal_scale(scaled, best, trees)), trees), progress)
        return _with_trees(scaled, best, trees)
    if max_trees is not None:
        return best_of(_by_trees(scaled, best, max_trees, progress))
    return best


def optima_by_trees(
    topology: Topology, collective: Collective = Collective.ALLGATHER, *, most: int, progress: Progress = SILENT
) -> tuple[Optimum, ...]:
    """Return what each number of trees per root from 1 to `most` allows, without those that cannot be had.

    The last is the first that reaches the optimum, where one does: more trees add nothing.

    Raises:
        InputError: `most` is less than 1 or has more than `MAX_TREES_DIGITS` digits.
        NoSolutionError: the topology is one-port, a switch is not balanced, or none of the numbers can be had.
    """
    require_all_ports(topology)
    require_balanced_switches(topology)
    most = _count("max_trees", most)
    scaled = ScaledTopology.of(topology)
    progress.begin("finding the bottleneck cut")
    return _by_trees(scaled, _unrestricted(scaled, collective, progress), most, progress)


def best_of(candidates: Iterable[Optimum]) -> Optimum:
    """Return the candidate with the greatest algbw; the first of equally good ones."""
    return max(candidates, key=lambda candidate: candidate.algbw)


def _by_trees(scaled: ScaledTopology, best: Optimum, most: int, progress: Progress) -> tuple[Optimum, ...]:
    progress.begin("finding the best number of trees")
    found: list[Optimum] = []
    refusal: NoSolutionError | None = None
    last = min(most, best.trees_per_root)  # so many reach the optimum, and fewer may
    for trees in range(1, last + 1):
        progress.advance(trees - 1, last)
        try:
            found.append(_with_trees(scaled, best, trees))
        except NoSolutionError as error:
            refusal = error
            continue
        if found[-1].algbw == best.algbw:
            break
    if refusal is not None and not found:
        raise refusal
    return tuple(found)


def _counts(trees: int | None, max_trees: int | None) -> tuple[int | None, int | None]:
    """Return the numbers of trees as Python's own integers, checked."""
    if trees is not None and max_trees is not None:
        raise InputError("trees and max_trees exclude each other; give one of them")
    return (
        None if trees is None else _count("trees", trees),
        None if max_trees is None else _count("max_trees", max_trees),
    )


def _count(name: str, count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, Integral):
        raise InputError(f"{name} is {shown(count)}; it must be an integer of 1 or more")
    if count < 1:
        raise InputError(f"{name} is {shown(count)}; it must be at least 1")
    if count >= 10**MAX_TREES_DIGITS:
        raise InputError(f"{name} has more than {MAX_TREES_DIGITS} digits; ask for fewer")
    return int(count)


def _unrestricted(scaled: ScaledTopology, collective: Collective, progress: Progress) -> Optimum:
    """Find the bottleneck cut, and the fewest trees that reach its ratio."""
    topology = scaled.topology
    nodes = len(topology.compute)
    bound = nodes * scaled.total
    scaled.remark_on_width(bound, progress)
    core, problem = scaled.problem(scaled.capacities, bound)
    inside, leaving, cut = core.bottleneck(problem, progress.advance)
    ratio = Fraction(inside, leaving)
    progress.begin("finding the fewest trees")
    trees, unused = _fewest_trees(scaled, ratio, frozenset(cut), progress)
    algbw = nodes * scaled.unit / ratio
    return Optimum(
        topology=topology,
        collective=collective,
        algbw=algbw,
        trees_per_root=trees,
        tree_bandwidth=algbw / (nodes * trees),
        optimal_algbw=algbw,
        cut=tuple(cut),
        unused=unused,
    )


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


def _with_trees(scaled: ScaledTopology, best: Optimum, trees: int) -> Optimum:
    """Restrict `best` to `trees` trees per root."""
    scale = _least_scale(scaled, best, trees)
    bandwidth = scaled.unit / scale
    restricted = replace(
        best,
        algbw=len(best.topology.compute) * trees * bandwidth,
        trees_per_root=trees,
        tree_bandwidth=bandwidth,
    )
    unused = _unused(scaled, scale, trees)
    if unused is None:
        raise _unbalanced(restricted)
    return replace(restricted, unused=unused)


def _unbalanced(restricted: Optimum) -> NoSolutionError:
    """Return the refusal of a number of trees that unbalances a switch for good."""
    topology, trees = restricted.topology, restricted.trees_per_root
    switch, surplus = unbalanced_switch(topology, restricted.tree_capacities()) or (0, 0)
    return NoSolutionError(
        f"{topology.name}: with {trees} tree{'s' * (trees != 1)} per root, switch "
        f"{topology.nodes[switch].id!r} would take in {abs(surplus)} {'more' if surplus > 0 else 'fewer'} "
        "than it gives out, and no link of it can spare as many; ask for another number of trees"
    )


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
    return trees * scaled.unit * len(best.topology.compute) / best.optimal_algbw


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
    """Return whether `trees` trees from every compute node fit into `capacities` (Theorem 3)."""
    core, problem = scaled.problem(capacities, _width(scaled, capacities, trees))
    return core.feeds(problem, trees)


def _width(scaled: ScaledTopology, capacities: Sequence[int], trees: int) -> int:
    """Return a bound on all sums that the question takes whether `trees` trees fit."""
    return sum(capacities) + len(scaled.topology.compute) * trees
