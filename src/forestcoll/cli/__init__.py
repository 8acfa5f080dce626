"""The command line: one file a command, no logic of its own, nothing heavy imported before a command runs."""

from forestcoll.cli.main import main

__all__ = ["main"]
