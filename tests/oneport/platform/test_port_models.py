from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow_form import flow_form
from forestcoll.oneport import (
    Platform,
    SeriesComparison,
    atomic_broadcast,
    compare_series,
    pipelined_broadcast,
    steady_optimum,
)
from forestcoll.presentation.results.schedules.period_plot import chart
from forestcoll.simulation.series.play import play_series
from forestcoll.topology import Topology
from forestcoll.topology.graph.overheads import without_overheads
from forestcoll.topology.model import PORT_MODELS
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import examples, linked
from oneport_platforms import (
    bounded_platforms,
    broken,
    busiest_time,
    figure_1,
    half_duplex_platforms,
    optimal_series,
    optimum_by_definition,
    overhead_platforms,
    random_platforms,
)

SEND, RECEIVE, HALF = "one-port-send", "one-port-receive", "half-duplex"


KINDS: dict[str, st.SearchStrategy[Topology]] = {
    "one port": random_platforms(4, skewed=True),
    "any model": random_platforms(4, port_models=PORT_MODELS),
    "switches": random_platforms(3, switches=2, skewed=True),
    "switches in other models": random_platforms(3, switches=2, port_models=(SEND, RECEIVE, HALF)),
    "limits": bounded_platforms(switches=1),
    "overheads": overhead_platforms(models=("one-port", SEND, RECEIVE, HALF, None)),
}


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
@examples(80)
def test_the_optimum_equals_the_optimum_over_all_trees(kind: str, data: st.DataObject) -> None:
    topology = data.draw(KINDS[kind])
    best = steady_optimum(Platform.of(without_overheads(topology), 0))
    assert best.throughput == optimum_by_definition(topology) == best.certificate.throughput
    assert best.throughput == flow_form(best.platform).throughput
    assert kind == "limits" or busiest_time(best.platform, best.trees) == 1
    assert len(best.trees) <= len(best.platform.all_ports)


LARGER: dict[str, st.SearchStrategy[Topology]] = {
    "other models": random_platforms(5, switches=2, port_models=(SEND, RECEIVE, HALF)),
    "limits": bounded_platforms(6, switches=1),
    "overheads": overhead_platforms(5, models=("one-port", SEND, RECEIVE, HALF)),
    "odd cycles": half_duplex_platforms(6),
}


@pytest.mark.parametrize("kind", LARGER)
@given(st.data())
@examples(30)
def test_schedules_reach_the_optimum_and_are_proven(kind: str, data: st.DataObject) -> None:
    topology = data.draw(LARGER[kind])
    schedule = optimal_series(topology)
    assert schedule.topology.port_model == topology.port_model
    assert play_series(schedule, 5).messages == 5


@cache
def in_model(port_model: str | None, spec: str = "hypercube:dim=3") -> Topology:
    """Return a hypercube with a faster edge to the last node."""
    links = [*build_topology(spec).links]
    links[-1] = replace(links[-1], bandwidth=Fraction(3))
    return replace(build_topology(spec), links=tuple(links), port_model=port_model)


@cache
def compared(port_model: str | None) -> SeriesComparison:
    return compare_series(in_model(port_model), 0)


@pytest.mark.parametrize(
    ("port_model", "throughput"),
    [("one-port", "1"), (SEND, "1"), (RECEIVE, "1"), (HALF, "12/19"), (None, "3")],
    ids=["one", "send", "receive", "half", "all"],
)
def test_a_hypercube_in_each_model(port_model: str | None, throughput: str) -> None:
    found = compared(port_model)
    assert str(found.best.throughput) == throughput
    assert all(verify(found.schedule(along)).ok for along in ("graph", "dag", "tree"))


def test_a_schedule_for_another_model_breaks_a_rule() -> None:
    of_all = compared(None).schedule()
    for port_model, verb in ((SEND, "sends"), (RECEIVE, "receives"), (HALF, "sends or receives")):
        rule, text = broken(replace(of_all, topology=in_model(port_model)))
        assert (rule, f" {verb} two messages at the same time" in text) == ("ports", True)
    other = replace(compared(HALF).schedule(), topology=in_model("one-port"))
    assert broken(other)[0] == "certificate"  # its prices are of ports that the model does not have


@pytest.mark.parametrize(
    ("port_model", "verbs"),
    [(SEND, {"sends"}), (RECEIVE, {"receives"}), ("one-port", {"sends", "receives"}), (HALF, {"is"})],
)
def test_a_chart_has_the_rows_of_the_model(port_model: str, verbs: set[str]) -> None:
    names, bars = chart(compared(port_model).schedule())
    assert {name.split()[1] for name in names} == verbs
    for row in range(len(names)):
        ends = sorted((bar.begin, bar.end) for bar in bars if bar.row == row)
        assert all(before[1] <= after[0] + 1e-9 for before, after in pairwise(ends))


@pytest.mark.parametrize("port_model", PORT_MODELS)
def test_messages_in_packets_and_undivided_are_at_or_above_their_bounds(port_model: str) -> None:
    square = in_model(port_model, "hypercube:dim=2")
    for plan in (pipelined_broadcast(square, 0, 10**6), atomic_broadcast(square, 0, 10**6)):
        assert plan.makespan >= plan.bound


def test_sending_to_all_neighbours_at_once_takes_the_time_of_the_longest_path() -> None:
    at_once, in_turn = (
        atomic_broadcast(replace(figure_1(), port_model=port_model), "s", 10**6) for port_model in (RECEIVE, SEND)
    )
    assert at_once.optimal
    assert in_turn.optimal
    assert at_once.makespan == 1500 < in_turn.makespan


def test_a_switch_with_more_links_out_than_in_does_not_copy_messages() -> None:
    compared = compare_series(linked("a b c", "a>s s>b b>a s>c c>a", switches="s"), "a")
    assert str(compared.best.throughput) == "1/2"
    assert verify(compared.schedule()).optimal
