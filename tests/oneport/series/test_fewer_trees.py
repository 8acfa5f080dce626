"""Trees of equal weight, local search between trees, and schedules that may lose a part of the optimum."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.base.errors import InputError
from forestcoll.oneport import Platform, compare_series, steady_optimum
from forestcoll.oneport.series.exchange import exchanged
from forestcoll.oneport.series.fewer_trees import equal_trees
from forestcoll.oneport.series.optimum import busiest_port, optimum_by_prices
from forestcoll.schedule.series.value import SeriesTree
from forestcoll.topology import Topology
from forestcoll.verification import verify
from networks import examples
from oneport_platforms import HARDEST, figure_1, one_port_platform, optimum_by_cuts, platform_of_costs, random_platforms


def busiest_time(platform: Platform, trees: tuple[SeriesTree, ...]) -> Fraction:
    """Return the part of the time for which the busiest port works."""
    loads: dict[object, Fraction] = {}
    for tree in trees:
        for ends in tree.edges:
            link = platform.numbers[ends]
            for port in platform.ports[link]:
                loads[port] = loads.get(port, Fraction(0)) + tree.weight * platform.costs[link]
    return max(loads.values())


@given(random_platforms(6, switches=2), st.sampled_from([Fraction(1), Fraction(9, 10), Fraction(2, 3)]))
@examples(60)
def test_equal_trees_reach_the_wanted_throughput_within_the_time_of_every_port(
    topology: Topology, part: Fraction
) -> None:
    platform = Platform.of(topology, 0)
    best = optimum_by_prices(platform)
    wanted = part * best.throughput
    found = equal_trees(platform, wanted, best.certificate, 8)
    if found.trees is not None:
        assert sum(tree.weight for tree in found.trees) == wanted
        parts = [tree.weight / wanted for tree in found.trees]
        assert any(all((part * count).denominator == 1 for part in parts) for count in range(1, 9))
        assert busiest_time(platform, found.trees) <= 1
    assert len(found.chosen) <= 8


@given(random_platforms(5, switches=1))
@examples(60)
def test_a_single_port_bounds_every_throughput(topology: Topology) -> None:
    platform = Platform.of(topology, 0)
    single = busiest_port(platform)
    assert single is not None
    assert single.throughput >= optimum_by_cuts(platform)


def test_exchanges_move_an_edge_to_a_node_with_spare_time() -> None:
    both = [(one, other, Fraction(1)) for one in "abcd" for other in "abcd" if one != other]
    platform = Platform.of(platform_of_costs("abcd", both), "a")
    star = ((0, 1), (0, 2), (0, 3))
    (found,) = exchanged(platform, [star], 1.0) or [star]
    assert busiest_time(platform, (SeriesTree(Fraction(1), found),)) == 1  # a path
    assert exchanged(platform, [star], 1.01) is None


def test_the_hardest_platform_needs_few_trees_and_rounds_without_loss() -> None:
    topology = one_port_platform(*HARDEST)
    best = steady_optimum(Platform.of(topology, 0))
    assert best.throughput == 99
    assert best.rounds == 0
    assert len(best.trees) <= 4
    assert busiest_time(best.platform, best.trees) == 1


@given(random_platforms(6), st.sampled_from([Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)]))
@examples(40)
def test_a_schedule_with_a_loss_loses_at_most_this_part(topology: Topology, loss: Fraction) -> None:
    compared = compare_series(topology, 0)
    exact, short = compared.schedule(), compared.schedule(loss=loss)
    assert verify(short).ok
    assert compared.best.throughput * (1 - loss) <= short.throughput <= compared.best.throughput
    assert len(short.trees) <= len(exact.trees)


def test_one_tree_of_figure_1_loses_a_third() -> None:
    compared = compare_series(figure_1(), "s")
    assert len(compared.schedule(loss=Fraction(1, 3)).trees) == 1
    assert len(compared.schedule(loss=Fraction(1, 4)).trees) == 2


@pytest.mark.parametrize("loss", [Fraction(-1, 100), Fraction(1)])
def test_the_whole_optimum_cannot_be_lost(loss: Fraction) -> None:
    with pytest.raises(InputError, match=rf"^loss is {loss}; expected 0 or more and less than 1$"):
        compare_series(figure_1(), "s").schedule(loss=loss)
