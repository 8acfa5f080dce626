"""Mutation testing: the changes, the processes that run tests on them, and the list of explained changes."""
