"""Times of traces on links that move one message at a time, with sums that can be done by hand."""

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective
from forestcoll.programs.formats.chakra import Kind, Node, Trace
from forestcoll.simulation.program.paths import Paths
from forestcoll.simulation.traces import seconds_of
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology

LATENCY = 0.5e-6
SECOND = 50 * 10**9
"""The bytes that a link of the networks below moves in a second."""


def seconds(topology: Topology, *ranks: tuple[Node, ...]) -> float:
    paths = Paths(topology, tuple(topology.compute), {})
    return seconds_of([Trace(rank, nodes) for rank, nodes in enumerate(ranks)], paths)


def star(nodes: int) -> Topology:
    return build_topology(f"dgx-a100:boxes=1,gpus={nodes},nvswitch_bandwidth=50")


def sends(count: int, peer: int, *, chained: bool) -> tuple[Node, ...]:
    after = [(place - 1,) if chained and place else () for place in range(count)]
    return tuple(Node(place, "", Kind.SEND, after[place], SECOND // count, peer, place) for place in range(count))


def receives(count: int, peer: int) -> tuple[Node, ...]:
    return tuple(Node(place, "", Kind.RECEIVE, (), SECOND // count, peer, place) for place in range(count))


@pytest.mark.parametrize(
    ("switch", "count", "chained", "expected"),
    [
        (False, 1, False, 1 + LATENCY),
        (True, 1, False, 2 + 2 * LATENCY),  # a message is sent twice
        (True, 4, False, 1.25 + 2 * LATENCY),  # messages follow each other
        (True, 4, True, 2 + 8 * LATENCY),  # a send is done when its message has arrived
    ],
)
def test_messages_take_their_transfers_and_latencies(
    count: int, expected: float, *, switch: bool, chained: bool
) -> None:
    network = star(2) if switch else build_topology("complete:nodes=2,bandwidth=50")
    assert seconds(network, sends(count, 1, chained=chained), receives(count, 0)) == pytest.approx(expected)


def test_two_senders_share_the_link_to_a_receiver() -> None:
    both = (*receives(1, 0), Node(1, "", Kind.RECEIVE, (), SECOND, 1, 0))
    found = seconds(star(3), sends(1, 2, chained=False), sends(1, 2, chained=False), both)
    assert found == pytest.approx(3 + 2 * LATENCY)


def test_a_receive_after_the_arrival_and_a_sum_take_no_transfer() -> None:
    pair = build_topology("complete:nodes=2,bandwidth=50")
    late = (
        Node(0, "", Kind.RECEIVE, (), SECOND // 2, 0, 0),
        Node(1, "", Kind.COMPUTE, (0,)),
        Node(2, "", Kind.RECEIVE, (1,), SECOND // 2, 0, 1),
    )
    assert seconds(pair, sends(2, 1, chained=False), late) == pytest.approx(1 + LATENCY)


def test_a_schedule_of_direct_sends_takes_the_time_of_its_links() -> None:
    schedule = generate(build_topology("complete:nodes=4,bandwidth=50"), Collective.ALLGATHER)
    part = SECOND // 4
    ranks = [
        tuple(
            Node(number, "", kind, (), part, peer, 0)
            for number, (kind, peer) in enumerate(
                (kind, peer) for kind in (Kind.SEND, Kind.RECEIVE) for peer in range(4) if peer != rank
            )
        )
        for rank in range(4)
    ]
    assert seconds(schedule.topology, *ranks) == pytest.approx(0.25 + LATENCY)
