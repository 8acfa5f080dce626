"""The bounds of every collective on a network, and the bandwidths that schedules reach."""
