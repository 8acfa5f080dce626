"""A cluster of any machine: boxes, NICs, leaf, spine and core switches with oversubscription, planes, or a torus.

`box` is one box of a machine, or a file of one host. The other parameters say what no file of a host can: how many
boxes there are, and what joins them. Ready names with published numbers are machines: `superpod-h100`, `aws-p5` and so
on. docs/clusters.md has a figure and examples.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

from forestcoll.base.errors import InputError
from forestcoll.base.parameters import (
    bandwidths,
    derived_bandwidth,
    derived_integer,
    dimensions,
    flag,
    flags,
    integer,
    positive,
    text,
)
from forestcoll.topology.clusters.joining.box import Box, box_of
from forestcoll.topology.clusters.joining.cluster import Cluster, ClusterRecipe, Torus
from forestcoll.topology.clusters.joining.fabric import Fabric
from forestcoll.topology.clusters.joining.nics import Nics
from forestcoll.topology.registry import topology_builder

_BOXES = 2


@topology_builder(
    "cluster",
    summary="boxes of a machine, or of a file of one host, joined by leaf and spine switches or as a torus",
    source="the box has the numbers of its machine or its file; all others are parameters",
)
@dataclass(frozen=True)
class AnyCluster(ClusterRecipe):
    """Boxes of any kind, joined by NICs and switches, by the links of a torus, or by both."""

    box: str = text("dgx-a100", "a machine such as dgx-h100, or a file of one host", "one box: a machine or a file")
    boxes: int | None = derived_integer(f"{_BOXES}, or those of dims", "boxes", minimum=1)
    nics: int | None = derived_integer("those of the box, none with dims", "NICs of each box", minimum=1)
    nic_bandwidth: Fraction | None = derived_bandwidth("that of the box", "GB/s each way of a NIC, over all planes")
    pcie_bandwidth: Fraction | None = derived_bandwidth(
        "no limit", "GB/s each way between a GPU, or a shared NIC, and PCIe"
    )
    rails: int = integer(
        1, "leaf switches over which the NICs of a box are spread: nics is rail-optimised, 1 top-of-rack"
    )
    planes: int = integer(1, "planes: fabrics that share the bandwidth of each NIC", maximum=64)
    boxes_per_leaf: int | None = derived_integer("all boxes", "boxes of each leaf switch", minimum=1)
    oversubscription: Fraction = positive(1, "bandwidth down divided by bandwidth up, of each leaf switch")
    pod_leaves: int | None = derived_integer("all leaf switches", "leaf switches of each pod, by plane", minimum=1)
    pod_oversubscription: Fraction = positive(1, "bandwidth down divided by bandwidth up, of each pod")
    global_bandwidth: Fraction | None = derived_bandwidth(
        "none", "GB/s each way between each pair of pods, or leaf switches if there are no pods, in place of a core"
    )
    sharp: bool = flag("leaf, spine and core switches multicast and aggregate (SHARP)")
    dims: tuple[int, ...] | None = dimensions(None, "boxes along each dimension of a torus", default_text="no torus")
    dim_bandwidth: tuple[Fraction, ...] | None = bandwidths(
        "none", "GB/s each way between equal GPUs of neighbouring boxes, one or by dimension"
    )
    wrap: tuple[bool, ...] = flags((True,), "whether the lines of the torus close to rings, one or by dimension")

    def problem(self) -> str | None:
        return self._problem_of_torus() or super().problem()

    def _problem_of_torus(self) -> str | None:
        if self.dims is None:
            unused = self.dim_bandwidth is not None or self.wrap != (True,)
            return "dim_bandwidth and wrap are for a torus of boxes; set dims too" if unused else None
        if self.boxes is not None and self.boxes != prod(self.dims):
            return f"dims have {prod(self.dims)} boxes, but boxes is {self.boxes}; leave boxes out"
        if self.dim_bandwidth is None:
            return "dims need dim_bandwidth, the GB/s between GPUs of neighbouring boxes; give one number or several"
        for name, values in (("dim_bandwidth", self.dim_bandwidth), ("wrap", self.wrap)):
            if len(values) not in {1, len(self.dims)}:
                return f"{name} has {len(values)} values for {len(self.dims)} dimensions; give one, or one by dimension"
        return self._problem_of_fabric()

    def _problem_of_fabric(self) -> str | None:
        """Return what is wrong if a torus has no NICs, but parameters of NICs or switches are given."""
        given = (self.nic_bandwidth, self.pcie_bandwidth, self.boxes_per_leaf, self.pod_leaves, self.global_bandwidth)
        numbers = (self.rails, self.planes, self.oversubscription, self.pod_oversubscription)
        if self.nics is None and (
            any(each is not None for each in given) or self.sharp or any(each != 1 for each in numbers)
        ):
            return "a torus has no NICs and no switches unless nics is given; give nics too"
        return None

    def cluster(self) -> Cluster:
        boxes = self.boxes or (_BOXES if self.dims is None else prod(self.dims))
        if self.dims is not None and self.nics is None:
            return Cluster(self._box, boxes, torus=self._torus)
        nics = Nics(self._box, self.nics, self.nic_bandwidth, self.pcie_bandwidth, self.planes)
        fabric = Fabric(
            boxes=boxes,
            nics=nics.count,
            rails=self.rails,
            planes=self.planes,
            boxes_per_leaf=self.boxes_per_leaf,
            oversubscription=self.oversubscription,
            pod_leaves=self.pod_leaves,
            pod_oversubscription=self.pod_oversubscription,
            global_bandwidth=self.global_bandwidth,
            sharp=self.sharp,
        )
        return Cluster.of(self._box, fabric, nics=nics, torus=self._torus)

    def assumed(self) -> tuple[str, ...]:
        return tuple(f"box {self.box}: {text}" for text in self._box.assumed)

    @cached_property
    def _box(self) -> Box:
        try:
            return box_of(self.box, own_nics=self.nics is None)
        except InputError as error:
            raise InputError(f"cluster: {error}") from None

    @property
    def _torus(self) -> Torus | None:
        if self.dims is None:
            return None
        count = len(self.dims)
        bandwidths = self.dim_bandwidth or ()
        wrap = self.wrap if len(self.wrap) == count else self.wrap * count
        return Torus(self.dims, bandwidths if len(bandwidths) == count else bandwidths * count, wrap)
