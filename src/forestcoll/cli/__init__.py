"""The command line: one file per command. Commands contain no logic and import large modules only when they run."""

from forestcoll.cli.main import main

__all__ = ["main"]
