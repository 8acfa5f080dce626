"""The topology finder: base networks, factors, frontiers and sweeps."""
