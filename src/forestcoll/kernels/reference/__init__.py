"""The core in plain Python: each algorithm as the paper states it, kept simple; for tests and unbounded integers."""

from forestcoll.kernels.reference.all_to_all import distance_sum as distance_sum
from forestcoll.kernels.reference.all_to_all import spread_all_to_all as spread_all_to_all
from forestcoll.kernels.reference.bottleneck import bottleneck as bottleneck
from forestcoll.kernels.reference.bottleneck import supply_reaches_all as supply_reaches_all
from forestcoll.kernels.reference.breadth_first import broadcast_breadth_first as broadcast_breadth_first
from forestcoll.kernels.reference.chunk_taking import take_chunks as take_chunks
from forestcoll.kernels.reference.network import Problem as Problem
from forestcoll.kernels.reference.packing import TreeBatches as TreeBatches
from forestcoll.kernels.reference.packing import pack_trees as pack_trees
from forestcoll.kernels.reference.packing import tree_capacity as tree_capacity
from forestcoll.kernels.reference.routing import grow_base_trees as grow_base_trees
from forestcoll.kernels.reference.routing import grow_trees as grow_trees
from forestcoll.kernels.reference.routing import route_trees as route_trees
from forestcoll.kernels.reference.shallow_trees import grow_shallow as grow_shallow
from forestcoll.kernels.reference.switches import LogicalNetwork as LogicalNetwork
from forestcoll.kernels.reference.switches import remove_switches as remove_switches
from forestcoll.kernels.reference.switches import split_capacity as split_capacity
from forestcoll.kernels.reference.taking_turns import take_turns as take_turns
