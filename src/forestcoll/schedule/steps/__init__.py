"""Schedules of steps: at each step, parts of shards cross links."""
