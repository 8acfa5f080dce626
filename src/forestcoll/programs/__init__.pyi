# The public names of the room, each declared here once: `__init__.py` imports them on first use.
from .formats.exporting import Target as Target
from .formats.judging import Judgement as Judgement
from .formats.judging import judge_file as judge_file
from .lowering import Lowering as Lowering
from .lowering import lower as lower
