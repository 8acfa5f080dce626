"""Pictures of what the other modules make. PNG files need resvg-py, which is an optional extra."""
