"""The time of schedules of flows."""
