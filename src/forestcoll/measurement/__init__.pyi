# The public names of the room, each declared here once: `__init__.py` imports them on first use.
from .fit import FitModel as FitModel
from .fit import FittedCosts as FittedCosts
from .fit import MeasuredTimes as MeasuredTimes
from .fit import read_times as read_times
