# The public names of the room, each declared here once: `__init__.py` imports them on first use.
from .costs import ProgramCosts as ProgramCosts
from .tune import SIZES as SIZES
from .value import Curve as Curve
from .value import SizeRange as SizeRange
from .value import Tuning as Tuning
