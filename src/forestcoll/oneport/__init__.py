"""Steady-state broadcasts on networks in which each node communicates with one neighbour at a time.

The paper is Legrand, Beaumont, Marchal and Robert, *Optimizing the steady-state throughput of Broadcasts on
heterogeneous platforms* (INRIA RR-4871, 2003). Section numbers in docstrings refer to this paper.
"""

from forestcoll.oneport.comparison import Along, SeriesComparison, compare_series
from forestcoll.oneport.optimum import SteadyOptimum, steady_optimum
from forestcoll.oneport.platform import Platform
from forestcoll.oneport.series import periodic_schedule

__all__ = [
    "Along",
    "Platform",
    "SeriesComparison",
    "SteadyOptimum",
    "compare_series",
    "periodic_schedule",
    "steady_optimum",
]
