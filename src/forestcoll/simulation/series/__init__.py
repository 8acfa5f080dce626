"""Times of periodic schedules: a closed form, and a simulation message by message."""
