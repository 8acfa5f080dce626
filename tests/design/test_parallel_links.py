"""Networks with parallel links: the finder offers them, and their schedules have the predicted cost."""

import pytest

from forestcoll.design.measure import Cost, least_factor
from forestcoll.design.realisation import schedule_of, topology_of
from forestcoll.design.search.catalogue import bases
from forestcoll.design.search.finder import TopologyFinder, find_topologies

SAMPLE = [2, 3, 7, 11, 23, 64, 97, 210, 383]


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
    assert all(no_copy_is_better(finder, nodes, degree) for nodes in SAMPLE)


@pytest.mark.slow
@pytest.mark.parametrize("degree", [4, 8, 16])
def test_no_network_of_up_to_2000_nodes_with_parallel_links_is_better_than_the_offered_ones(degree: int) -> None:
    finder = TopologyFinder()
    assert [nodes for nodes in range(2, 2001) if not no_copy_is_better(finder, nodes, degree)] == []


@pytest.mark.parametrize(("nodes", "degree", "steps"), [(97, 8, 7), (1999, 16, 32)])
def test_a_prime_number_of_nodes_has_few_steps_at_the_least_bandwidth_time(nodes: int, degree: int, steps: int) -> None:
    best = find_topologies(nodes, degree).members[-1]
    assert best.is_bandwidth_optimal
    assert best.cost.steps <= steps


def test_a_circulant_with_doubled_links_is_built_and_verified() -> None:
    best = find_topologies(97, 8, published_only=True).members[-1]
    assert (best.name, best.cost) == ("2·C(97,{7,8})", Cost(7, least_factor(97)))
    assert {link.bandwidth for link in topology_of(best).links} == {2}
    assert schedule_of(best, "allreduce").steps == 14


@pytest.mark.parametrize("degree", [5, 6, 7, 10, 11])
def test_a_circulant_repeats_links_as_equally_as_the_degree_allows(degree: int) -> None:
    for nodes in (7, 13, 24, 61):
        (base,) = [each for each in bases(nodes, degree) if "C(" in each.name and not each.is_simple]
        assert base.wiring.degree == degree
        assert base.is_bidirectional == base.wiring.is_bidirectional == (degree % 4 == 2)
        schedule_of(base, "allreduce")


@pytest.mark.parametrize("degree", [3, 5, 6, 9, 12])
def test_networks_of_other_degrees_are_built_and_verified(degree: int) -> None:
    for nodes in (17, 24):
        for member in find_topologies(nodes, degree).members:
            schedule_of(member)
