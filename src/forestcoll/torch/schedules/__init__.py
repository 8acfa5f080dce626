"""The schedules of the backend: computed once, agreed by all ranks, and run by communicators."""
