"""Measurements of real machines."""
