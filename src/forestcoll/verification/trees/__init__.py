"""The judge of schedules of trees."""
