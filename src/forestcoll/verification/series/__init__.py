"""The judge of periodic schedules."""
