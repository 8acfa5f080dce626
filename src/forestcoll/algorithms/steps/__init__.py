"""Algorithms with barriers on any network, also with switches: each yields the sends of each step."""
