"""Measurements of point-to-point sends as frozen values and as the file `forestcoll.measurements/1`.

A measurement is a set of sends that start at the same time. A send is a flow: its source, its target, its bytes, and
the seconds from its start until the source had sent everything and knew that it had arrived: the median of several
runs.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import cast

from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import to_fraction
from forestcoll.base.file_kinds import MEASUREMENTS, check_kind
from forestcoll.topology.importers.source import Source, whole_number

FORMAT = "forestcoll.measurements/1"
"""The mark of the file."""

MOST_RANKS = 2**16
_MOST_BYTES = 2**50


@dataclass(frozen=True)
class Host:
    """A host and the ranks that run on it.

    Attributes:
        name: its name.
        ranks: the ranks in rising order.
    """

    name: str
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class Probe:
    """One send.

    Attributes:
        source: the rank that sends.
        target: the rank that receives.
        size: the number of bytes.
        seconds: until the source has the answers to all that it sends in this measurement.
    """

    source: int
    target: int
    size: int
    seconds: Fraction

    @cached_property
    def duration(self) -> float:
        """The seconds as a float, for fits."""
        return float(self.seconds)


@dataclass(frozen=True)
class Measurement:
    """Sends that start at the same time.

    Attributes:
        kind: why they were measured, as `docs/probing.md` lists it.
        flows: the sends.
    """

    kind: str
    flows: tuple[Probe, ...]

    @property
    def seconds(self) -> Fraction:
        """The time until the last send has ended."""
        return max(flow.seconds for flow in self.flows)

    @property
    def size(self) -> int:
        """The bytes of all sends."""
        return sum(flow.size for flow in self.flows)


@dataclass(frozen=True)
class Latency:
    """The time of a message of a few bytes.

    Attributes:
        source: the rank that sends.
        target: the rank that receives.
        seconds: half of the time until the answer arrives.
    """

    source: int
    target: int
    seconds: Fraction


@dataclass(frozen=True)
class Measurements:
    """All measurements of a cluster.

    Attributes:
        hosts: the hosts; each rank is on one of them.
        backend: what carried the data: `gloo`, `nccl` or `mpi`.
        repeat: the number of runs of which times are medians.
        measurements: the measurements, in the order in which they were made.
        latencies: the times of short messages.
    """

    hosts: tuple[Host, ...]
    backend: str
    repeat: int
    measurements: tuple[Measurement, ...]
    latencies: tuple[Latency, ...] = ()

    @property
    def size(self) -> int:
        """The number of ranks."""
        return sum(len(host.ranks) for host in self.hosts)

    @cached_property
    def host_of(self) -> Mapping[int, int]:
        """The place of the host of each rank in `hosts`."""
        return {rank: place for place, host in enumerate(self.hosts) for rank in host.ranks}


def measurements_document(measurements: Measurements) -> dict[str, object]:
    """Return the JSON object of the file.

    Example:
        >>> from fractions import Fraction
        >>> sends = Measurement("pair", (Probe(0, 1, 1000, Fraction(1, 100)),))
        >>> found = Measurements((Host("node1", (0, 1)),), "gloo", 3, (sends,))
        >>> measurements_document(found)["measurements"]
        [{'kind': 'pair', 'flows': [[0, 1, 1000, 0.01]]}]
    """
    return {
        "format": FORMAT,
        "backend": measurements.backend,
        "repeat": measurements.repeat,
        "hosts": [{"name": host.name, "ranks": list(host.ranks)} for host in measurements.hosts],
        "latencies": [[each.source, each.target, float(each.seconds)] for each in measurements.latencies],
        "measurements": [
            {
                "kind": each.kind,
                "flows": [[flow.source, flow.target, flow.size, float(flow.seconds)] for flow in each.flows],
            }
            for each in measurements.measurements
        ],
    }


def measurements_text(measurements: Measurements) -> str:
    """Return the text of the file, with one line for each measurement."""
    document = measurements_document(measurements)
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in document.items() if key != "measurements"]
    rows = ",\n".join(f"  {json.dumps(each)}" for each in cast("list[object]", document["measurements"]))
    return "{\n" + ",\n".join(lines) + ',\n "measurements": [\n' + rows + "\n ]\n}\n"


def measurements_of(source: Source) -> Measurements:
    """Return the measurements in a file.

    Raises:
        InputError: it is no such file, or a value is wrong.
    """
    document = source.json()
    if isinstance(document, dict):
        check_kind(document, MEASUREMENTS, source.where)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise source.error(f'"format" is not "{FORMAT}"; is this a file of forestcoll probe?')
    hosts = tuple(_host(source, each, place) for place, each in enumerate(_list(source, document, "hosts")))
    ranks = sorted(rank for host in hosts for rank in host.ranks)
    if ranks != list(range(len(ranks))) or len(ranks) < 2:
        raise source.error(f"hosts: the ranks are not 0 to {max(len(ranks) - 1, 1)}, each on one host")
    if len({host.name for host in hosts}) < len(hosts):
        raise source.error("hosts: two have the same name; rename one")
    measured = [
        _measurement(source, each, f"measurements[{place}]", len(ranks))
        for place, each in enumerate(_list(source, document, "measurements"))
    ]
    if not measured:
        raise source.error("measurements is empty; run forestcoll probe again")
    latencies = [
        _latency(source, each, f"latencies[{place}]", len(ranks))
        for place, each in enumerate(_list(source, document, "latencies"))
    ]
    repeat = whole_number(source, document.get("repeat", 1), "repeat")
    backend = document.get("backend")
    name = backend if isinstance(backend, str) else "unknown"
    return Measurements(hosts, name, repeat, tuple(measured), tuple(latencies))


def _list(source: Source, document: Mapping[str, object], key: str) -> Sequence[object]:
    value = document.get(key, [])
    if not isinstance(value, list):
        raise source.error(f"{key} is {shown(value)}; expected a list")
    return value


def _host(source: Source, value: object, place: int) -> Host:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or not value["name"]:
        raise source.error(f'hosts[{place}] is {shown(value)}; expected {{"name": …, "ranks": […]}}')
    where = f"hosts[{place}].ranks"
    ranks = [whole_number(source, rank, where, most=MOST_RANKS) for rank in _list(source, value, "ranks")]
    if not ranks:
        raise source.error(f"{where} is empty; leave the host out")
    return Host(value["name"], tuple(sorted(ranks)))


def _measurement(source: Source, value: object, where: str, ranks: int) -> Measurement:
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        raise source.error(f'{where} is {shown(value)}; expected {{"kind": …, "flows": […]}}')
    flows = [
        _flow(source, flow, f"{where}.flows[{place}]", ranks)
        for place, flow in enumerate(_list(source, value, "flows"))
    ]
    if not flows:
        raise source.error(f"{where}.flows is empty; leave the measurement out")
    return Measurement(value["kind"], tuple(flows))


def _flow(source: Source, value: object, where: str, ranks: int) -> Probe:
    one, other, rest = _row(source, value, 4, where, ranks)
    size = whole_number(source, rest[0], f"{where}[2]", most=_MOST_BYTES)
    if size == 0:
        raise source.error(f"{where}[2] is 0; expected the number of bytes")
    return Probe(one, other, size, _seconds(source, rest[1], f"{where}[3]"))


def _latency(source: Source, value: object, where: str, ranks: int) -> Latency:
    one, other, rest = _row(source, value, 3, where, ranks)
    return Latency(one, other, _seconds(source, rest[0], f"{where}[2]"))


def _row(source: Source, value: object, length: int, where: str, ranks: int) -> tuple[int, int, list[object]]:
    """Return the two ranks that begin a row, and its other values."""
    if not isinstance(value, list) or len(value) != length:
        raise source.error(f"{where} is {shown(value)}; expected a list of {length} numbers")
    one, other = (whole_number(source, value[place], f"{where}[{place}]", most=ranks - 1) for place in (0, 1))
    if one == other:
        raise source.error(f"{where}: rank {one} sends to itself; leave the send out")
    return one, other, value[2:]


def _seconds(source: Source, value: object, where: str) -> Fraction:
    try:
        seconds = to_fraction(value)
    except ValueError as error:
        raise source.error(f"{where}: {shown(value)} {error}; expected seconds") from None
    if not 0 < seconds < 10**6:
        raise source.error(f"{where} is {shown(value)}; expected seconds, greater than 0 and less than a million")
    return seconds


def checked_hosts(names: Sequence[str]) -> tuple[Host, ...]:
    """Return the hosts of ranks 0, 1, …, which are on hosts with these names.

    Raises:
        InputError: there are fewer than two ranks, or too many.
    """
    if not 2 <= len(names) <= MOST_RANKS:
        raise InputError(f"there are {len(names)} processes; start 2 to {MOST_RANKS}")
    return tuple(
        Host(name, tuple(rank for rank, other in enumerate(names) if other == name)) for name in dict.fromkeys(names)
    )
