# The public names of the room, each declared here once: `__init__.py` imports them on first use.
from .message.atomic import AtomicHeuristic as AtomicHeuristic
from .message.atomic import AtomicPlan as AtomicPlan
from .message.atomic import atomic_broadcast as atomic_broadcast
from .message.pipeline_bound import PipelineBound as PipelineBound
from .message.pipelined import PipelinePlan as PipelinePlan
from .message.pipelined import pipelined_broadcast as pipelined_broadcast
from .platform.platform import Platform as Platform
from .series.collectives import collective_series as collective_series
from .series.comparison import SeriesComparison as SeriesComparison
from .series.comparison import SeriesKind as SeriesKind
from .series.comparison import compare_series as compare_series
from .series.optimum import SteadyOptimum as SteadyOptimum
from .series.optimum import steady_optimum as steady_optimum
from .series.periodic import periodic_schedule as periodic_schedule
