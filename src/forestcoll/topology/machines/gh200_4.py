"""Nodes of four NVIDIA GH200, as in Alps: NVLinks between every two, one 200 Gb/s NIC per GPU; latencies of the H200.

A Hopper GPU has eighteen NVLinks, 450 GB/s each way; six lead to each of the three others. So 150 GB/s each way between
two GPUs is derived; the papers and CSCS give the links, and not this figure. A NIC carries 25 GB/s each way.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.machines.hgx_a100_4 import HgxA1004
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "gh200-4",
    summary="4 NVIDIA GH200 joined by NVLinks without a switch, a 200 Gb/s NIC for each (150 GB/s a pair is derived)",
    source="D. De Sensi et al., Exploring GPU-to-GPU Communication (arXiv:2408.14090); docs.cscs.ch/alps/hardware",
)
@dataclass(frozen=True)
class Gh2004(HgxA1004):
    """Nodes of four GH200."""

    nvlink_bandwidth: Fraction = link_bandwidth(150, "GB/s each way between two GPUs of a node")
