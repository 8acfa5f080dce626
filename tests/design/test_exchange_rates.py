"""The rate of all-to-alls by which networks are chosen: exact where that is fast, and otherwise with the reason."""

from collections.abc import Iterator

import pytest

from forestcoll.algorithms.generate import optimum
from forestcoll.design import exchange_rate as measuring
from forestcoll.design.exchange_rate import exchange_rate
from forestcoll.design.realisation import topology_of
from forestcoll.design.search.finder import find_topologies
from forestcoll.solver.flows.rates import exchange_rate_of
from forestcoll.topology.registry import build_topology


@pytest.fixture(autouse=True)
def no_kept_rates() -> Iterator[None]:
    exchange_rate.cache_clear()
    yield
    exchange_rate.cache_clear()


@pytest.mark.parametrize(("nodes", "degree"), [(8, 2), (27, 4), (32, 4), pytest.param(60, 4, marks=pytest.mark.slow)])
def test_the_rate_of_every_network_found_is_exact(nodes: int, degree: int) -> None:
    for member in find_topologies(nodes, degree).members:
        rate = exchange_rate(member)
        assert rate.algbw == rate.bound == optimum(topology_of(member), "all-to-all").algbw
        assert (rate.method, rate.reason, rate.description) == ("exact", "", "the exact rate of the best flow")


def test_a_large_linear_program_gives_a_rate_near_the_bound_and_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = build_topology("generalized-kautz:nodes=11,degree=3")
    exact = exchange_rate_of(topology)
    monkeypatch.setattr("forestcoll.solver.flows.rates.MOST_COLUMNS", 10)
    near = exchange_rate_of(topology)
    assert near.algbw < exact.algbw <= near.bound <= near.algbw * 11 / 10
    assert near.method == "approximate"
    assert near.reason == "its linear program has more than 10 columns"
    assert near.description.endswith(
        "% below the rate of the best flow, as its linear program has more than 10 columns"
    )


def test_a_network_of_very_many_nodes_has_the_rate_of_even_splitting_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    member = find_topologies(32, 4).members[0]
    exact = exchange_rate(member)
    exchange_rate.cache_clear()
    monkeypatch.setattr(measuring, "MOST_NODES", 31)
    even = exchange_rate(member)
    assert even.algbw < exact.algbw <= even.bound
    assert even.reason == "data is split evenly over shortest paths on a network of more than 31 nodes"
