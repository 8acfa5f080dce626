"""What is said of the measurements of a cluster: counts, the range of bandwidths of each kind, and what to do next."""

from collections.abc import Sequence
from pathlib import Path

from forestcoll.base.errors import plural
from forestcoll.base.units import BANDWIDTH_UNIT
from forestcoll.presentation.tables import Column, Page, Table, labelled
from forestcoll.presentation.text import path_text, written_to
from forestcoll.topology.importers.measurements.document import Measurement, Measurements

_COLUMNS = (
    Column("measurement", key="kind"),
    Column("count", right=True, key="count"),
    Column(f"least ({BANDWIDTH_UNIT})", lambda value: f"{value:.4g}", right=True, key="least_bandwidth"),
    Column(f"greatest ({BANDWIDTH_UNIT})", lambda value: f"{value:.4g}", right=True, key="greatest_bandwidth"),
)


def probe_document(measurements: Measurements, output: Path | None) -> dict[str, object]:
    """Return the JSON of measurements: counts, and for each kind the bandwidths of all sends of a measurement."""
    return {
        "hosts": len(measurements.hosts),
        "ranks": measurements.size,
        "backend": measurements.backend,
        "repeat": measurements.repeat,
        "unit": BANDWIDTH_UNIT,
        "measurements": _table(measurements.measurements).documents(),
        "latencies_us": [round(float(each.seconds * 10**6), 3) for each in measurements.latencies],
        "output": path_text(output),
    }


def probe_page(measurements: Measurements, output: Path | None) -> Page:
    """Return what a person reads of measurements."""
    hosts, ranks = plural(len(measurements.hosts), "host"), plural(measurements.size, "rank")
    facts = [("backend", measurements.backend), ("written", written_to(output))]
    if measurements.latencies:
        times = [float(each.seconds * 10**6) for each in measurements.latencies]
        facts.append(("latency", f"{min(times):.1f} to {max(times):.1f} us"))
    following = "" if output is None else f"Next: forestcoll import {output} -o network.json"
    return Page(f"{ranks} on {hosts}", (labelled(facts), _table(measurements.measurements), following))


def _table(measured: Sequence[Measurement]) -> Table:
    """Return a row for each kind; a bandwidth is that of all sends of a measurement together."""
    rows = []
    for kind in dict.fromkeys(each.kind for each in measured):
        values = [each.size / float(each.seconds) / 1e9 for each in measured if each.kind == kind]
        rows.append((kind, len(values), min(values), max(values)))
    return Table(_COLUMNS, tuple(rows))
