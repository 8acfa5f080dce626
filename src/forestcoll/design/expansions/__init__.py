"""Expansions of networks, one a file: the larger network, its cost and its schedule."""
