"""The check of a timetable: packets are sent after they have arrived, ports do one thing at a time, all packets arrive.

The check does not use the search that makes timetables. Times are exact.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from forestcoll.base.errors import InternalError
from forestcoll.schedule.series.timetable import PacketSend, Timetable
from forestcoll.topology.graph.node_ports import RECEIVE_LIMIT, SEND_LIMIT, shared_bandwidths
from forestcoll.verification.proof_checks.prices import occupied

if TYPE_CHECKING:
    from forestcoll.schedule.proof.prices import Port


def timetable_fault(timetable: Timetable) -> str | None:
    """Return the first fault of `timetable`, or None if it broadcasts every packet."""
    return next((fault for find in _CHECKS for fault in find(timetable)), None)


def certified_timetable(timetable: Timetable) -> Timetable:
    """Return `timetable` if it has no fault.

    Raises:
        InternalError: a defect of this package.
    """
    fault = timetable_fault(timetable)
    if fault is not None:
        raise InternalError(f"{timetable.topology.name}: {fault}")
    return timetable


def _names(timetable: Timetable, send: PacketSend) -> str:
    link = timetable.topology.links[send.link]
    one, other = timetable.topology.ids([link.source, link.target])
    return f"packet {send.packet} on {one!r} -> {other!r} at {send.start}"


def _arrivals(timetable: Timetable) -> dict[tuple[int, int], Fraction]:
    """Return when each packet is first complete at each node."""
    arrived = {(packet, timetable.source): Fraction(0) for packet in range(timetable.packets)}
    for send in timetable.sends:
        key = send.packet, timetable.topology.links[send.link].target
        end = send.start + timetable.times[send.link]
        arrived[key] = min(end, arrived.get(key, end))
    return arrived


def _sent_early(timetable: Timetable) -> Iterator[str]:
    arrived = _arrivals(timetable)
    for send in timetable.sends:
        there = arrived.get((send.packet, timetable.topology.links[send.link].source))
        if there is None or send.start < there:  # times are positive, so no packet arrives before 0
            yield f"{_names(timetable, send)} starts before the packet has arrived"


def _busy_ports(timetable: Timetable) -> Iterator[str]:
    until: dict[Port, Fraction] = {}
    for send in sorted(timetable.sends, key=lambda each: (each.start, each.packet, each.link)):
        for port in occupied(timetable.topology, send.link):
            if until.get(port, send.start) > send.start:
                yield f"{_names(timetable, send)}: the {port.kind.value} port is busy until {until[port]}"
            until[port] = send.start + timetable.times[send.link]


def _shared(timetable: Timetable) -> Iterator[str]:
    """Yield sends during which the links of a node exceed the bandwidth that they share."""
    topology = timetable.topology
    for place, name in enumerate((SEND_LIMIT, RECEIVE_LIMIT)):
        limits = shared_bandwidths(topology, name)
        changes: dict[int, list[tuple[Fraction, bool, Fraction, PacketSend]]] = {node: [] for node in limits}
        for send in timetable.sends:
            link = topology.links[send.link]
            node = (link.source, link.target)[place]
            if node in limits:
                end = send.start + timetable.times[send.link]
                changes[node] += [(send.start, True, link.bandwidth, send), (end, False, -link.bandwidth, send)]
        for node, listed in changes.items():
            used = Fraction(0)
            for _, _, bandwidth, send in sorted(listed, key=lambda each: each[:2]):
                used += bandwidth
                if used > limits[node]:
                    yield f"{_names(timetable, send)}: the {name} in use is {used}, more than {limits[node]}"


def _missing(timetable: Timetable) -> Iterator[str]:
    arrived = _arrivals(timetable)
    for packet in range(timetable.packets):
        for node in timetable.topology.compute:
            if (packet, node) not in arrived:
                yield f"packet {packet} does not reach {timetable.topology.nodes[node].id!r}"


_CHECKS = (_sent_early, _busy_ports, _shared, _missing)
