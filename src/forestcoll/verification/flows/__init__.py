"""The judge of schedules of flows."""
