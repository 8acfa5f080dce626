"""Schedules of trees: forests that work at the same time."""
