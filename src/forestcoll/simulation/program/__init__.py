"""Times of programs, event by event."""
