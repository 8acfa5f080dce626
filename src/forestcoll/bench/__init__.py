"""Measures collectives between processes, in the manner of nccl-tests, next to the proven bound."""

from forestcoll.bench.measuring import BenchReport, Listener, Row, Timing, bench
from forestcoll.bench.request import BenchRequest

__all__ = ["BenchReport", "BenchRequest", "Listener", "Row", "Timing", "bench"]
