"""Networks with three measures: steps, bandwidth time, and the rate of an all-to-all."""

from itertools import product

import pytest

from forestcoll.design.constructions import Construction
from forestcoll.design.exchange_rate import exchange_rate
from forestcoll.design.given import base_network
from forestcoll.design.path_rates import path_rates
from forestcoll.design.search.exchanges import exchange_frontier
from forestcoll.design.search.finder import TopologyFinder, find_topologies
from forestcoll.design.workloads.workload import Objective, Workload, WorkloadTraffic, best_for, chosen_of, time_us
from forestcoll.topology.registry import build_topology

SIZES = (10**3, 10**6, 10**9)


def named(nodes: int, *, published_only: bool = False) -> str:
    frontier = exchange_frontier(TopologyFinder(published_only=published_only), nodes, 4)
    return chosen_of(frontier, Objective.ALL_TO_ALL).name


def workload(traffic: WorkloadTraffic, size: int) -> Workload:
    return Workload(traffic, size, alpha_us=10, bandwidth=12.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(("nodes", "name"), [(32, "L(K(4,4))"), (128, "L²(K(4,4))")])
def test_the_best_network_of_an_all_to_all_need_not_be_the_best_of_an_allgather(nodes: int, name: str) -> None:
    assert named(nodes) == named(nodes, published_only=True) == name
    assert name not in [member.name for member in find_topologies(nodes, 4).members]


@pytest.mark.parametrize(("nodes", "degree"), [(5, 6), (8, 2), (12, 4), (13, 3), (16, 4), (18, 6), (24, 2), (27, 4)])
def test_more_networks_are_never_a_worse_answer(nodes: int, degree: int) -> None:
    """Also for allgathers and allreduces: the bidirectional networks of (5, 6) once were better than all networks."""
    finders = {
        (both, published): TopologyFinder(bidirectional=both, published_only=published)
        for both, published in product((False, True), repeat=2)
    }
    if degree % 2:
        finders = {key: finder for key, finder in finders.items() if not key[0]}
    pairs = [(one, other) for one, other in product(finders, repeat=2) if one <= other and one[1] <= other[1]]
    for traffic, size in product(WorkloadTraffic, SIZES):
        asked, times = workload(traffic, size), {}
        for key, finder in finders.items():
            found = exchange_frontier(finder, nodes, degree) if traffic.exchanges else finder.find(nodes, degree)
            times[key] = time_us(best_for(found.members, asked), asked)
        assert all(times[wide] <= times[narrow] for wide, narrow in pairs), (traffic, size, times)


@pytest.mark.parametrize(("nodes", "degree"), [(8, 2), (12, 4), (18, 3), (20, 4)])
def test_no_candidate_is_better_than_the_frontier(nodes: int, degree: int) -> None:
    """The oracle computes the rates of all candidates, without bounds."""
    members = exchange_frontier(TopologyFinder(), nodes, degree).members
    for candidate in Everything().find(nodes, degree).members:
        reached = [each for each in members if exchange_rate(each).algbw >= exchange_rate(candidate).algbw]
        costs = [each.cost for each in reached]
        steps, factor = candidate.cost.steps, candidate.cost.bandwidth_factor
        assert any(each.steps <= steps and each.bandwidth_factor <= factor for each in costs), candidate.name
    for one, other in product(members, repeat=2):
        scatters = [each.reduce_scatter_cost for each in (one, other)]
        measures = [
            (each.cost.steps, each.cost.bandwidth_factor, -exchange_rate(each).algbw, more.steps, more.bandwidth_factor)
            for each, more in zip((one, other), scatters, strict=True)
        ]
        assert one is other or any(mine < its for mine, its in zip(*measures, strict=True))


class Everything(TopologyFinder):
    """A finder that offers all bases and all expansions of what it offers for smaller sizes."""

    def _frontier(self, nodes: int, degree: int, rivals: object = ()) -> tuple[Construction, ...]:  # noqa: ARG002
        if (nodes, degree) not in self._frontiers:
            self._frontiers[nodes, degree] = self._candidates(nodes, degree)
        return self._frontiers[nodes, degree]

    def _offered(self, nodes: int, degree: int, rivals: object = ()) -> tuple[Construction, ...]:  # noqa: ARG002
        return self._frontier(nodes, degree)


@pytest.mark.parametrize("spec", ["torus:dims=3x4", "diamond", "circulant:nodes=9,offsets=1"])
def test_the_bound_by_distances_is_that_of_all_shortest_paths(spec: str) -> None:
    network = base_network(build_topology(spec))
    assert network.exchange_bound == network.nodes * path_rates(network.wiring).bound
    assert network.exchange_bound >= exchange_rate(network).algbw
    for member in find_topologies(24, 4).members:
        assert member.exchange_bound == 24 * path_rates(member.wiring).bound


def test_a_network_of_the_user_is_compared_by_its_all_to_all_too() -> None:
    """The one-way ring of 31 nodes is the best for none of the measures, a complete graph for all."""
    whole, ring = base_network("complete:nodes=6"), base_network("ring:nodes=6,parallel=2")
    found = exchange_frontier(TopologyFinder(bases=[whole]), 6, 5)
    assert [member.name for member in found.members] == [whole.name]
    found = exchange_frontier(TopologyFinder(bases=[ring]), 6, 4)
    assert ring.name not in [member.name for member in found.members]


def test_each_objective_chooses_its_best_network() -> None:
    found = exchange_frontier(TopologyFinder(), 60, 4)
    chosen = {objective: chosen_of(found, objective) for objective in Objective}
    assert chosen[Objective.STEPS].cost.steps == min(each.cost.steps for each in found.members)
    assert chosen[Objective.BANDWIDTH] is chosen_of(found)
    assert chosen[Objective.BANDWIDTH].is_bandwidth_optimal
    rates = {each.name: exchange_rate(each).algbw for each in found.members}
    assert rates[chosen[Objective.ALL_TO_ALL].name] == max(rates.values())
