"""GOAL schedules in text form, as LogGOPSim and ATLAHS convert and simulate them."""

from forestcoll.targets.goal.document import Goal, Header, Kind, Operation
from forestcoll.targets.goal.from_program import from_program
from forestcoll.targets.goal.reading import looks_like_goal, parse_goal
from forestcoll.targets.goal.rules import goal_fault, goal_remarks
from forestcoll.targets.goal.to_program import to_program
from forestcoll.targets.goal.writing import emit

__all__ = [
    "Goal",
    "Header",
    "Kind",
    "Operation",
    "emit",
    "from_program",
    "goal_fault",
    "goal_remarks",
    "looks_like_goal",
    "parse_goal",
    "to_program",
]
