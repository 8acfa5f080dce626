"""NVIDIA DGX SuperPOD with DGX H100: scalable units of 32 boxes, rail-optimised, without oversubscription.

Each of the eight 400 Gb/s NICs of a DGX H100 is on another leaf switch of its scalable unit (rails 0 to 7), and spine
switches join all leaves at full bandwidth. NVIDIA counts 32 boxes to a scalable unit. In its reference architecture one
unit has 31, because the fabric manager takes the ports of a box; set `boxes` to what you have.
"""

from dataclasses import dataclass

from forestcoll.base.parameters import flag
from forestcoll.topology.clusters._published import PublishedCluster
from forestcoll.topology.clusters.joining.fabric import Fabric
from forestcoll.topology.registry import topology_builder

UNIT = 32
"""Boxes of a scalable unit."""


@topology_builder(
    "superpod-h100",
    summary="NVIDIA DGX SuperPOD, DGX H100: 8 rails, scalable units of 32 boxes, full bandwidth",
    source="docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-h100",
)
@dataclass(frozen=True)
class SuperpodH100(PublishedCluster):
    """A SuperPOD of DGX H100."""

    sharp: bool = flag("leaf and spine switches multicast and aggregate (SHARP)")

    def machine(self) -> str:
        return "dgx-h100"

    def fabric(self) -> Fabric:
        return Fabric(boxes=self.boxes, nics=8, rails=8, boxes_per_leaf=UNIT, sharp=self.sharp, partial=True)
