"""Schedules: one folder for each kind, with its value, its shape and its document."""
