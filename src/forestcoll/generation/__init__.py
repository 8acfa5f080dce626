"""Generators of schedules."""

from forestcoll.generation.forest import Method, generate, schedule_for

__all__ = ["Method", "generate", "schedule_for"]
