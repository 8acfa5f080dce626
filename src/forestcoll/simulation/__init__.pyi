# The public names of the room, each declared here once: `__init__.py` imports them on first use.
from .costs import Costs as Costs
from .costs import Point as Point
from .costs import read_costs as read_costs
from .series.play import SeriesRun as SeriesRun
from .series.play import play_series as play_series
from .simulate import Model as Model
from .trees.uses import BlockRate as BlockRate
from .trees.uses import block_rate as block_rate
from .trees.uses import pipeline_overhead as pipeline_overhead
