"""Messages through a periodic schedule."""
