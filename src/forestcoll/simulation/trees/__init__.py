"""Times of schedules of trees."""
