"""Generators of schedules."""

from forestcoll.generation.forest import generate, schedule_for

__all__ = ["generate", "schedule_for"]
