"""The finder's results compared with Tables 4, 5 and 7 of the paper, row by row, and tests of the search."""

import os
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from forestcoll.algorithms.generate import optimum
from forestcoll.base.errors import NoSolutionError
from forestcoll.design.constructions import Construction
from forestcoll.design.given import base_network
from forestcoll.design.measure import Cost, least_factor, moore_steps
from forestcoll.design.path_rates import path_rates
from forestcoll.design.realisation import schedule_of, topology_of
from forestcoll.design.search.catalogue import bases
from forestcoll.design.search.finder import Frontier, TopologyFinder, find_topologies, pareto
from forestcoll.design.workloads.workload import (
    Workload,
    WorkloadTraffic,
    all_to_all_time_us,
    allreduce_time_us,
    best_for,
    time_us,
)
from networks import ALL_EXAMPLES
from refusal import refusal

TABLE_7 = {
    # nodes: rows of (T_L, T_B as printed, diameter)
    32: [(3, "1.000", 3), (4, "0.969", 4)],
    64: [(3, "1.312", 3), (4, "1.000", 4), (6, "0.984", 6)],
    128: [(4, "1.031", 4), (5, "1.000", 5), (10, "0.992", 10)],
    256: [(4, "1.328", 4), (5, "1.016", 5), (7, "1.000", 7), (10, "0.996", 8)],
    512: [(5, "1.039", 5), (6, "1.008", 6), (11, "1.000", 11), (16, "0.998", 16)],
    1024: [(5, "1.332", 5), (6, "1.020", 6), (8, "1.004", 8), (11, "1.000", 9), (20, "0.999", 20)],
}
PUBLISHED = TopologyFinder(published_only=True)
ALL = TopologyFinder()


def rounded(factor: Fraction) -> Fraction:
    return Fraction(round(factor * 1000), 1000)


def best_within(frontier: Frontier, steps: int) -> Construction:
    """Return the member with the least T_B among those with at most `steps` steps."""
    return [member for member in frontier.members if member.cost.steps <= steps][-1]


def test_the_papers_base_networks_reach_the_rows_of_tables_four_and_seven_and_better_ones() -> None:
    for nodes, rows in TABLE_7.items():
        for steps, factor, _ in rows:
            found = best_within(PUBLISHED.find(nodes, 4), steps)
            assert rounded(found.cost.bandwidth_factor) <= Fraction(factor), (nodes, steps)
    assert [member.cost.steps for member in PUBLISHED.find(128, 4).members] == [4, 5, 8]  # the paper: 4, 5, 10
    assert [member.cost.steps for member in PUBLISHED.find(512, 4).members] == [5, 6, 9, 16]  # 5, 6, 11, 16
    assert [member.cost.steps for member in PUBLISHED.find(1024, 4).members] == [5, 6, 8, 11, 20]


def test_cayley_graphs_are_never_worse_than_the_paper_and_sometimes_better() -> None:
    for nodes, rows in TABLE_7.items():
        frontier = ALL.find(nodes, 4)
        gains = 0
        for steps, factor, _ in rows:
            found = best_within(frontier, steps)
            assert rounded(found.cost.bandwidth_factor) <= Fraction(factor), (nodes, steps)
            gains += rounded(found.cost.bandwidth_factor) < Fraction(factor) or found.cost.steps < steps
        assert gains, nodes
    for nodes in (32, 128):
        (member,) = ALL.find(nodes, 4).members
        assert (member.cost.steps, member.cost.bandwidth_factor) == (moore_steps(nodes, 4), least_factor(nodes))


def test_the_rows_of_table_five() -> None:
    for nodes, steps in {5: 1, 6: 2, 7: 2, 8: 2, 9: 2, 10: 2, 11: 2, 12: 2}.items():
        (member,) = find_topologies(nodes, 4, bidirectional=True, published_only=True).members
        assert member.cost.steps == steps, nodes
        assert member.is_bandwidth_optimal, nodes
        assert member.is_bidirectional, nodes
        assert schedule_of(member, "allreduce").steps == 2 * steps


@pytest.mark.parametrize(
    ("name", "nodes", "steps", "printed"),
    [
        # The MCF column of Table 7: the rate of the best multi-commodity flow is between the rate of even splitting
        # over shortest paths and the bound by distances.
        ("L(K(4,4))", 32, 3, 5.71e-2),
        ("DistReg(4,32)", 32, 4, 5.26e-2),
        ("L²(K(4,4))", 128, 4, 9.89e-3),
        ("L(DistReg(4,32))", 128, 5, 9.26e-3),
        ("L³(K(4,4))", 512, 5, 1.88e-3),
        ("L²(DistReg(4,32))", 512, 6, 1.78e-3),
        ("UniRing(1,4)□2□UniRing(1,8)□2", 1024, 20, 2.79e-4),
    ],
)
def test_all_to_all_rates_are_the_papers(name: str, nodes: int, steps: int, printed: float) -> None:
    (member,) = [each for each in PUBLISHED.find(nodes, 4).members if each.cost.steps == steps]
    assert member.name == name
    rates = path_rates(member.wiring)
    assert float(f"{float(rates.bound):.2e}") >= printed >= rates.reached * 0.995
    if nodes <= (512 if ALL_EXAMPLES in os.environ else 128):
        topology = topology_of(member)
        best = optimum(topology, "all-to-all")
        assert best.is_optimal
        assert float(f"{float(best.algbw / nodes / topology.links[0].bandwidth):.2e}") == printed


