"""The verifier of periodic schedules."""
