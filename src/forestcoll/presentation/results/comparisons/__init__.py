"""Comparisons of algorithms and of changed networks."""
