"""Well-known algorithms as step schedules, to hold others against; one algorithm a file."""
