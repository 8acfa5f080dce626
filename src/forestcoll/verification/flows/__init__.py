"""The verifier of schedules of flows."""
