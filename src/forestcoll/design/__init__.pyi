# The public names of the room, each declared here once: `__init__.py` imports them on first use.
from .given import base_network as base_network
from .realisation import schedule_of as schedule_of
from .realisation import topology_of as topology_of
from .search.exchanges import exchange_frontier as exchange_frontier
from .search.finder import Frontier as Frontier
from .search.finder import TopologyFinder as TopologyFinder
