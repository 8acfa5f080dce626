# The public names of the room, each declared here once: `__init__.py` imports them on first use.
from .reading import read_verified as read_verified
from .report import BundleReport as BundleReport
from .report import Fault as Fault
from .report import FlowReport as FlowReport
from .report import LinkLoad as LinkLoad
from .report import Report as Report
from .report import SeriesReport as SeriesReport
from .report import StepReport as StepReport
from .report import TreeReport as TreeReport
from .verifiers import certified as certified
from .verifiers import rules as rules
from .verifiers import verify as verify
