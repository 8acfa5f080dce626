"""The time of one training iteration on a network: data parallelism with buckets, experts with all-to-all (A.4)."""

from forestcoll.design.workloads.iteration import DEFAULT_BUCKETS, Iteration, best_iteration, iterate
from forestcoll.design.workloads.network import NetworkRates, network_of_costs, network_of_file
from forestcoll.design.workloads.profile import Layer, Profile, read_profile, write_profile

__all__ = [
    "DEFAULT_BUCKETS",
    "Iteration",
    "Layer",
    "NetworkRates",
    "Profile",
    "best_iteration",
    "iterate",
    "network_of_costs",
    "network_of_file",
    "read_profile",
    "write_profile",
]
