"""The interpreter: runs a program on symbolic data, and proves that it is right or reports its first fault."""

from forestcoll.programs.interpreter.checking import ProgramReport, check

__all__ = ["ProgramReport", "check"]
