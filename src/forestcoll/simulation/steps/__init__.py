"""Times of schedules of steps."""
