"""Times of programs, by discrete-event simulation."""
