"""The core in plain Python: each algorithm as the paper states it, kept simple; for tests and unbounded integers."""

from forestcoll.core.reference.all_to_all import distance_sum, spread_all_to_all
from forestcoll.core.reference.bottleneck import bottleneck, feeds
from forestcoll.core.reference.breadth_first import broadcast_breadth_first
from forestcoll.core.reference.network import Problem
from forestcoll.core.reference.packing import TreeBatches, pack_trees, tree_capacity
from forestcoll.core.reference.routing import grow_base_trees, grow_trees, route_trees
from forestcoll.core.reference.switches import LogicalNetwork, remove_switches, split_capacity

__all__ = [
    "LogicalNetwork",
    "Problem",
    "TreeBatches",
    "bottleneck",
    "broadcast_breadth_first",
    "distance_sum",
    "feeds",
    "grow_base_trees",
    "grow_trees",
    "pack_trees",
    "remove_switches",
    "route_trees",
    "split_capacity",
    "spread_all_to_all",
    "tree_capacity",
]
