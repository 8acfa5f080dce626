"""Schedules: one folder a kind, each with its value, its shape and its document."""
