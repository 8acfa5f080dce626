"""A comparison of the optimum with well-known algorithms and with schedules from files."""

from forestcoll.comparison.comparing import compare
from forestcoll.comparison.cuts import CutTraffic
from forestcoll.comparison.value import Comparison, Row, Skipped

__all__ = ["Comparison", "CutTraffic", "Row", "Skipped", "compare"]
