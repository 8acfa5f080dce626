"""The parameters of the cost model that explain measured times best."""

from forestcoll.measurement.fit.fit import FittedCosts, fit_costs
from forestcoll.measurement.fit.measurements import MeasuredTimes
from forestcoll.measurement.fit.parameters import FitModel
from forestcoll.measurement.fit.sources import read_times

__all__ = ["FitModel", "FittedCosts", "MeasuredTimes", "fit_costs", "read_times"]
