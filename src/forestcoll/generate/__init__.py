"""Generators of schedules."""

from forestcoll.generate.forest import generate, schedule_for

__all__ = ["generate", "schedule_for"]
