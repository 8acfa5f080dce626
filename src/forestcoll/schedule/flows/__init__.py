"""Schedules of flows: data of its own for each pair of nodes, along routes."""
