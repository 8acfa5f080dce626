"""Bundles: schedules of several groups that run at the same time on one network."""
