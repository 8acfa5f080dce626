"""The times of all sends of one message in packets: a frozen value."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.topology import Topology


@dataclass(frozen=True, slots=True)
class PacketSend:
    """One packet that crosses one link.

    Attributes:
        start: the time at which it begins, in microseconds.
        packet: the number of the packet, from 0.
        link: the place of the link in `Topology.links`.
    """

    start: Fraction
    packet: int
    link: int


@dataclass(frozen=True)
class Timetable:
    """When each packet crosses which link.

    Attributes:
        topology: the network.
        source: the number of the compute node that has all packets at time 0.
        packets: the number of packets.
        times: the time of a packet over each link, in microseconds.
        sends: all sends, in the order of their start.

    Example:
        >>> from forestcoll.oneport import pipelined_broadcast
        >>> from forestcoll.topology import build_topology
        >>> plan = pipelined_broadcast(build_topology("ring:nodes=3"), 0, 3000, packets=3)
        >>> len(plan.timetable.sends), plan.timetable.makespan == plan.makespan
        (6, True)
    """

    topology: Topology
    source: int
    packets: int
    times: tuple[Fraction, ...]
    sends: tuple[PacketSend, ...]

    @property
    def makespan(self) -> Fraction:
        """The end of the last send, in microseconds."""
        return max((send.start + self.times[send.link] for send in self.sends), default=Fraction(0))
