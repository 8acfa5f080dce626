"""What no schedule can beat, exactly, with the cut that proves it."""

from forestcoll.bounds.throughput import Optimum, best_of, optima_by_trees, optimum

__all__ = ["Optimum", "best_of", "optima_by_trees", "optimum"]
