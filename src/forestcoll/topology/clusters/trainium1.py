"""AWS trn1.32xlarge: sixteen Trainium chips in a 4 x 4 torus of NeuronLinks, EFA of 800 Gb/s.

A 4 x 4 torus is also a hypercube of four dimensions, as AWS calls it. AWS publishes 384 GB/s of NeuronLink to a chip.
48 GB/s each way to each of the four neighbours is derived, if this is both directions together, as for Trainium2. The
instance has 800 Gb/s outside, 6.25 GB/s each way to a chip. For trn1n.32xlarge, which has twice of both, use
`trainium1:neuronlink_bandwidth=96,nic_bandwidth=12.5`.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.clusters.trainium2 import Trainium2
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "trainium1",
    summary="AWS trn1.32xlarge: 16 Trainium chips in a 4 x 4 torus, EFA between instances",
    source="awsdocs-neuron.readthedocs-hosted.com, Trn1/Trn1n architecture; 48 GB/s a neighbour is derived",
)
@dataclass(frozen=True)
class Trainium1(Trainium2):
    """Instances of trn1.32xlarge; an instance is a box."""

    neuronlink_bandwidth: Fraction = link_bandwidth(48, "GB/s each way between neighbours of the torus")
    nic_bandwidth: Fraction = link_bandwidth(Fraction(25, 4), "GB/s each way of a chip's share of EFA")
