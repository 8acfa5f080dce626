from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.oneport import Platform, SteadyOptimum, steady_optimum
from forestcoll.oneport.platform.packing import packed_trees, rates_of
from forestcoll.oneport.series.optimum import optimum_by_prices
from forestcoll.solver.optimum import optimum
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import examples
from oneport_platforms import (
    figure_1,
    one_port_platform,
    optimum_by_cuts,
    optimum_by_trees,
    platform_of_costs,
    random_platforms,
)

if TYPE_CHECKING:
    from forestcoll.schedule.proof.prices import Port


def solved(topology: Topology, source: int | str = 0) -> SteadyOptimum:
    return steady_optimum(Platform.of(topology, source))


def busiest(best: SteadyOptimum) -> Fraction:
    loads: dict[Port, Fraction] = {}
    for tree in best.trees:
        for ends in tree.edges:
            link = best.platform.numbers[ends]
            for port in best.platform.ports[link]:
                loads[port] = loads.get(port, Fraction(0)) + tree.weight * best.platform.costs[link]
    return max(loads.values())


def test_figure_1_has_throughput_1_by_two_trees() -> None:
    best = solved(figure_1(), "s")
    assert best.throughput == 1
    assert [tree.weight for tree in best.trees] == [Fraction(1, 2)] * 2
    assert {frozenset(tree.edges) for tree in best.trees} == {
        frozenset({(0, 1), (1, 2), (1, 3), (2, 4)}),
        frozenset({(0, 2), (2, 1), (2, 4), (1, 3)}),
    }


def test_figure_1_without_ports_is_twice_as_fast() -> None:
    assert solved(replace(figure_1(), port_model=None), "s").throughput == 2


@given(random_platforms(5))
@examples(120)
def test_the_optimum_equals_the_optimum_over_all_cuts(topology: Topology) -> None:
    platform = Platform.of(topology, 0)
    best = steady_optimum(platform)
    assert best.throughput == optimum_by_cuts(platform) == best.certificate.throughput
    assert busiest(best) == 1
    assert len(best.trees) <= len(platform.all_ports)


@given(random_platforms(4, skewed=True))
@examples(80)
def test_the_optimum_equals_the_optimum_over_all_trees_for_any_bandwidths(topology: Topology) -> None:
    platform = Platform.of(topology, 0)
    best = steady_optimum(platform)
    assert best.throughput == optimum_by_trees(platform) == best.certificate.throughput
    assert busiest(best) == 1


@given(random_platforms(3, switches=2, skewed=True))
@examples(60)
def test_switches_forward_data_without_ports(topology: Topology) -> None:
    platform = Platform.of(topology, 0)
    best = steady_optimum(platform)
    assert best.throughput == optimum_by_trees(platform) == best.certificate.throughput
    assert busiest(best) == 1


@given(random_platforms(6, switches=2, duplex=True, skewed=True))
@examples(80)
def test_without_ports_the_optimum_equals_the_optimum_of_a_broadcast(topology: Topology) -> None:
    best, priced = solved(topology), optimum_by_prices(Platform.of(topology, 0))
    assert best.throughput == priced.throughput == optimum(topology, "broadcast", root=0).algbw
    assert best.certificate.throughput == priced.certificate.throughput == best.throughput
    assert busiest(best) <= 1


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
    assert solved(topology, source).throughput == optimum(topology, "broadcast", root=source).algbw


def test_fewer_trees_replace_a_basis_if_ports_have_spare_time() -> None:
    best = solved(one_port_platform(50, 200, 1, 10))
    of_basis = optimum_by_prices(best.platform)
    assert best.throughput == of_basis.throughput == sum(tree.weight for tree in best.trees)
    assert len(best.trees) < len(of_basis.trees)
    assert busiest(best) == 1


