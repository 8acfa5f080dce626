"""Packs Steiner trees into a network: the optimum of an allreduce where relays or switches copy and add up data."""
