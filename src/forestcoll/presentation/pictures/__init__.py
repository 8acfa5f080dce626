"""Pictures of what the other modules make. They need matplotlib, which is an optional extra."""
