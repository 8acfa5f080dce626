# The public names of the room, each declared here once: `__init__.py` imports them on first use.
from .failover import FailoverSet as FailoverSet
from .failover import write_failover as write_failover
from .study import Study as Study
from .study import changes_of as changes_of
from .upgrades import Upgrade as Upgrade
from .upgrades import UpgradeStudy as UpgradeStudy
