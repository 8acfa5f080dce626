"""The parameters of the cost model that explain measured times best."""

from forestcoll.fitting.fit import FittedCosts, fit_costs
from forestcoll.fitting.measurements import MeasuredTimes
from forestcoll.fitting.parameters import FitModel
from forestcoll.fitting.sources import read_times

__all__ = ["FitModel", "FittedCosts", "MeasuredTimes", "fit_costs", "read_times"]
