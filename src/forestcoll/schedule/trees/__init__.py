"""Schedules of trees: forests whose trees all work at the same time."""
