"""The measurements of `forestcoll probe`: templates are fitted to them, and figures are rounded to plausible speeds."""

from dataclasses import dataclass

from forestcoll.base.errors import plural
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.measurements.document import FORMAT, Measurement, Measurements, measurements_of
from forestcoll.topology.importers.measurements.fitting import Fit
from forestcoll.topology.importers.measurements.network import Bandwidths, fill
from forestcoll.topology.importers.measurements.templates import NetworkTemplate, best_shape
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import Source

_BAD = 0.1
"""The error above which a measurement is listed."""

_MOST_LISTED = 8


@importers.add("measurements", summary="the measurements of forestcoll probe", tried=60)
@dataclass(frozen=True)
class ProbeMeasurements(Importer):
    """Reads the measurements of forestcoll probe."""

    rounding: int | str | None = option("rounding")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text is a JSON object with the mark of the file near its beginning."""
        return text.lstrip().startswith("{") and f'"{FORMAT}"' in text[:1000]

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the network that fits the measurements best."""
        measurements = measurements_of(source)
        builder = TopologyBuilder(source.stem, where=source.where)
        shape = best_shape(measurements)
        _say_shape(shape, notes)
        fit = shape.fit()
        fill(builder, shape, Bandwidths(fit, self.rounding == "speeds", notes))
        _say_errors(measurements, fit, notes)
        return builder


def _say_shape(shape: NetworkTemplate, notes: Notes) -> None:
    """Note which template was chosen."""
    hosts = shape.measurements.hosts
    several = [place for place, host in enumerate(hosts) if len(host.ranks) > 1]
    direct = [place for place in several if place in shape.direct]
    if len(direct) < len(several):
        notes.assume("the ranks of a box are ports of one switch: one rank to all others is as fast as to one")
    if direct and any(len(hosts[place].ranks) > 2 for place in direct):
        notes.assume("the ranks of a box have direct links: one rank to all others is faster than to one")
    elif direct:
        notes.assume("the two ranks of a box have a direct link; a switch would not be different")
    if len(hosts) > 1:
        _say_outside(shape, notes)


def _say_outside(shape: NetworkTemplate, notes: Notes) -> None:
    if shape.is_behind:
        notes.assume(
            "the NIC is behind the switch of the box: a rank sends to its box and to the outside over one port"
        )
    elif shape.nics:
        groups = len(set(shape.nics.values()))
        notes.assume(f"{len(shape.nics)} ranks share {plural(groups, 'NIC')}: two of them together are as fast as one")
    elif not shape.has_host_link:
        notes.assume("each rank has a NIC of its own: together, the ranks of a host are as fast as their sum")
    if shape.has_host_link and not shape.is_behind:
        notes.assume("all ranks of a host share one link to the outside: together, they are slower than their sum")
    if shape.leaves:
        leaves = plural(len(set(shape.leaves)), "leaf switch", "leaf switches")
        notes.assume(f"{len(shape.leaves)} hosts are below {leaves}, neighbours together, with an uplink each")
    else:
        notes.assume("one switch joins the hosts, and is never the bottleneck")


def _say_errors(measurements: Measurements, fit: Fit, notes: Notes) -> None:
    """Note the measurements that fit badly, the worst first."""
    rated = sorted(zip(fit.errors, measurements.measurements, strict=True), key=lambda each: -abs(each[0]))
    worst = abs(rated[0][0])
    notes.assume(
        f"before rounding, the network fits the {len(rated)} measurements with errors up to {worst:.1%}, "
        f"{sum(map(abs, fit.errors)) / len(rated):.1%} on average"
    )
    bad = [each for each in rated if abs(each[0]) > _BAD]
    for error, measurement in bad[:_MOST_LISTED]:
        rate = measurement.size / float(measurement.seconds) / 1e9
        notes.assume(
            f"fits badly: {_named(measurement)}: {rate:.4g} GB/s measured, {rate / (1 + error):.4g} GB/s by the fit "
            f"({error:+.0%})"
        )
    if len(bad) > _MOST_LISTED:
        notes.assume(f"{len(bad) - _MOST_LISTED} more measurements have errors above {_BAD:.0%}")


def _named(measurement: Measurement) -> str:
    flows = [f"{flow.source} -> {flow.target}" for flow in measurement.flows]
    more = "" if len(flows) <= 2 else f" and {len(flows) - 2} more"
    return f"{measurement.kind}, ranks {', '.join(flows[:2])}{more}"
