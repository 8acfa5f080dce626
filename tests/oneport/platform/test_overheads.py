import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import (
    Collective,
    Topology,
    TopologyBuilder,
    atomic_broadcast,
    compare_series,
    pipelined_broadcast,
)
from forestcoll.base.errors import InputError
from forestcoll.oneport import Platform, periodic_schedule, steady_optimum
from forestcoll.presentation.pictures.gantt import chart
from forestcoll.schedule.proof import Bound
from forestcoll.schedule.series.document import from_document, text_of
from forestcoll.simulation.series.play import play_series
from forestcoll.solver.exact_lp.exact_packing import packing_optimum
from forestcoll.topology.graph.overheads import without_overheads
from forestcoll.verification import verify
from forestcoll.verification.series.timetable import timetable_fault
from networks import examples
from oneport_platforms import every_tree, random_platforms

SEND, RECEIVE, HALF = "one-port-send", "one-port-receive", "half-duplex"
MODELS = ("one-port", SEND, RECEIVE, HALF)

_OVERHEADS = st.sampled_from([None, None, 1, 2, "1/3", "5/2"])


@st.composite
def platforms(draw: st.DrawFn, most: int = 4, switches: int = 0, models: Sequence[str | None] = MODELS) -> Topology:
    """Draw platforms on which some nodes have overheads."""
    model = draw(st.sampled_from(models))
    network = draw(random_platforms(most, switches=switches, port_models=(model or "one-port",)))
    nodes = list(network.nodes)
    for node in network.compute:
        drawn = {"send_overhead": draw(_OVERHEADS), "receive_overhead": draw(_OVERHEADS)}
        present = {name: time for name, time in drawn.items() if time is not None}
        nodes[node] = replace(nodes[node], attributes=present)
    return replace(network, nodes=tuple(nodes), port_model=model)


def overhead(topology: Topology, node: int, name: str) -> Fraction:
    return Fraction(str(topology.nodes[node].attributes.get(name, 0)))


def times_of(topology: Topology, source: int, target: int, cost: Fraction) -> dict[object, Fraction]:
    """Return the time of a message over a link at each port, from the definition of the port models."""
    nodes, model = topology.nodes, topology.port_model
    times: dict[object, Fraction] = {("link", source, target): cost}
    for node, name, models in (
        (source, "send", {"one-port", SEND, HALF}),
        (target, "receive", {"one-port", RECEIVE, HALF}),
    ):
        if nodes[node].is_compute:
            port = ("port", node) if model == HALF else (name, node)
            busy = overhead(topology, node, f"{name}_overhead") + (cost if model in models else 0)
            times[port] = times.get(port, Fraction(0)) + busy
    return times


def optimum_by_definition(topology: Topology) -> Fraction:
    """Return the optimum over all trees of the network with overheads."""
    bare = replace(topology, nodes=tuple(replace(node, attributes={}) for node in topology.nodes))
    platform = Platform.of(bare, 0)
    ports: dict[object, int] = {}
    columns = []
    for routes in every_tree(platform):
        column: dict[int, Fraction] = {}
        for route in routes:
            for link in platform.links_of(route):
                ends = bare.links[link].source, bare.links[link].target
                for port, time in times_of(topology, *ends, platform.costs[link]).items():
                    row = ports.setdefault(port, len(ports))
                    column[row] = column.get(row, Fraction(0)) + time
        columns.append({row: time for row, time in column.items() if time})
    used = sorted({row for column in columns for row in column})
    place = {row: number for number, row in enumerate(used)}
    columns = [{place[row]: time for row, time in column.items()} for column in columns]
    return sum(packing_optimum(columns, len(used))[0], Fraction(0))


@given(platforms(switches=1, models=(*MODELS, None)))
@examples(50)
def test_the_optimum_equals_that_of_the_program_over_all_trees(topology: Topology) -> None:
    best = steady_optimum(Platform.of(without_overheads(topology), 0))
    assert best.throughput == optimum_by_definition(topology) == best.certificate.throughput


@given(platforms(5, switches=1))
@examples(25)
def test_schedules_reach_the_optimum_and_are_proven(topology: Topology) -> None:
    best = steady_optimum(Platform.of(without_overheads(topology), 0))
    bound = Bound(Collective.BROADCAST, best.throughput, best.certificate)
    schedule = periodic_schedule(best.platform, best.trees, bound)
    read = from_document(json.loads("".join(text_of(schedule))), "file")
    report = verify(read)
    assert report.optimal, report.fault
    assert play_series(schedule, 5).messages == 5


def triangle(port_model: str | None = "one-port") -> Topology:
    """Return three nodes, of which one sends and one receives slowly."""
    builder = TopologyBuilder("triangle", port_model=port_model)
    builder.add_compute("a", send_overhead=1, send_overhead_us=3)
    builder.add_compute("b", receive_overhead="1/2")
    builder.add_compute("c", send_overhead=2, receive_overhead=1)
    for one, other in ("ab", "ac", "bc", "ca", "cb"):
        builder.add_link(one, other, 1)
    return builder.build()


