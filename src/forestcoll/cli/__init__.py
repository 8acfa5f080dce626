"""The command line: one file for each command. Commands import large modules only when they run."""

from forestcoll.cli.main import main

__all__ = ["main"]
