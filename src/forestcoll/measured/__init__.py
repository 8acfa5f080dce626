"""Measured bandwidths next to what the network allows."""
