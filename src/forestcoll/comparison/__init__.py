"""The optimum next to other algorithms and to files of other tools: how fast each is, and what limits it."""

from forestcoll.comparison.comparing import compare
from forestcoll.comparison.cuts import CutTraffic
from forestcoll.comparison.value import Comparison, Row, Skipped

__all__ = ["Comparison", "CutTraffic", "Row", "Skipped", "compare"]
