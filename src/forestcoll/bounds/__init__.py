"""What no schedule can beat, exactly, with the cut that proves it."""

from forestcoll.bounds.demand import Demand
from forestcoll.bounds.optimum import Optimum
from forestcoll.bounds.throughput import best_of, optima_by_trees, optimum, optimum_without_relays

__all__ = ["Demand", "Optimum", "best_of", "optima_by_trees", "optimum", "optimum_without_relays"]
