"""What no schedule can beat, exactly, with the cut that proves it."""

from forestcoll.bounds.throughput import Optimum, optimum

__all__ = ["Optimum", "optimum"]
