"""Optima, bounds, and schedules of each kind."""
