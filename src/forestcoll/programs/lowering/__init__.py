"""Lowering: converts schedules into programs."""

from forestcoll.programs.lowering.fitting import excess_of_trees as excess_of_trees
from forestcoll.programs.lowering.lowering import LOWERERS as LOWERERS
from forestcoll.programs.lowering.lowering import UNLIMITED as UNLIMITED
from forestcoll.programs.lowering.lowering import Lowerer as Lowerer
from forestcoll.programs.lowering.lowering import Lowering as Lowering
from forestcoll.programs.lowering.lowering import default_options as default_options
from forestcoll.programs.lowering.lowering import least_instructions as least_instructions
from forestcoll.programs.lowering.lowering import lower as lower
from forestcoll.programs.lowering.lowering import lowerer_for as lowerer_for
from forestcoll.programs.lowering.options import COMFORTABLE_BLOCKS as COMFORTABLE_BLOCKS
from forestcoll.programs.lowering.options import Options as Options
from forestcoll.programs.lowering.options import Placement as Placement
from forestcoll.programs.lowering.options import Style as Style
from forestcoll.programs.lowering.options import usual_placement as usual_placement
from forestcoll.programs.lowering.step_trees import trees_of_steps as trees_of_steps