FIVE = Fraction(5)
FIGURE_6 = platform_of_costs(
    "abcdef",
    [
        ("a", "b", FIVE),
        ("b", "c", FIVE),
        ("b", "d", FIVE),
        ("c", "d", FIVE),
        ("d", "c", FIVE),
        ("c", "e", FIVE / 2),
        ("d", "f", FIVE / 2),
    ],
)
"""A platform with the properties of Figure 6 in the text: T* = 5 because of the link a -> b, and two trees."""


def test_figure_6_takes_5_per_message_with_two_trees() -> None:
    best = solved(FIGURE_6, "a")
    assert 1 / best.throughput == 5
    assert [tree.weight for tree in best.trees] == [Fraction(1, 10)] * 2


def test_as_in_figure_6_trees_may_use_less_than_the_flows() -> None:
    platform = Platform.of(FIGURE_6, "a")
    best = steady_optimum(platform)
    rates = rates_of(platform, best.trees)
    assert 2 * rates[platform.numbers[2, 3]] == best.throughput
    rates[platform.numbers[2, 3]] = best.throughput  # as if all messages for f used c -> d
    packed = packed_trees(platform, rates, best.throughput)
    assert packed is not None
    used = rates_of(platform, packed)
    assert sum(tree.weight for tree in packed) == best.throughput
    assert all(rate <= most for rate, most in zip(used, rates, strict=True))
    assert 2 * used[platform.numbers[2, 3]] == best.throughput


def test_the_throughput_of_a_long_line_is_that_of_its_slowest_link() -> None:
    costs = [
        (one, other, Fraction(1, place + 1)) for place, (one, other) in enumerate([("a", "b"), ("b", "c"), ("c", "d")])
    ]
    assert solved(platform_of_costs("abcd", costs), "a").throughput == 1


def test_a_star_sends_to_one_leaf_after_the_other() -> None:
    costs = [("a", leaf, Fraction(1, 2)) for leaf in "bcdef"]
    assert solved(platform_of_costs("abcdef", costs), "a").throughput == Fraction(2, 5)


def test_costs_can_be_given_instead_of_bandwidths() -> None:
    platform = Platform.of(figure_1(), "s", costs=[Fraction(1)] * 6)
    assert steady_optimum(platform).throughput == optimum_by_cuts(platform) == Fraction(3, 4)


def test_results_with_numbers_of_sixty_digits_are_exact() -> None:
    long, other = Fraction(10**59 + 7, 3), Fraction(10**58 + 9, 7)
    topology = platform_of_costs("abc", [("a", "b", long), ("a", "c", other), ("b", "c", long), ("c", "b", other)])
    platform = Platform.of(topology, "a")
    assert steady_optimum(platform).throughput == optimum_by_trees(platform)


def test_a_node_that_the_source_cannot_reach_is_named() -> None:
    topology = platform_of_costs("abcd", [("a", "b", 1), ("c", "a", 1), ("c", "d", 1)])
    with pytest.raises(NoSolutionError) as caught:
        Platform.of(topology, "a")
    assert str(caught.value) == (
        "platform: source 'a' cannot reach compute nodes 'c', 'd'; add links on the way or choose another source"
    )


def test_a_switch_cannot_be_the_source() -> None:
    topology = platform_of_costs("ab", [("a", "w", 1), ("w", "b", 1)], switches="w")
    with pytest.raises(
        InputError, match=r"^platform: source 'w' is a switch; give the id of a compute node, or its position from 0 to"
    ):
        Platform.of(topology, "w")


@pytest.mark.parametrize("cost", [Fraction(0), Fraction(-1, 3)])
def test_the_error_for_a_cost_of_0_or_less_names_the_edge(cost: Fraction) -> None:
    with pytest.raises(InputError, match=rf"^platform: edge 's' -> '2': cost {cost} must be greater than 0$"):
        Platform.of(figure_1(), "s", costs=[Fraction(1), cost, *[Fraction(1)] * 4])


def test_the_number_of_costs_must_equal_the_number_of_links() -> None:
    with pytest.raises(InputError, match=r"^platform: 2 costs for 6 links; give one cost per link$"):
        Platform.of(figure_1(), "s", costs=[Fraction(1)] * 2)
