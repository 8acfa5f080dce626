"""Broadcasts where a node sends to one neighbour at a time: a series of messages, or one message.

The paper is Legrand, Beaumont, Marchal and Robert, *Optimizing the steady-state throughput of Broadcasts on
heterogeneous platforms* (INRIA RR-4871, 2003). Section numbers in docstrings refer to this paper.
"""

from forestcoll.oneport.platform.platform import Platform
from forestcoll.oneport.series.comparison import SeriesComparison, SeriesKind, compare_series
from forestcoll.oneport.series.optimum import SteadyOptimum, steady_optimum
from forestcoll.oneport.series.periodic import periodic_schedule

__all__ = [
    "Platform",
    "SeriesComparison",
    "SeriesKind",
    "SteadyOptimum",
    "compare_series",
    "periodic_schedule",
    "steady_optimum",
]
