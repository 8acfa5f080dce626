"""The interpreter: runs a program, and proves it right or names its first fault."""

from forestcoll.interpreter.checking import Verdict, check

__all__ = ["Verdict", "check"]
