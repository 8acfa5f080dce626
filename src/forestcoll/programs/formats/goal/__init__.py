"""GOAL schedules in text form, as LogGOPSim and ATLAHS convert and simulate them."""

from forestcoll.programs.formats.goal.document import Goal, Header, Operation, OperationKind
from forestcoll.programs.formats.goal.from_program import from_program
from forestcoll.programs.formats.goal.reading import looks_like_goal, parse_goal
from forestcoll.programs.formats.goal.rules import goal_fault, goal_remarks
from forestcoll.programs.formats.goal.to_program import to_program
from forestcoll.programs.formats.goal.writing import emit

__all__ = [
    "Goal",
    "Header",
    "Operation",
    "OperationKind",
    "emit",
    "from_program",
    "goal_fault",
    "goal_remarks",
    "looks_like_goal",
    "parse_goal",
    "to_program",
]
