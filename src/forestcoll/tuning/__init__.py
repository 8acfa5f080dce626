"""The best programs in the simulator: of one schedule (`programs/`), and of all schedules for each message size."""

from forestcoll.tuning.costs import ProgramCosts
from forestcoll.tuning.tune import SIZES, tune
from forestcoll.tuning.value import Curve, SizeRange, Tuning

__all__ = ["SIZES", "Curve", "ProgramCosts", "SizeRange", "Tuning", "tune"]
