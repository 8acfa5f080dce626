"""What is said of the measurements of a cluster: counts, the range of bandwidths of each kind, and what to do next."""

from collections.abc import Sequence
from pathlib import Path

from forestcoll.base.errors import plural
from forestcoll.base.units import BANDWIDTH_UNIT
from forestcoll.presentation.tables import Column, Page, Table, row
from forestcoll.presentation.text import written
from forestcoll.topology.importers.measurements.document import Measurement, Measurements

_COLUMNS = (
    Column("measurement", key="kind"),
    Column("count", right=True, key="count"),
    Column(f"least ({BANDWIDTH_UNIT})", lambda value: f"{value:.4g}", right=True, key="least_bandwidth"),
    Column(f"greatest ({BANDWIDTH_UNIT})", lambda value: f"{value:.4g}", right=True, key="greatest_bandwidth"),
)


def probe_page(measurements: Measurements, output: Path | None) -> Page:
    """Return the page of measurements; the bandwidths of each kind are those of all sends of a measurement."""
    hosts, ranks = plural(len(measurements.hosts), "host"), plural(measurements.size, "rank")
    times = [float(each.seconds * 10**6) for each in measurements.latencies]
    span = f"{min(times):.1f} to {max(times):.1f} us" if times else ""
    facts = (
        row(hosts=len(measurements.hosts), ranks=measurements.size, repeat=measurements.repeat, unit=BANDWIDTH_UNIT),
        row("backend", measurements.backend, backend=measurements.backend),
        written(output),
        row("latency" * bool(times), span, latencies_us=[round(time, 3) for time in times]),
    )
    following = "" if output is None else f"Next: forestcoll import {output} -o network.json"
    return Page(f"{ranks} on {hosts}", (*facts, _table(measurements.measurements), following))


def _table(measured: Sequence[Measurement]) -> Table:
    """Return a row for each kind; a bandwidth is that of all sends of a measurement together."""
    rows = []
    for kind in dict.fromkeys(each.kind for each in measured):
        values = [each.size / float(each.seconds) / 1e9 for each in measured if each.kind == kind]
        rows.append((kind, len(values), min(values), max(values)))
    return Table(_COLUMNS, tuple(rows), key="measurements")
