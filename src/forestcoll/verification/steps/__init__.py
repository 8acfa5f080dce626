"""The verifier of schedules of steps."""
