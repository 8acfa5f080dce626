"""Fits the bandwidths of resources to measurements, and says how well they fit.

A resource is what sends can share: a port, a link, a NIC, an uplink. A template says which resources a send uses. A
measurement takes at least as long as its busiest resource, load / bandwidth, and this is what the fit predicts. First,
the bandwidth of a resource is the greatest rate that any measurement sent through it. Then it is the median of the
rates of the measurements that it limits.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forestcoll.topology.importers.measurements.document import Measurement, Probe

Resource = tuple[str | int, ...]
"""The kind of a resource, and the ranks, the host or the leaf that it belongs to."""

Template = Callable[[Probe], Sequence[Resource]]

_NEARLY = 0.85
"""A resource with at least this part of the time of the busiest one counts as limiting, too."""


@dataclass(frozen=True)
class Load:
    """What a measurement sends through one resource.

    Attributes:
        resource: the resource.
        rate: GB/s, until the last of these sends has ended.
        size: the bytes.
    """

    resource: Resource
    rate: float
    size: int


@dataclass(frozen=True)
class Fit:
    """Bandwidths of resources that fit measurements.

    Attributes:
        bandwidths: GB/s of each resource.
        errors: for each measurement, its bandwidth divided by the predicted one, minus 1.
    """

    bandwidths: dict[Resource, float]
    errors: tuple[float, ...]


def score_of(errors: Sequence[float]) -> float:
    """Return the mean distance of predictions, 0 for a perfect fit; an error of 10 % has the distance 0.1."""
    return statistics.fmean(abs(math.log1p(error)) for error in errors) if errors else 0.0


def fit_of(measurements: Sequence[Measurement], template: Template) -> Fit:
    """Return the bandwidths of all resources that measurements use."""
    loads = [_loads(each, template) for each in measurements]
    greatest: dict[Resource, float] = {}
    for load in (load for each in loads for load in each):
        greatest[load.resource] = max(load.rate, greatest.get(load.resource, 0.0))
    limited: dict[Resource, list[float]] = {}
    for each in loads:
        busiest = _seconds(each, greatest)
        for load in each:
            if load.size / greatest[load.resource] >= _NEARLY * busiest:
                limited.setdefault(load.resource, []).append(load.rate)
    bandwidths = greatest | {resource: statistics.median(rates) for resource, rates in limited.items()}
    errors = [
        _seconds(each, bandwidths) / (max(flow.duration for flow in measured.flows) * 1e9) - 1
        for each, measured in zip(loads, measurements, strict=True)
    ]
    return Fit(bandwidths, tuple(errors))


def _loads(measurement: Measurement, template: Template) -> list[Load]:
    sizes: dict[Resource, int] = {}
    seconds: dict[Resource, float] = {}
    for flow in measurement.flows:
        for resource in template(flow):
            sizes[resource] = sizes.get(resource, 0) + flow.size
            seconds[resource] = max(flow.duration, seconds.get(resource, 0.0))
    return [Load(each, size / seconds[each] / 1e9, size) for each, size in sizes.items()]


def _seconds(loads: Sequence[Load], bandwidths: dict[Resource, float]) -> float:
    """Return the time of the busiest resource, in units of 10^-9 s."""
    return max(load.size / bandwidths[load.resource] for load in loads)