def test_no_member_of_a_frontier_is_as_good_as_another() -> None:
    for nodes in range(6, 100):
        members = PUBLISHED.find(nodes, 4).members
        costs = [member.cost for member in members]
        assert costs == sorted(costs)
        factors = [cost.bandwidth_factor for cost in costs]
        assert factors == sorted(set(factors), reverse=True)
        assert all((member.nodes, member.degree) == (nodes, 4) for member in members)
        assert all(member.cost.steps >= moore_steps(nodes, 4) for member in members)
        assert factors[-1] >= least_factor(nodes)


def test_small_frontiers_are_realised_and_verified() -> None:
    for bidirectional, nodes, degree in product((False, True), (4, 7, 13, 16, 22, 24, 27), (2, 4, 6)):
        for member in find_topologies(nodes, degree, bidirectional=bidirectional).members:
            schedule_of(member, "allreduce")
            assert member.is_bidirectional or not bidirectional
    for nodes, degree in product((17, 24), (3, 5, 9, 12)):
        for member in find_topologies(nodes, degree).members:
            schedule_of(member)


class Unpruned(TopologyFinder):
    """A finder without pruning: it keeps all intermediate candidates."""

    def _frontier(
        self,
        nodes: int,
        degree: int,
        rivals: Sequence[Construction] = (),  # noqa: ARG002 (as the finder calls it)
    ) -> tuple[Construction, ...]:
        if (nodes, degree) not in self._frontiers:
            self._frontiers[nodes, degree] = self._candidates(nodes, degree)
        return self._frontiers[nodes, degree]


class WithoutRivals(TopologyFinder):
    """A finder that keeps copies of networks which the networks of the requested degree beat."""

    def _frontier(
        self,
        nodes: int,
        degree: int,
        rivals: Sequence[Construction] = (),  # noqa: ARG002 (as the finder calls it)
    ) -> tuple[Construction, ...]:
        return super()._frontier(nodes, degree)


def test_pruning_does_not_change_the_result() -> None:
    pruned, whole = TopologyFinder(), WithoutRivals()
    for nodes, degree in product((7, 12, 24, 45, 58, 72, 97), (4, 6, 8, 12)):
        assert pruned.find(nodes, degree) == whole.find(nodes, degree)
    for nodes in (8, 16, 24, 32):
        found = [member.cost for member in TopologyFinder(published_only=True).find(nodes, 4).members]
        for member in pareto(Unpruned(published_only=True)._frontier(nodes, 4)):
            assert any(reaches(cost, member.cost) for cost in found), nodes


def test_numbers_out_of_range_raise_an_error() -> None:
    for nodes, degree, message in [
        (1, 4, "nodes is 1; expected an integer from 2 to 16384"),
        (16385, 4, "nodes is 16385; expected an integer from 2 to 16384"),
        (8, 0, "degree is 0; expected an integer from 1 to 64"),
        (8, 65, "degree is 65"),
        (True, 4, "nodes is true"),
    ]:
        assert message in refusal(find_topologies, nodes, degree)
    one = Fraction(1)
    assert "size is 0" in refusal(Workload, WorkloadTraffic.MIX, 0, one, one)
    assert "alpha is '-1'" in refusal(Workload, WorkloadTraffic.MIX, 1, -one, one)
    assert "bandwidth is '0'" in refusal(Workload, WorkloadTraffic.MIX, 1, one, Fraction(0))
    said = refusal(Workload, WorkloadTraffic.MIX, 1, one, one, reduction=Fraction(0))
    assert said.startswith("reduction is '0'; expected more than 0 GB/s")


def test_the_error_for_a_size_without_a_network_names_the_nearest_one_and_one_way_all_have_one() -> None:
    for nodes, degree, near in [(9, 3, 8), (4, 1, 2), (13, 5, 12)]:
        message = f"no bidirectional network of {nodes} nodes .* nearest number of nodes that works is {near}"
        with pytest.raises(NoSolutionError, match=message):
            find_topologies(nodes, degree, bidirectional=True)
        assert find_topologies(near, degree, bidirectional=True).members
    for nodes, degree in product((2, 3, 7, 11, 13), (1, 2, 3, 5, 7, 16)):
        assert find_topologies(nodes, degree).members[-1].is_bandwidth_optimal, (nodes, degree)


