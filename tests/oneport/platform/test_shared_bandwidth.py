from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll import SeriesSchedule, Topology, TopologyBuilder
from forestcoll.base.errors import InputError
from forestcoll.oneport import atomic_broadcast, compare_series, pipelined_broadcast
from forestcoll.verification import verify
from forestcoll.verification.series.timetable import timetable_fault
from oneport_platforms import BOUNDED, broken


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


def times(schedule: SeriesSchedule, factor: Fraction | int) -> tuple[Fraction, ...]:
    return tuple(each * factor for each in schedule.bandwidths or ())


LINK = "link 's' -> 'a' has the bandwidth"


@pytest.mark.parametrize(
    ("change", "rule", "message"),
    [
        (faster, "shared", "round 0: 's' sends with 6, more than 3"),
        (lambda one: replace(one, bandwidths=times(one, 20)), "bandwidths", f"{LINK} 20; expected above 0, up to 10"),
        (lambda one: replace(one, bandwidths=times(one, 0)), "bandwidths", f"{LINK} 0; expected above 0, up to 10"),
        (lambda one: replace(one, topology=star(3, "1/2")), "shared", "round 0: 'a' receives with 2, more than 1/2"),
        (
            lambda one: replace(one, bandwidths=times(one, Fraction(1, 2))),
            *("work", "'s' -> 'a' of tree 0 carries 1/2 messages a period; expected 1"),
        ),
        (
            lambda one: replace(one, topology=replace(one.topology, port_model=None)),
            *("bandwidths", "links have chosen bandwidths, which only bounded multi-port nodes need"),
        ),
        (lambda one: replace(one, bandwidths=(Fraction(1),)), "bandwidths", "there are 1 bandwidths for 6 links"),
        (lambda schedule: replace(schedule, bandwidths=None), "shared", "round 0: 's' sends with 30, more than 3"),
    ],
    ids=["faster", "above", "zero", "receive", "slower", "model", "few", "none"],
)
def test_a_changed_schedule_breaks_a_rule(
    change: Callable[[SeriesSchedule], SeriesSchedule], rule: str, message: str
) -> None:
    assert broken(change(compare_series(star(3, 100), "s").schedule())) == (rule, message)


def test_a_higher_limit_makes_the_proof_invalid() -> None:
    schedule = compare_series(star(3, 100), "s").schedule()
    other = replace(schedule, topology=star(6, 100))
    assert broken(other)[0] == "certificate"


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
