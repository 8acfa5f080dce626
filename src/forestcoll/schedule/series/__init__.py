"""Periodic schedules: a series of broadcasts, period after period."""
