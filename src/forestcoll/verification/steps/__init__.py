"""The judge of schedules of steps."""
