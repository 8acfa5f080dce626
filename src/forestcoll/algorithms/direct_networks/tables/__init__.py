"""Allgathers in steps that were found by search, one a file."""
