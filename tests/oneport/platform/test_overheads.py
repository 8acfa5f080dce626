from dataclasses import replace

import pytest

from forestcoll import Topology, TopologyBuilder
from forestcoll.base.errors import InputError
from forestcoll.oneport import atomic_broadcast, compare_series, pipelined_broadcast
from forestcoll.presentation.results.schedules.period_plot import chart
from forestcoll.topology.graph.overheads import without_overheads
from forestcoll.verification import verify
from forestcoll.verification.series.timetable import timetable_fault
from oneport_platforms import broken

SEND, HALF = "one-port-send", "half-duplex"


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
    assert {bar.text for bar in bars if bar.row == sends} == {"→ a sends", "→ b receives"}


def test_a_schedule_for_another_network_breaks_a_rule() -> None:
    of_links = compare_series(triangle(None), "a").schedule()
    assert broken(replace(of_links, topology=replace(of_links.topology, port_model="one-port")))[0] == "ports"
    schedule = compare_series(triangle(), "a").schedule()  # with a switch of its own instead of a part of the node
    nodes = tuple(replace(node, attributes={}) for node in schedule.topology.nodes)
    assert broken(replace(schedule, topology=replace(schedule.topology, nodes=nodes)))[0] == "certificate"


def test_a_network_without_overheads_is_not_changed() -> None:
    network = replace(triangle(), nodes=tuple(replace(node, attributes={}) for node in triangle().nodes))
    assert without_overheads(network) is network
    divided = without_overheads(triangle())
    assert without_overheads(divided) is divided


def with_node(network: Topology, place: int, **attributes: object) -> Topology:
    """Return the network with other attributes of a node."""
    nodes = list(network.nodes)
    nodes[place] = replace(nodes[place], attributes=attributes)
    return replace(network, nodes=tuple(nodes))


TAKEN = TopologyBuilder("taken", port_model="one-port")
TAKEN.add_link(TAKEN.add_compute("a", send_overhead=1), TAKEN.add_compute("a sends"), 1)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (with_node(triangle(), 0, send_overhead=0), "node 'a'.*send_overhead 0 must be greater than 0"),
        (with_node(triangle(), 0, receive_overhead="slow"), "node 'a'.*receive_overhead 'slow' is not a number"),
        (
            with_node(triangle(), 0, send_overhead_us=3),
            "node 'a' has send_overhead_us without send_overhead; add send_o",
        ),
        (
            with_node(triangle("bounded-multi-port"), 0, send_overhead=1, send_bandwidth=1),
            "node 'a' has send_bandwidth and send_overhead; leave one of them out",
        ),
        (TAKEN.build(), "a node has the id 'a sends' that its switch would have; rename that node"),
        (
            with_node(without_overheads(triangle()), 3, port_of="x"),
            "switch 'a sends': port_of is 'x'; write the id of a compute node",
        ),
    ],
)
def test_invalid_overheads_are_refused(network: Topology, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare_series(network, "a")
