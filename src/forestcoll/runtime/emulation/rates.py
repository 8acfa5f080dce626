"""Rates of an emulated network: the scale of a topology, and changes of links while ranks run."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import to_fraction
from forestcoll.base.units import bandwidth_in, bytes_per_microsecond, has_known_size
from forestcoll.topology import Topology
from forestcoll.topology.changes import link_named

UNIT = "Mb/s"
"""The unit of bandwidths on an emulated network: 10^6 bits a second."""

LEAST_BITS = 64_000
"""The lowest rate of a link that is emulated, in bits a second: a packet of 9000 bytes takes a second."""


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A change of a link, in both directions.

    Attributes:
        one: the number of the node at one end.
        other: the number of the node at the other end.
        rate: the new bandwidth in `UNIT`; 0 if the link carries nothing from then on.
        after: seconds from the start of the ranks.
    """

    one: int
    other: int
    rate: Fraction
    after: float


def emulated(topology: Topology, scale: str | None) -> Topology:
    """Return `topology` with the bandwidths of its emulation, in `UNIT`, and without latencies.

    Args:
        topology: the real network.
        scale: `EMULATED=REAL`, two bandwidths, such as `500Mbit=300GB/s`: the emulated links have this ratio to the
            real ones. None for links as fast as the real ones.

    Raises:
        InputError: the scale cannot be read, or the bandwidth unit has no known size.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> links = emulated(build_topology("ring:nodes=4,bandwidth=25"), "100Mbit=25GB/s").links
        >>> links[0].bandwidth
        Fraction(100, 1)
    """
    factor = _factor(topology, scale)
    links = tuple(replace(link, bandwidth=link.bandwidth * factor, latency_us=None) for link in topology.links)
    found = replace(topology, links=links, bandwidth_unit=UNIT)
    for link in found.links:
        if link.bandwidth * 10**6 < LEAST_BITS:
            ends = " -> ".join(str(each) for each in found.ids([link.source, link.target]))
            raise InputError(
                f"{topology.name}: link {ends} would have {float(link.bandwidth) * 1000:g} kbit/s; at least "
                f"{LEAST_BITS // 1000} kbit/s can be emulated, so use a larger --scale"
            )
    return found


def _factor(topology: Topology, scale: str | None) -> Fraction:
    """Return how many `UNIT` one unit of the topology's bandwidth is."""
    unit = topology.bandwidth_unit
    if scale is None:
        if not has_known_size(unit):
            raise InputError(
                f"{topology.name}: bandwidth_unit is {shown(unit)}, whose size is not known; use --scale, such as "
                "100Mbit=1"
            )
        return bytes_per_microsecond(unit) / bytes_per_microsecond(UNIT)
    rate, equals, real = scale.partition("=")
    if not equals:
        raise InputError(f"scale is {shown(scale)}; expected EMULATED=REAL, such as 500Mbit=300GB/s")
    return _bandwidth(UNIT, rate, scale) / _bandwidth(unit, real, scale)


def _bandwidth(unit: str, text: str, scale: str) -> Fraction:
    try:
        found = bandwidth_in(unit, _with_time(text))
    except ValueError as error:
        raise InputError(f"scale is {shown(scale)}: {shown(text)} {error}") from None
    if found <= 0:
        raise InputError(f"scale is {shown(scale)}: {shown(text)} is not greater than 0")
    return found


def _with_time(text: str) -> str:
    """Return `text` with `bit/s` in place of `bit`, the way in which `tc` writes rates."""
    text = text.strip()
    return f"{text}/s" if text.lower().endswith("bit") else text


def change_of(topology: Topology, text: str) -> LinkChange:
    """Return the change that `A--B=RATE@T` describes.

    Args:
        topology: the emulated network.
        text: the ids of the ends of a link, its new rate (`0` for a failed link), and the seconds until then.

    Raises:
        InputError: the text cannot be read, or there is no such link.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> change = change_of(emulated(build_topology("ring:nodes=4"), None), "0--1=10Mbit@2.5")
        >>> change.one, change.other, str(change.rate), change.after
        (0, 1, '10', 2.5)
    """
    link, equals, rest = text.rpartition("=")
    rate, at, after = rest.rpartition("@")
    if not equals or not at:
        raise InputError(f"change of a link is {shown(text)}; expected A--B=RATE@T, such as gpu0--switch0=10Mbit@5")
    one, other = link_named(topology, link)
    return LinkChange(one, other, _rate(rate, text), _seconds(after, text))


def _rate(rate: str, text: str) -> Fraction:
    try:
        found = bandwidth_in(UNIT, _with_time(rate))
    except ValueError as error:
        raise InputError(f"change of a link is {shown(text)}: rate {shown(rate)} {error}") from None
    if found < 0 or 0 < found * 10**6 < LEAST_BITS:
        least = f"{LEAST_BITS // 1000}kbit"
        raise InputError(f"change of a link is {shown(text)}: the rate must be 0 or at least {least}")
    return found


def _seconds(after: str, text: str) -> float:
    try:
        found = to_fraction(after.strip().removesuffix("s"))
    except ValueError as error:
        raise InputError(f"change of a link is {shown(text)}: time {shown(after)} {error}") from None
    if not 0 <= found <= 10**6:
        raise InputError(f"change of a link is {shown(text)}: the time must be from 0 to 1000000 s")
    return float(found)


def changed(topology: Topology, changes: Iterable[LinkChange]) -> Topology:
    """Return the emulated network after `changes`; a failed link is left out."""
    both = ((ends, each.rate) for each in changes for ends in ((each.one, each.other), (each.other, each.one)))
    return topology.with_bandwidths({ends: rate for ends, rate in both if ends in topology.link_numbers})
