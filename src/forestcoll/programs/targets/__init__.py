"""Targets: the formats of programs that `export` writes, each in a file of its own."""
