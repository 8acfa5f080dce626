"""The interpreter: runs a program on symbolic data, and proves that it is right or reports its first fault."""

from forestcoll.programs.interpreter.checking import ProgramReport, check
from forestcoll.programs.interpreter.stops import STOPS

__all__ = ["STOPS", "ProgramReport", "check"]
