"""GOAL schedules in text form, as LogGOPSim and ATLAHS convert and simulate them."""

from forestcoll.programs.formats.goal.document import Goal as Goal
from forestcoll.programs.formats.goal.document import Header as Header
from forestcoll.programs.formats.goal.document import Operation as Operation
from forestcoll.programs.formats.goal.document import OperationKind as OperationKind
from forestcoll.programs.formats.goal.from_program import from_program as from_program
from forestcoll.programs.formats.goal.reading import looks_like_goal as looks_like_goal
from forestcoll.programs.formats.goal.reading import parse_goal as parse_goal
from forestcoll.programs.formats.goal.rules import goal_fault as goal_fault
from forestcoll.programs.formats.goal.rules import goal_remarks as goal_remarks
from forestcoll.programs.formats.goal.to_program import to_program as to_program
from forestcoll.programs.formats.goal.writing import emit as emit
