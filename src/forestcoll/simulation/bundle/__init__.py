"""The time of bundles of schedules."""
