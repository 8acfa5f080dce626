from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given

from forestcoll import TopologyBuilder, atomic_broadcast, compare_series, pipelined_broadcast
from forestcoll.oneport import Platform, steady_optimum
from forestcoll.oneport.series.flow_form import flow_form
from forestcoll.presentation.pictures.gantt import chart
from forestcoll.simulation.series.play import play_series
from forestcoll.solver.exact_lp.exact_packing import packing_optimum
from forestcoll.topology import Topology
from forestcoll.topology.builder import PORT_MODELS
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import examples
from oneport_platforms import every_tree, figure_1, optimal_series, random_platforms

SEND, RECEIVE, HALF = "one-port-send", "one-port-receive", "half-duplex"


def groups_of_links(topology: Topology) -> list[list[int]]:
    """Return the sets of links of which only one can be busy, from the definition of the port models."""
    links = list(enumerate(topology.links))
    groups = [[number] for number, _ in links]
    for node in topology.compute:
        if topology.port_model in {"one-port", SEND}:
            groups.append([number for number, link in links if link.source == node])
        if topology.port_model in {"one-port", RECEIVE}:
            groups.append([number for number, link in links if link.target == node])
        if topology.port_model == HALF:
            groups.append([number for number, link in links if node in {link.source, link.target}])
    return groups


def optimum_by_definition(platform: Platform) -> Fraction:
    """Return the optimum over all trees, without the list of ports of the platform."""
    groups = groups_of_links(platform.topology)
    columns = []
    for routes in every_tree(platform):
        times = [Fraction(0)] * len(platform.costs)
        for route in routes:
            for link in platform.links_of(route):
                times[link] += platform.costs[link]
        columns.append(
            {place: time for place, group in enumerate(groups) if (time := sum(times[each] for each in group))}
        )
    values, prices = packing_optimum(columns, len(groups))
    assert sum(values) == sum(prices)
    return sum(values, Fraction(0))


@given(random_platforms(4, port_models=PORT_MODELS))
@examples(60)
def test_the_optimum_of_each_model_equals_the_optimum_over_all_trees(topology: Topology) -> None:
    platform = Platform.of(topology, 0)
    best = steady_optimum(platform)
    assert best.throughput == optimum_by_definition(platform) == best.certificate.throughput
    assert best.throughput == flow_form(platform).throughput


@given(random_platforms(3, switches=2, port_models=(SEND, RECEIVE, HALF)))
@examples(30)
def test_switches_have_no_ports_in_any_model(topology: Topology) -> None:
    platform = Platform.of(topology, 0)
    assert steady_optimum(platform).throughput == optimum_by_definition(platform)


@given(random_platforms(5, switches=2, port_models=(SEND, RECEIVE, HALF)))
@examples(30)
def test_schedules_reach_the_optimum_and_are_proven(topology: Topology) -> None:
    schedule = optimal_series(topology)
    assert schedule.topology.port_model == topology.port_model
    assert play_series(schedule, 5).messages == 5


def in_model(port_model: str | None) -> Topology:
    """Return a hypercube with a faster edge to node 7."""
    links = [*build_topology("hypercube:dim=3").links]
    links[-1] = replace(links[-1], bandwidth=Fraction(3))
    return replace(build_topology("hypercube:dim=3"), links=tuple(links), port_model=port_model)


@pytest.mark.parametrize(
    ("port_model", "throughput"),
    [("one-port", "1"), (SEND, "1"), (RECEIVE, "1"), (HALF, "12/19"), (None, "3")],
    ids=["one", "send", "receive", "half", "all"],
)
def test_a_hypercube_in_each_model(port_model: str | None, throughput: str) -> None:
    compared = compare_series(in_model(port_model), 0)
    assert str(compared.best.throughput) == throughput
    assert all(verify(compared.schedule(along)).ok for along in ("graph", "dag", "tree"))


def test_a_schedule_for_fewer_ports_breaks_the_rule_of_ports() -> None:
    of_all = compare_series(in_model(None), 0).schedule()
    for port_model, verb in ((SEND, "sends"), (RECEIVE, "receives"), (HALF, "sends or receives")):
        fault = verify(replace(of_all, topology=in_model(port_model))).fault
        assert fault is not None
        assert (fault.rule, f" {verb} two messages at the same time" in fault.message) == ("ports", True)


def test_prices_of_ports_that_a_model_does_not_have_prove_nothing() -> None:
    schedule = compare_series(in_model(HALF), 0).schedule()
    fault = verify(replace(schedule, topology=in_model("one-port"))).fault
    assert fault is not None
    assert fault.rule == "certificate"


@pytest.mark.parametrize(
    ("port_model", "verbs"),
    [(SEND, {"sends"}), (RECEIVE, {"receives"}), ("one-port", {"sends", "receives"}), (HALF, {"is"})],
)
def test_a_chart_has_the_rows_of_the_model(port_model: str, verbs: set[str]) -> None:
    names, bars = chart(compare_series(in_model(port_model), 0).schedule())
    assert {name.split()[1] for name in names} == verbs
    for row in range(len(names)):
        ends = sorted((bar.begin, bar.begin + bar.length) for bar in bars if bar.row == row)
        assert all(before[1] <= after[0] + 1e-9 for before, after in pairwise(ends))


@pytest.mark.parametrize("port_model", PORT_MODELS)
def test_messages_in_packets_and_undivided_are_at_or_above_their_bounds(port_model: str) -> None:
    times = [
        plan.makespan / plan.bound
        for plan in (
            pipelined_broadcast(in_model(port_model), 0, 10**6),
            atomic_broadcast(in_model(port_model), 0, 10**6),
        )
    ]
    assert min(times) >= 1


def test_sending_to_all_neighbours_at_once_takes_the_time_of_the_longest_path() -> None:
    at_once, in_turn = (
        atomic_broadcast(replace(figure_1(), port_model=port_model), "s", 10**6) for port_model in (RECEIVE, SEND)
    )
    assert at_once.optimal
    assert in_turn.optimal
    assert at_once.makespan == 1500 < in_turn.makespan


def test_a_switch_with_more_links_out_than_in_does_not_copy_messages() -> None:
    builder = TopologyBuilder("fan")
    for node in "abc":
        builder.add_compute(node)
    builder.add_link("a", builder.add_switch("switch"), 1)
    for node in "bc":
        builder.add_link("switch", node, 1)
        builder.add_link(node, "a", 1)
    compared = compare_series(builder.build(), "a")
    assert str(compared.best.throughput) == "1/2"
    assert verify(compared.schedule()).optimal
