"""Breadth-first broadcast (BFB): the fastest step schedule over shortest paths, for any direct network (§6)."""

from forestcoll.generation.bfb.allgather import bfb

__all__ = ["bfb"]
