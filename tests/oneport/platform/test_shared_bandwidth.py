from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import (
    SeriesSchedule,
    Topology,
    TopologyBuilder,
    atomic_broadcast,
    compare_series,
    pipelined_broadcast,
)
from forestcoll.base.errors import InputError
from forestcoll.oneport import Platform, steady_optimum
from forestcoll.oneport.series.flow_form import flow_form
from forestcoll.simulation.series.play import play_series
from forestcoll.solver.exact_lp.exact_packing import packing_optimum
from forestcoll.verification import verify
from forestcoll.verification.series.timetable import timetable_fault
from networks import examples
from oneport_platforms import every_tree, optimal_series, random_platforms

BOUNDED = "bounded-multi-port"

_LIMITS = st.sampled_from([None, None, 1, 2, "7/2", "1/3"])


@st.composite
def bounded_platforms(draw: st.DrawFn, most: int = 4, switches: int = 0) -> Topology:
    """Draw platforms on which some nodes have limits to send or to receive."""
    network = draw(random_platforms(most, switches=switches))
    nodes = list(network.nodes)
    for node in network.compute:
        drawn = {"send_bandwidth": draw(_LIMITS), "receive_bandwidth": draw(_LIMITS)}
        limits = {name: limit for name, limit in drawn.items() if limit is not None}
        nodes[node] = replace(nodes[node], attributes=limits)
    return replace(network, nodes=tuple(nodes), port_model=BOUNDED)


def optimum_by_definition(topology: Topology) -> Fraction:
    """Return the optimum over all trees. For each link, and each node with a limit, the rates are at most that."""
    platform = Platform.of(topology, 0)
    limits = [({number}, link.bandwidth) for number, link in enumerate(topology.links)]
    for place, node in enumerate(topology.nodes):
        for name, end in (("send_bandwidth", "source"), ("receive_bandwidth", "target")):
            if name in node.attributes:
                links = {number for number, link in enumerate(topology.links) if getattr(link, end) == place}
                limits.append((links, Fraction(str(node.attributes[name]))))
    columns = []
    for routes in every_tree(platform):
        used = [link for route in routes for link in platform.links_of(route)]
        shares = {row: sum(link in links for link in used) / limit for row, (links, limit) in enumerate(limits)}
        columns.append({row: Fraction(share) for row, share in shares.items() if share})
    return sum(packing_optimum(columns, len(limits))[0], Fraction(0))


@given(bounded_platforms(switches=1))
@examples(40)
def test_the_optimum_equals_that_of_the_program_over_all_trees(topology: Topology) -> None:
    best = steady_optimum(Platform.of(topology, 0))
    assert best.throughput == optimum_by_definition(topology) == best.certificate.throughput
    assert best.throughput == flow_form(best.platform).throughput


@given(bounded_platforms(6, switches=1))
@examples(25)
def test_schedules_reach_the_optimum_and_are_proven(topology: Topology) -> None:
    schedule = optimal_series(topology)
    assert play_series(schedule, 5).messages == 5


def star(send: object = 3, receive: object = 1) -> Topology:
    """Return a source with fast links to three nodes, which have links to each other."""
    builder = TopologyBuilder("star", port_model=BOUNDED)
    builder.add_compute("s", send_bandwidth=send)
    for node in "abc":
        builder.add_compute(node, receive_bandwidth=receive)
        builder.add_link("s", node, 10)
    for one, other in ("ab", "bc", "ca"):
        builder.add_link(one, other, 1)
    return builder.build()


@pytest.mark.parametrize(
    ("send", "receive", "throughput"), [(3, 1, "1"), (2, 1, "1"), (3, 100, "2"), ("1/2", 1, "1/2"), ("24 Gb/s", 9, "2")]
)
def test_a_star_in_the_model(send: object, receive: object, throughput: str) -> None:
    compared = compare_series(star(send, receive), "s")
    assert str(compared.best.throughput) == throughput
    assert all(verify(compared.schedule(along)).ok for along in ("graph", "dag", "tree"))
    assert verify(compared.schedule()).optimal


def test_without_limits_all_links_are_used_at_once() -> None:
    free = replace(star(1000, 1000), port_model=None)
    free = replace(free, nodes=tuple(replace(node, attributes={}) for node in free.nodes))
    assert compare_series(free, "s").best.throughput == compare_series(star(1000, 1000), "s").best.throughput


def changed(change: Callable[[SeriesSchedule], SeriesSchedule]) -> SeriesSchedule:
    return change(compare_series(star(3, 100), "s").schedule())


