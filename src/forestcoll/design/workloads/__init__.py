"""The time of one training iteration on a network: data parallelism with buckets, experts with all-to-all (A.4)."""

from forestcoll.design.workloads.iteration import DEFAULT_BUCKETS as DEFAULT_BUCKETS
from forestcoll.design.workloads.iteration import Iteration as Iteration
from forestcoll.design.workloads.iteration import best_iteration as best_iteration
from forestcoll.design.workloads.iteration import iterate as iterate
from forestcoll.design.workloads.network import NetworkRates as NetworkRates
from forestcoll.design.workloads.network import network_of_costs as network_of_costs
from forestcoll.design.workloads.network import network_of_file as network_of_file
from forestcoll.design.workloads.profile import Layer as Layer
from forestcoll.design.workloads.profile import Profile as Profile
from forestcoll.design.workloads.profile import read_profile as read_profile
from forestcoll.design.workloads.profile import write_profile as write_profile