@pytest.mark.parametrize(
    ("port_model", "throughput"), [("one-port", "1/2"), (SEND, "1/2"), (HALF, "11/25"), (None, "1")]
)
def test_a_triangle_in_each_model(port_model: str | None, throughput: str) -> None:
    compared = compare_series(triangle(port_model), "a")
    assert str(compared.best.throughput) == throughput
    assert all(verify(compared.schedule(along)).ok for along in ("graph", "dag", "tree"))
    assert verify(compared.schedule()).optimal


@pytest.mark.parametrize("port_model", ["one-port", HALF, None])
def test_messages_in_packets_and_undivided_include_the_overheads(port_model: str | None) -> None:
    plan = pipelined_broadcast(triangle(port_model), "a", 10**6, packets=20)
    assert plan.makespan >= plan.bound
    assert plan.timetable is not None
    assert timetable_fault(plan.timetable) is None
    whole = atomic_broadcast(triangle(port_model), "a", 10**6)
    # a sends to c first: overhead 1003, link 1000, overhead 1000; with one port, b follows after 2003 in 3506
    assert whole.makespan == (3506 if port_model is None else 4503)


def test_the_sender_is_busy_for_its_overhead_and_the_link() -> None:
    schedule = compare_series(triangle(), "a").schedule()
    moved = []
    for each in schedule.rounds:
        ends = [schedule.trees[transfer.tree].edges[transfer.edge] for transfer in each.transfers]
        names = [tuple(schedule.topology.ids(pair)) for pair in ends]
        moved.append(names)
        assert sum(name[0] in {"a", "a sends"} for name in names) <= 1
        assert sum(name[1] in {"c", "c receives"} for name in names) <= 1
    assert ("a", "a sends") in {name for names in moved for name in names}


def test_a_chart_shows_the_overheads_at_the_ports_of_the_node() -> None:
    names, bars = chart(compare_series(triangle(), "a").schedule())
    sends = names.index("a sends")
    assert {bar.label for bar in bars if bar.row == sends} == {"→ a sends", "→ b receives"}


def test_an_overhead_during_a_send_breaks_the_rule_of_ports() -> None:
    of_links = compare_series(triangle(None), "a").schedule()
    fault = verify(replace(of_links, topology=replace(of_links.topology, port_model="one-port"))).fault
    assert fault is not None
    assert fault.rule == "ports"


def test_a_switch_of_its_own_instead_of_a_part_of_the_node_breaks_the_proof() -> None:
    schedule = compare_series(triangle(), "a").schedule()
    nodes = tuple(replace(node, attributes={}) for node in schedule.topology.nodes)
    fault = verify(replace(schedule, topology=replace(schedule.topology, nodes=nodes))).fault
    assert fault is not None
    assert fault.rule == "certificate"


def test_a_network_without_overheads_is_not_changed() -> None:
    network = replace(triangle(), nodes=tuple(replace(node, attributes={}) for node in triangle().nodes))
    assert without_overheads(network) is network
    divided = without_overheads(triangle())
    assert without_overheads(divided) is divided


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"send_overhead": 0}, "send_overhead 0 must be greater than 0"),
        ({"receive_overhead": "slow"}, "receive_overhead 'slow' is not a number"),
        ({"send_overhead_us": 3}, "has send_overhead_us without send_overhead; add send_overhead"),
    ],
)
def test_invalid_overheads_are_refused(attributes: dict[str, object], message: str) -> None:
    network = triangle()
    nodes = (replace(network.nodes[0], attributes=attributes), *network.nodes[1:])
    with pytest.raises(InputError, match=r"^triangle: node 'a'") as caught:
        compare_series(replace(network, nodes=nodes), "a")
    assert message in str(caught.value)


def test_a_node_has_a_limit_or_an_overhead_but_not_both() -> None:
    network = triangle("bounded-multi-port")
    nodes = (replace(network.nodes[0], attributes={"send_overhead": 1, "send_bandwidth": 1}), *network.nodes[1:])
    with pytest.raises(InputError, match=r"node 'a' has send_bandwidth and send_overhead; leave one of them out"):
        compare_series(replace(network, nodes=nodes), "a")


def test_a_switch_needs_an_id_of_its_own() -> None:
    builder = TopologyBuilder("taken", port_model="one-port")
    builder.add_compute("a", send_overhead=1)
    builder.add_link("a", builder.add_compute("a sends"), 1)
    with pytest.raises(InputError, match=r"a node has the id 'a sends' that its switch would have; rename that node"):
        compare_series(builder.build(), "a")


def test_port_of_must_name_a_compute_node() -> None:
    divided = without_overheads(triangle())
    nodes = (*divided.nodes[:3], replace(divided.nodes[3], attributes={"port_of": "x"}), *divided.nodes[4:])
    with pytest.raises(InputError, match=r"switch 'a sends': port_of is 'x'; write the id of a compute node"):
        compare_series(replace(divided, nodes=nodes), "a")
