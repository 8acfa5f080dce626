# The public names of the room, each declared here once: `__init__.py` imports them on first use.
from .results.programs.tuning_folder import write_tuning as write_tuning
from .view.pairs import side_by_side_svg as side_by_side_svg
from .view.view import View as View
from .view.view import write_view as write_view
