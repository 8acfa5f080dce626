# The public names of the room, each declared here once: `__init__.py` imports them on first use.
from .comparison import LogComparison as LogComparison
from .job.explained import JobReport as JobReport
