"""Broadcasts in a number of steps with the least time for large data: allgather, reduce-scatter, allreduce."""

from forestcoll.solver.generation.step_trees.broadcasts import StepBroadcasts

__all__ = ["StepBroadcasts"]
