"""Well-known algorithms as step schedules, for comparison. Each algorithm has its own file."""
