"""Algorithms that work in steps with a barrier after each, one per file."""
