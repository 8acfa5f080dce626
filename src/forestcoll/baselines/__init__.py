"""Well-known algorithms as schedules on any network, for comparison with the optimum. Each has its own file."""
