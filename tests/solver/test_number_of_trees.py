"""Compare the best bandwidth for a number of trees with its definition: the best of all scales."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import optimum
from forestcoll.algorithms.trees import Trees
from forestcoll.base.errors import NoSolutionError
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.topology import Topology
from forestcoll.verification import verify
from networks import SMALL, examples, linked, networks, one_way_networks
from oracles import best_scale, overdrawn_switches, rounded

FEW = st.integers(1, 5)
SMALL_KIND = st.just(SMALL)


def best_with_trees(topology: Topology, trees: int) -> Fraction | None:
    """Return the best algbw of `trees` trees per root by definition, or None if rounding overdraws a switch."""
    scale = best_scale(topology, trees)
    algbw = len(topology.compute) * trees / scale
    if not overdrawn_switches(topology, rounded(topology, scale)):
        return algbw
    # Surplus capacity is either trimmed or refused. No short definition says which of the two.
    try:
        best = optimum(topology, method=Trees(k=trees))
    except NoSolutionError:
        return None
    assert verify(schedule_for(best)).algbw == algbw
    return algbw


def check(topology: Topology, trees: int) -> None:
    expected = best_with_trees(topology, trees)
    if expected is None:
        with pytest.raises(
            NoSolutionError,
            match=rf"with {trees} {'trees' if trees > 1 else 'tree'} per root, switch .* use \d+ trees? per root",
        ) as caught:
            optimum(topology, method=Trees(k=trees))
        possible = int(str(caught.value).split(" use ")[1].split()[0])
        assert optimum(topology, method=Trees(k=possible)).algbw == optimum(topology).algbw
        return
    best, free = optimum(topology, method=Trees(k=trees)), optimum(topology)
    assert best.algbw == expected
    assert best.trees_per_root == trees
    assert best.algbw == len(topology.compute) * trees * best.tree_bandwidth
    assert (best.bound.algbw, best.cut) == (free.bound.algbw, free.cut)
    assert best.algbw <= best.bound.algbw


@examples(300)
@given(st.one_of(networks(most=6, kinds=SMALL_KIND), one_way_networks(most=5)), FEW)
def test_a_given_number_of_trees(topology: Topology, trees: int) -> None:
    check(topology, trees)


@examples(60)
@given(networks(most=5, kinds=SMALL_KIND), FEW)
def test_the_best_number_of_trees(topology: Topology, most: int) -> None:
    by_number = {trees: best_with_trees(topology, trees) for trees in range(1, most + 1)}
    possible = {trees: algbw for trees, algbw in by_number.items() if algbw is not None}
    if not possible:
        with pytest.raises(NoSolutionError, match=f"with {most} {'trees' if most > 1 else 'tree'} per root"):
            optimum(topology, method=Trees(most=most))
        return
    best = optimum(topology, method=Trees(most=most))
    assert best.algbw == max(possible.values())
    assert best.trees_per_root == min(trees for trees, algbw in possible.items() if algbw == best.algbw)


def test_two_trees_per_root_on_a_triangle() -> None:
    """One tree per root reaches 3/2, because its bandwidth is that of half of the thinnest link."""
    assert optimum(linked("a b c", "a=b:1 a=c:1 b=c:2"), "allreduce", "trees:most=2").algbw == 2


@examples(100)
@given(networks(most=6), st.integers(1, 3))
def test_multiples_of_the_least_number_of_trees_reach_the_optimum(topology: Topology, factor: int) -> None:
    best = optimum(topology)
    same = optimum(topology, method=Trees(k=factor * best.trees_per_root))
    assert same.algbw == best.algbw
    assert same.tree_bandwidth == best.tree_bandwidth / factor


@examples(100)
@given(networks(most=5, kinds=SMALL_KIND))
def test_fewer_trees_do_not_reach_the_optimum(topology: Topology) -> None:
    best = optimum(topology)
    fewer = range(1, min(best.trees_per_root, 8))
    assert all(best_with_trees(topology, trees) != best.algbw for trees in fewer)


def test_surplus_capacity_after_rounding_is_trimmed() -> None:
    """Rounding to one tree per root leaves more capacity from the switch than to it, so one link loses one unit."""
    links = "a>s:4 s>a:2 b>s:1 s>b:2 c>s:3 s>c:2 d>s:1 s>d:3"
    best = optimum(linked("a b c d", links, switches="s"), method="trees:k=1")
    assert best.algbw == best.bound.algbw
    assert sum(best.forests[0].unused) == 1
    assert verify(schedule_for(best)).optimal
