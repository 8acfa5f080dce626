"""The verifier of schedules of trees."""
