"""The best schedule and program of a collective for each range of message sizes.

`tune` compares candidates by the time of their programs, `write_tuning` writes a folder that runtimes read.
"""

from forestcoll.tuning.costs import ProgramCosts
from forestcoll.tuning.folder import check_tuning_folder, write_tuning
from forestcoll.tuning.tune import SIZES, tune
from forestcoll.tuning.value import Curve, SizeRange, Tuning

__all__ = ["SIZES", "Curve", "ProgramCosts", "SizeRange", "Tuning", "check_tuning_folder", "tune", "write_tuning"]
