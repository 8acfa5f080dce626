"""Builders of families of networks, one a file; `forestcoll.topology.registry` finds them."""
