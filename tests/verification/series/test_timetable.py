"""The check of timetables finds every kind of fault."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.base.errors import InternalError
from forestcoll.schedule.series.timetable import PacketSend, Timetable
from forestcoll.topology import Link, Node, NodeKind
from forestcoll.topology.graph.node_ports import RECEIVE_LIMIT, SEND_LIMIT
from forestcoll.topology.model import BOUNDED
from forestcoll.verification.series.timetable import _shared, certified_timetable, timetable_fault
from oneport_platforms import platform_of_costs

LINE = platform_of_costs("abc", [("a", "b", 1), ("b", "c", 1), ("a", "c", 2)])
TIMES = tuple(1 / link.bandwidth for link in LINE.links)
A_TO_B, A_TO_C, B_TO_C = range(3)
GOOD = Timetable(LINE, 0, 2, TIMES, tuple(PacketSend(Fraction(at), packet, link) for at, packet, link in (
    (0, 0, A_TO_B), (1, 1, A_TO_B), (1, 0, B_TO_C), (2, 1, B_TO_C)
)))  # fmt: skip


def with_send(place: int, **changes: object) -> Timetable:
    sends = list(GOOD.sends)
    sends[place] = replace(sends[place], **changes)  # type: ignore[arg-type]
    return replace(GOOD, sends=tuple(sends))


def test_a_correct_timetable_ends_with_the_last_arrival() -> None:
    assert certified_timetable(GOOD) is GOOD
    assert GOOD.makespan == 3


def test_a_packet_may_arrive_again_after_it_was_sent_on() -> None:
    assert timetable_fault(replace(GOOD, sends=(*GOOD.sends, PacketSend(Fraction(2), 0, A_TO_B)))) is None


@pytest.mark.parametrize(
    ("timetable", "fault"),
    [
        (with_send(2, start=Fraction(1, 2)), "packet 0 on 'b' -> 'c' at 1/2 starts before the packet has arrived"),
        (with_send(0, start=Fraction(-1)), "packet 0 on 'a' -> 'b' at -1 starts before the packet has arrived"),
        (with_send(1, start=Fraction(1, 2)), "packet 1 on 'a' -> 'b' at 1/2: the link port is busy until 1"),
        (with_send(1, link=A_TO_C, start=Fraction(1, 2)), "packet 1 on 'b' -> 'c' at 2 starts before the packet has"),
        (replace(GOOD, sends=GOOD.sends[:3]), "packet 1 does not reach 'c'"),
        (replace(GOOD, packets=3), "packet 2 does not reach 'b'"),
    ],
)
def test_a_fault_is_named(timetable: Timetable, fault: str) -> None:
    assert (timetable_fault(timetable) or "").startswith(fault)


def test_a_port_receives_one_packet_at_a_time() -> None:
    both = replace(GOOD, sends=(*GOOD.sends[:3], PacketSend(Fraction(3, 2), 1, A_TO_C)))
    assert "port is busy until" in (timetable_fault(both) or "")
    with pytest.raises(InternalError, match="port is busy until"):
        certified_timetable(both)


def shared(*sends: tuple[int, int, int], limit: str) -> Timetable:
    """Return sends over links of 2 and 7/4 GB/s, with start, packet and link; a node of both links shares 3 GB/s."""
    sending = limit == SEND_LIMIT
    nodes = tuple(Node(name, NodeKind.COMPUTE, attributes={limit: 3} if name == "s" else {}) for name in "sab")
    links = tuple(
        Link(*((0, other) if sending else (other, 0)), bandwidth=bandwidth)
        for other, bandwidth in ((1, Fraction(2)), (2, Fraction(7, 4)))
    )
    topology = replace(LINE, nodes=nodes, links=links, port_model=BOUNDED)
    listed = tuple(PacketSend(Fraction(start), packet, link) for start, packet, link in sends)
    return Timetable(topology, 0, 2, (Fraction(5),) * 2, listed)


@pytest.mark.parametrize(("limit", "slower"), [(SEND_LIMIT, "'s' -> 'b'"), (RECEIVE_LIMIT, "'b' -> 's'")])
def test_sends_that_overlap_share_the_bandwidth_of_a_node(limit: str, slower: str) -> None:
    in_turn = ((0, 0, 0), (5, 0, 1), (10, 1, 0), (15, 1, 1))
    assert list(_shared(shared(*in_turn, limit=limit))) == []
    assert list(_shared(shared(*reversed(in_turn), limit=limit))) == []
    late, both = (
        list(_shared(shared(*sends, limit=limit)))
        for sends in (((0, 0, 0), (4, 0, 1), (9, 1, 0)), ((0, 0, 0), (0, 0, 1), (5, 1, 0)))
    )
    assert late == [f"packet 0 on {slower} at 4: the {limit} in use is 15/4, more than 3"]
    assert both == [f"packet 0 on {slower} at 0: the {limit} in use is 15/4, more than 3"]
