# The public names of the room, each declared here once: `__init__.py` imports them on first use.
from .collective import PhaseOp as PhaseOp
from .demand import NodeDemand as NodeDemand
from .groups.layout import Layout as Layout
from .groups.pieces import groups_of_pieces as groups_of_pieces
from .groups.pieces import read_pieces as read_pieces
from .groups.reading import read_groups as read_groups
from .groups.value import Group as Group
from .groups.value import groups_of as groups_of
from .matrix import read_matrix as read_matrix
from .ranks import without_relays as without_relays
