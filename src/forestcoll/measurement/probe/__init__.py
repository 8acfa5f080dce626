"""Measures a cluster by sends between its ranks: what to measure, how data is sent, and the file of the results."""

from forestcoll.measurement.probe.measuring import ProbeRequest, probe

__all__ = ["ProbeRequest", "probe"]
