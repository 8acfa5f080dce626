"""Measures collectives between processes, in the manner of nccl-tests, next to the proven bound."""

from forestcoll.measurement.bench.measuring import BenchReport, BenchRow, Listener, Timing, bench
from forestcoll.measurement.bench.request import BenchRequest

__all__ = ["BenchReport", "BenchRequest", "BenchRow", "Listener", "Timing", "bench"]
