"""The core in plain Python: each algorithm as the paper states it, kept simple; for tests and unbounded integers."""

from forestcoll.kernels.reference.all_to_all import distance_sum, spread_all_to_all
from forestcoll.kernels.reference.bottleneck import bottleneck, supply_reaches_all
from forestcoll.kernels.reference.breadth_first import broadcast_breadth_first
from forestcoll.kernels.reference.network import Problem
from forestcoll.kernels.reference.packing import TreeBatches, pack_trees, tree_capacity
from forestcoll.kernels.reference.routing import grow_base_trees, grow_trees, route_trees
from forestcoll.kernels.reference.switches import LogicalNetwork, remove_switches, split_capacity

__all__ = [
    "LogicalNetwork",
    "Problem",
    "TreeBatches",
    "bottleneck",
    "broadcast_breadth_first",
    "distance_sum",
    "grow_base_trees",
    "grow_trees",
    "pack_trees",
    "remove_switches",
    "route_trees",
    "split_capacity",
    "spread_all_to_all",
    "supply_reaches_all",
    "tree_capacity",
]
