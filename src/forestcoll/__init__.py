"""Forestcoll."""