def test_costs_for_large_degrees_come_from_the_schedule() -> None:
    member = find_topologies(75, 11).members[0]
    assert (member.name, member.cost.steps) == ("Π(11,75)", 2)
    schedule_of(member)


def test_the_best_network_depends_on_the_workload_and_times_are_the_papers() -> None:
    members = PUBLISHED.find(1024, 4).members
    small, middle, large = (
        Workload(WorkloadTraffic.ALLREDUCE, size, Fraction(10), Fraction(25, 2)) for size in (2**10, 2**20, 2**34)
    )
    assert [best_for(members, each).cost.steps for each in (small, middle, large)] == [5, 6, 20]
    times = [round(float(allreduce_time_us(each, middle)), 1) for each in members]
    assert times == [323.5, 291.0, 328.4, 387.8, 567.6]  # Table 4, whose MB is 2^20 bytes
    rings = members[-1]
    workload = Workload(WorkloadTraffic.ALL_TO_ALL, 2**20, Fraction(10), Fraction(25, 2))
    assert round(all_to_all_time_us(rings, workload), 1) == 1174.4
    mix = Workload(WorkloadTraffic.MIX, 2**20, Fraction(10), Fraction(25, 2))
    assert time_us(rings, mix) == float(allreduce_time_us(rings, mix)) + all_to_all_time_us(rings, mix)


def test_adding_up_takes_time_and_a_reduce_and_a_broadcast_take_twice_the_radius() -> None:
    (network,) = find_topologies(12, 4).members
    plain = Workload(WorkloadTraffic.ALLREDUCE, 10**6, Fraction(10), Fraction(25, 2))
    adding = replace(plain, reduction=Fraction(50))
    assert allreduce_time_us(network, adding) - allreduce_time_us(network, plain) == Fraction(11, 12) * 20
    (network,) = [each for each in bases(12, 4) if each.name == "C(12,{2,3})"]
    assert path_rates(network.wiring).rooted_steps == 2 * network.diameter
    assert path_rates(base_network("torus:dims=3x4").wiring).rooted_steps == 2 * 3


def no_copy_is_better(finder: TopologyFinder, nodes: int, degree: int) -> bool:
    """Return whether no network of a smaller degree with parallel links is better than all that the finder offers."""
    offered = [member.cost for member in finder.find(nodes, degree).members]
    copied = [
        member.cost
        for smaller in range(1, degree)
        if degree % smaller == 0
        for member in finder.find(nodes, smaller).members
    ]
    return all(any(reaches(best, cost) for best in offered) for cost in (*copied, *circulant(nodes, degree)))


def reaches(one: Cost, other: Cost) -> bool:
    return one.steps <= other.steps and one.bandwidth_factor <= other.bandwidth_factor


def circulant(nodes: int, degree: int) -> list[Cost]:
    """Return the cost of C(n, {m, m+1}) with parallel links, by Theorem 22."""
    if degree % 4 or nodes < 7:
        return []
    steps = next(m for m in range(nodes) if 2 * m * m + 2 * m + 1 >= nodes)
    return [Cost(steps, least_factor(nodes))]


@pytest.mark.parametrize("degree", [4, 8, 16])
def test_no_network_with_parallel_links_is_better_than_the_offered_ones(degree: int) -> None:
    finder = TopologyFinder()
    for nodes in range(2, 2001) if ALL_EXAMPLES in os.environ else [2, 3, 7, 11, 23, 64, 97, 210, 383]:
        assert no_copy_is_better(finder, nodes, degree), nodes


def test_a_prime_number_of_nodes_has_few_steps_at_the_least_bandwidth_time() -> None:
    for nodes, degree, steps in [(97, 8, 7), (1999, 16, 32)]:
        best = find_topologies(nodes, degree).members[-1]
        assert best.is_bandwidth_optimal
        assert best.cost.steps <= steps
    best = find_topologies(97, 8, published_only=True).members[-1]
    assert (best.name, best.cost) == ("2·C(97,{7,8})", Cost(7, least_factor(97)))
    assert {link.bandwidth for link in topology_of(best).links} == {2}
    assert schedule_of(best, "allreduce").steps == 14


def test_a_circulant_repeats_links_as_equally_as_the_degree_allows() -> None:
    for nodes, degree in product((7, 13, 24, 61), (5, 6, 7, 10, 11)):
        (base,) = [each for each in bases(nodes, degree) if "C(" in each.name and not each.is_simple]
        assert base.wiring.degree == degree, base.name
        assert base.is_bidirectional == base.wiring.is_bidirectional == (degree % 4 == 2), base.name
        schedule_of(base, "allreduce")
