"""Builders of families of networks, one per file; `forestcoll.topology.registry` finds them."""
