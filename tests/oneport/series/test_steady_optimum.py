"""The optimum of a series, its trees, few trees that may lose a part of it, and the flows of the form of SSB(G)."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow_form import flow_form
from forestcoll.algorithms.generate import optimum
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.demand.demand import Demand
from forestcoll.oneport import Platform, SteadyOptimum, compare_series, steady_optimum
from forestcoll.oneport.platform.packing import packed_trees, rates_of
from forestcoll.oneport.series.exchange import exchanged
from forestcoll.oneport.series.fewer_trees import equal_trees
from forestcoll.oneport.series.optimum import busiest_port, optimum_by_prices
from forestcoll.schedule.series.value import SeriesTree
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import examples
from oneport_platforms import (
    HARDEST,
    busiest_time,
    figure_1,
    one_port_platform,
    optimum_by_definition,
    platform_of_costs,
    random_platforms,
)


def solved(topology: Topology, source: int | str = 0) -> SteadyOptimum:
    return steady_optimum(Platform.of(topology, source))


def test_figure_1_has_throughput_1_by_two_trees() -> None:
    best = solved(figure_1(), "s")
    assert best.throughput == 1
    assert [tree.weight for tree in best.trees] == [Fraction(1, 2)] * 2
    assert {frozenset(tree.edges) for tree in best.trees} == {
        frozenset({(0, 1), (1, 2), (1, 3), (2, 4)}),
        frozenset({(0, 2), (2, 1), (2, 4), (1, 3)}),
    }
    assert flow_form(best.platform).throughput == 1
    assert solved(replace(figure_1(), port_model=None), "s").throughput == 2


@given(random_platforms(6, switches=2, duplex=True, skewed=True))
@examples(80)
def test_without_ports_the_optimum_equals_the_optimum_of_a_broadcast(topology: Topology) -> None:
    best, priced = solved(topology), optimum_by_prices(Platform.of(topology, 0))
    assert best.throughput == priced.throughput == optimum(topology, "broadcast:root=0").algbw
    assert best.throughput == flow_form(best.platform).throughput
    assert best.certificate.throughput == priced.certificate.throughput == best.throughput
    assert busiest_time(best.platform, best.trees) <= 1


@given(random_platforms(6, switches=2))
@examples(80)
def test_the_core_packs_trees_of_the_full_throughput_into_the_rates_of_links(topology: Topology) -> None:
    best = solved(topology)
    rates = rates_of(best.platform, best.trees)
    packed = packed_trees(best.platform, rates, best.throughput)
    assert packed is not None
    assert sum(tree.weight for tree in packed) == best.throughput
    assert all(used <= rate for used, rate in zip(rates_of(best.platform, packed), rates, strict=True))


@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2", "mi250:boxes=2,gpus=8", "torus:dims=4x4", "hypercube:dim=4"])
def test_on_machines_the_optimum_equals_the_optimum_of_a_broadcast(spec: str) -> None:
    topology = build_topology(spec)
    source = topology.nodes[topology.compute[1]].id
    assert solved(topology, source).throughput == optimum(topology, Demand("broadcast", root=source)).algbw


def test_fewer_trees_replace_a_basis_if_ports_have_spare_time() -> None:
    best = solved(one_port_platform(50, 200, 1, 10))
    of_basis = optimum_by_prices(best.platform)
    assert best.throughput == of_basis.throughput == sum(tree.weight for tree in best.trees)
    assert len(best.trees) < len(of_basis.trees)
    assert busiest_time(best.platform, best.trees) == 1


FIVE, HALF = Fraction(5), Fraction(5, 2)
FIGURE_6 = platform_of_costs(
    "abcdef",
    [*((one, other, FIVE) for one, other in ("ab", "bc", "bd", "cd", "dc")), ("c", "e", HALF), ("d", "f", HALF)],
)
"""A platform with the properties of Figure 6 in the text: T* = 5 because of the link a -> b, and two trees."""


def test_as_in_figure_6_trees_may_use_less_than_the_flows() -> None:
    platform = Platform.of(FIGURE_6, "a")
    best = steady_optimum(platform)
    assert 1 / best.throughput == 5
    assert [tree.weight for tree in best.trees] == [Fraction(1, 10)] * 2
    rates = rates_of(platform, best.trees)
    assert 2 * rates[platform.topology.link_numbers[2, 3]] == best.throughput
    rates[platform.topology.link_numbers[2, 3]] = best.throughput  # as if all messages for f used c -> d
    packed = packed_trees(platform, rates, best.throughput)
    assert packed is not None
    used = rates_of(platform, packed)
    assert sum(tree.weight for tree in packed) == best.throughput
    assert all(rate <= most for rate, most in zip(used, rates, strict=True))
    assert 2 * used[platform.topology.link_numbers[2, 3]] == best.throughput


def test_the_throughput_of_a_line_of_a_star_and_of_other_costs() -> None:
    line = [("a", "b", Fraction(1)), ("b", "c", Fraction(1, 2)), ("c", "d", Fraction(1, 3))]
    assert solved(platform_of_costs("abcd", line), "a").throughput == 1  # that of its slowest link
    star = [("a", leaf, Fraction(1, 2)) for leaf in "bcdef"]
    assert solved(platform_of_costs("abcdef", star), "a").throughput == Fraction(2, 5)  # one leaf after the other
    platform = Platform.of(figure_1(), "s", costs=[Fraction(1)] * 6)
    assert steady_optimum(platform).throughput == Fraction(3, 4)


def test_results_with_bandwidths_that_differ_much_and_numbers_of_sixty_digits_are_exact() -> None:
    ends = ("ab", "ac", "ad", "ba", "bd", "cd", "db")
    costs = [(*pair, cost) for pair, cost in zip(ends, (Fraction(1, 10**6), 977, 1, 977, 1, 1, 977), strict=True)]
    topology = platform_of_costs("abcd", costs)
    assert solved(topology, "a").throughput == optimum_by_definition(topology)
    long, other = Fraction(10**59 + 7, 3), Fraction(10**58 + 9, 7)
    topology = platform_of_costs("abc", [("a", "b", long), ("a", "c", other), ("b", "c", long), ("c", "b", other)])
    assert solved(topology, "a").throughput == optimum_by_definition(topology)


def test_wrong_sources_and_costs_are_refused() -> None:
    message = "platform: source 'a' cannot reach compute nodes 'c', 'd'; add links on the way or choose another source"
    with pytest.raises(NoSolutionError, match=f"^{message}$"):
        Platform.of(platform_of_costs("abcd", [("a", "b", 1), ("c", "a", 1), ("c", "d", 1)]), "a")
    message = "platform: source 'w' is a switch; give the id of a compute node, or its position from 0 to"
    with pytest.raises(InputError, match=f"^{message}"):
        Platform.of(platform_of_costs("ab", [("a", "w", 1), ("w", "b", 1)], switches="w"), "w")
    for cost in (Fraction(0), Fraction(-1, 3)):
        message = f"platform: edge 's' -> '2': cost {cost} must be greater than 0"
        with pytest.raises(InputError, match=f"^{message}$"):
            Platform.of(figure_1(), "s", costs=[Fraction(1), cost, *[Fraction(1)] * 4])
    with pytest.raises(InputError, match=r"^platform: 2 costs for 6 links; give one cost per link$"):
        Platform.of(figure_1(), "s", costs=[Fraction(1)] * 2)


@given(random_platforms(5, switches=1))
@examples(20)
def test_the_rates_carry_the_flows_within_the_ports_and_trees_fit_into_them(topology: Topology) -> None:
    platform = Platform.of(topology, 0)
    found = flow_form(platform)
    busy: dict[object, Fraction] = {}
    for link, rate in enumerate(found.rates):
        assert all(flow[link] * found.throughput <= rate for flow in found.flows)
        for port in platform.ports[link]:
            busy[port] = busy.get(port, Fraction(0)) + rate * platform.costs[link]
    assert max(busy.values()) <= 1
    for node, flow in zip(platform.destinations, found.flows, strict=True):
        ends = list(zip(topology.links, flow, strict=True))
        entering = sum(part for link, part in ends if link.target == node)
        assert entering - sum(part for link, part in ends if link.source == node) == 1
    packed = packed_trees(platform, found.rates, found.throughput)
    assert packed is None or sum(tree.weight for tree in packed) == found.throughput


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
    assert single.throughput >= steady_optimum(platform).throughput


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
