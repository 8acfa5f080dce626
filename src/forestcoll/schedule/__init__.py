"""Schedules and proofs as values and files: a folder for each kind of schedule, a file for each kind of proof."""
