"""Breadth-first broadcast (BFB): the fastest step schedule over shortest paths, for any direct network (§6)."""

from forestcoll.solver.generation.bfb.allgather import bfb

__all__ = ["bfb"]
