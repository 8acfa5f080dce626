"""Builders of known machines, one a file; `forestcoll.topology.registry` finds them."""
