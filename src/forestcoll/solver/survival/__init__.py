"""Schedules of trees that survive any single failure of a kind, with the greatest algbw of the trees that are left."""