def faster(schedule: SeriesSchedule) -> SeriesSchedule:
    """Return the schedule in half the time with twice the bandwidths."""
    assert schedule.bandwidths is not None
    rounds = tuple(replace(each, duration=each.duration / 2) for each in schedule.rounds)
    links = tuple(replace(link, bandwidth=2 * link.bandwidth) for link in schedule.topology.links)
    return replace(
        schedule,
        topology=replace(schedule.topology, links=links),
        bandwidths=tuple(2 * each for each in schedule.bandwidths),
        rounds=rounds,
    )


@pytest.mark.parametrize(
    ("change", "rule", "message"),
    [
        (faster, "shared", "round 0: 's' sends with 6, more than 3"),
        (
            lambda schedule: replace(schedule, bandwidths=tuple(20 * each for each in schedule.bandwidths or ())),
            "bandwidths",
            "link 's' -> 'a' has the bandwidth 20; expected above 0, up to 10",
        ),
        (
            lambda schedule: replace(schedule, bandwidths=(Fraction(0),) * 6),
            "bandwidths",
            "link 's' -> 'a' has the bandwidth 0; expected above 0, up to 10",
        ),
        (
            lambda schedule: replace(schedule, topology=star(3, "1/2")),
            "shared",
            "round 0: 'a' receives with 2, more than 1/2",
        ),
        (
            lambda schedule: replace(schedule, bandwidths=tuple(each / 2 for each in schedule.bandwidths or ())),
            "work",
            "'s' -> 'a' of tree 0 carries 1/2 messages a period; expected 1",
        ),
        (
            lambda schedule: replace(schedule, topology=replace(schedule.topology, port_model=None)),
            "bandwidths",
            "links have chosen bandwidths, which only bounded multi-port nodes need",
        ),
        (
            lambda schedule: replace(schedule, bandwidths=(Fraction(1),)),
            "bandwidths",
            "there are 1 bandwidths for 6 links",
        ),
        (lambda schedule: replace(schedule, bandwidths=None), "shared", "round 0: 's' sends with 30, more than 3"),
    ],
    ids=["faster", "above", "zero", "receive", "slower", "model", "few", "none"],
)
def test_a_changed_schedule_breaks_a_rule(
    change: Callable[[SeriesSchedule], SeriesSchedule], rule: str, message: str
) -> None:
    fault = verify(changed(change)).fault
    assert fault is not None
    assert (fault.rule, fault.message) == (rule, message)


def test_a_higher_limit_makes_the_proof_invalid() -> None:
    schedule = compare_series(star(3, 100), "s").schedule()
    other = replace(schedule, topology=star(6, 100))
    fault = verify(other).fault
    assert fault is not None
    assert fault.rule == "certificate"


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"send_bandwidth": 0}, "send_bandwidth 0 must be greater than 0"),
        ({"send_bandwidth": "fast"}, "send_bandwidth 'fast' "),
        ({"send_bandwith": 3}, "has 'send_bandwith', which is not a limit; did you mean 'send_bandwidth'?"),
    ],
)
def test_invalid_limits_are_refused(attributes: dict[str, object], message: str) -> None:
    network = star()
    nodes = (replace(network.nodes[0], attributes=attributes), *network.nodes[1:])
    with pytest.raises(InputError, match=r"^star: node 's'") as caught:
        compare_series(replace(network, nodes=nodes), "s")
    assert message in str(caught.value)


@pytest.mark.parametrize(("size", "packets"), [(10**3, None), (10**9, None), (10**9, 1)])
def test_packets_are_within_the_limits_and_at_or_above_the_bound(size: int, packets: int | None) -> None:
    network = star(3, 2)
    network = replace(network, links=tuple(replace(link, latency_us=Fraction(5)) for link in network.links))
    plan = pipelined_broadcast(network, "s", size, packets=packets)
    assert plan.makespan >= plan.bound
    assert plan.topology.port_model == BOUNDED
    assert plan.timetable is None or timetable_fault(plan.timetable) is None
    assert verify(plan.schedule()).ok


def test_a_large_message_takes_the_time_of_the_optimum() -> None:
    plan = pipelined_broadcast(star(3, 2), "s", 10**9, packets=2000)
    assert 1 <= plan.makespan / plan.bound < Fraction(101, 100)


def test_sends_that_exceed_a_shared_bandwidth_are_a_fault() -> None:
    plan = pipelined_broadcast(star(3, 2), "s", 10**6, packets=10)
    assert plan.timetable is not None
    nodes = star("1/2", 2).nodes
    slower = replace(plan.timetable, topology=replace(plan.timetable.topology, nodes=nodes))
    assert "more than 1/2" in str(timetable_fault(slower))


def test_one_undivided_message_is_refused_with_the_way_out() -> None:
    with pytest.raises(InputError, match=r"use pipelined_broadcast with packets=1"):
        atomic_broadcast(star(), "s", 10**6)
