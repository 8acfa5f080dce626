"""The switches that join the boxes of a cluster: leaves, spines and a core, in one or more planes.

A leaf switch serves the NICs of one rail of `boxes_per_leaf` boxes, in one plane. If a plane has several leaves, they
have uplinks to a spine, and spines of several pods have uplinks to a core. One switch stands for all spines of a pod,
and one for all switches of the core, because traffic is spread evenly over them. The uplinks of a leaf or a spine have
together the bandwidth of its links downwards, divided by the oversubscription of its level.

With `global_bandwidth`, no core joins the pods, but links between each pair of them: a dragonfly+. If there are no
pods, such links join each pair of leaves, in place of spines: a dragonfly whose groups are one switch each.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

from forestcoll.topology.builder import TopologyBuilder

NicNodes: TypeAlias = list[list[tuple[str, str]]]
"""For each box and each of its NICs, the ids of the node that sends and of the node that receives."""


@dataclass(frozen=True)
class Fabric:
    """The shape of the fabric.

    Attributes:
        boxes: the number of boxes.
        nics: the number of NICs of a box.
        rails: the number of leaf switches, in each plane, over which the NICs of a box are spread.
        planes: the number of planes.
        boxes_per_leaf: the number of boxes of a leaf switch; None for all boxes.
        oversubscription: bandwidth down divided by bandwidth up, of each leaf switch.
        pod_leaves: the number of leaf switches of a pod, in each plane; None if there is one pod.
        pod_oversubscription: bandwidth down divided by bandwidth up, of each pod's spine.
        global_bandwidth: GB/s each way between each pair of pods, or leaves if there are no pods, in place of switches
            above them; None if there are such switches.
        sharp: whether the switches multicast and aggregate.
        partial: whether the last leaf switches and the last pod may be smaller than the others.
    """

    boxes: int
    nics: int
    rails: int
    planes: int = 1
    boxes_per_leaf: int | None = None
    oversubscription: Fraction = Fraction(1)
    pod_leaves: int | None = None
    pod_oversubscription: Fraction = Fraction(1)
    global_bandwidth: Fraction | None = None
    sharp: bool = False
    partial: bool = False

    @property
    def problem(self) -> str | None:
        """What is wrong between the numbers, and how to fix it, or None."""
        if self.nics % self.rails:
            fix = f"make rails a divisor of {self.nics}"
            return f"{self.nics} NICs of a box cannot be spread evenly over {self.rails} rails; {fix}"
        if self.boxes % self._group and not self.partial:
            fix = f"make boxes a multiple of {self._group}"
            return f"{self.boxes} boxes do not fill leaf switches of {self._group} boxes; {fix}"
        if self.leaves == 1 and self.oversubscription != 1:
            fix = "leave oversubscription out, or set boxes_per_leaf or rails"
            return f"there is one leaf switch, which has no uplinks; {fix}"
        return self._problem_of_groups() or self._problem_of_pods()

    def _problem_of_groups(self) -> str | None:
        if self.global_bandwidth is None:
            return None
        if self.groups == 1:
            return "there is one group, so global_bandwidth joins nothing; set boxes_per_leaf, or pod_leaves for pods"
        if self.pod_leaves is None and self.oversubscription != 1:
            return "leaves have no uplinks with global_bandwidth and no pods; leave oversubscription out"
        if self.pod_oversubscription != 1:
            return "pods have no uplinks with global_bandwidth; leave pod_oversubscription out"
        return None

    def _problem_of_pods(self) -> str | None:
        if self.pod_leaves is None:
            if self.pod_oversubscription != 1:
                return "pod_oversubscription is for the uplinks of pods; set pod_leaves too"
            return None
        if self.pod_leaves % self.rails and self.rails % self.pod_leaves:
            fix = f"make pod_leaves a multiple or a divisor of {self.rails}"
            return f"a pod of {self.pod_leaves} leaf switches splits the {self.rails} rails of a box unevenly; {fix}"
        if self.leaves % self.pod_leaves and not self.partial:
            fix = f"make pod_leaves a divisor of {self.leaves}"
            return f"{self.leaves} leaf switches do not fill pods of {self.pod_leaves}; {fix}"
        if self.pods == 1 and self.pod_oversubscription != 1:
            return "there is one pod, which has no uplinks; leave pod_oversubscription out, or make pod_leaves smaller"
        return None

    @property
    def _group(self) -> int:
        """The number of boxes of a full leaf switch."""
        return min(self.boxes, self.boxes_per_leaf or self.boxes)

    @property
    def leaves(self) -> int:
        """The number of leaf switches of a plane."""
        return -(-self.boxes // self._group) * self.rails

    @property
    def pods(self) -> int:
        """The number of pods."""
        return -(-self.leaves // (self.pod_leaves or self.leaves))

    @property
    def groups(self) -> int:
        """The number of groups that `global_bandwidth` joins: pods, or leaf switches if there are no pods."""
        return self.leaves if self.pod_leaves is None else self.pods

    @property
    def links(self) -> int:
        """The number of one-way links that `add` adds."""
        joined = self.global_bandwidth is not None
        uplinks = self.groups * (self.groups - 1) // 2 if joined else self.pods * (self.pods > 1)
        if not joined or self.pod_leaves is not None:
            uplinks += self.leaves * (self.leaves > 1)
        return 2 * self.planes * (self.boxes * self.nics + uplinks)

    def add(self, network: TopologyBuilder, nics: NicNodes, bandwidths: list[Fraction]) -> None:
        """Add the switches and their links.

        Args:
            network: the network, which has the boxes.
            nics: of each box, for each NIC, the ids of the node that sends and of the node that receives.
            bandwidths: GB/s each way of each NIC of a box, over all planes.
        """
        for plane in range(self.planes):
            self._add_plane(network, plane, nics, [each / self.planes for each in bandwidths])

    def _add_plane(self, network: TopologyBuilder, plane: int, nics: NicNodes, bandwidths: list[Fraction]) -> None:
        prefix = f"plane{plane}/" if self.planes > 1 else ""
        for leaf in range(self.leaves):
            group, rail = divmod(leaf, self.rails)
            name = self._switch(network, f"{prefix}leaf{leaf}", tier="leaf", plane=plane, rail=rail)
            for box in range(group * self._group, min((group + 1) * self._group, self.boxes)):
                for nic in self._nics_of(rail):
                    out, back = nics[box][nic]
                    network.add_link(out, name, bandwidths[nic])
                    network.add_link(name, back, bandwidths[nic])
        if self.global_bandwidth is not None and self.pod_leaves is None:
            self._join(network, [f"{prefix}leaf{leaf}" for leaf in range(self.leaves)], self.global_bandwidth)
        elif self.leaves > 1:
            ingress = [self._group * sum(bandwidths[nic] for nic in self._nics_of(rail)) for rail in range(self.rails)]
            self._add_spines(network, plane, prefix, [each / self.oversubscription for each in ingress])

    def _switch(self, network: TopologyBuilder, name: str, **attributes: object) -> str:
        return str(network.add_switch(name, multicast=self.sharp, aggregation=self.sharp, **attributes))

    @staticmethod
    def _join(network: TopologyBuilder, groups: list[str], bandwidth: Fraction) -> None:
        for one, other in combinations(groups, 2):
            network.add_duplex(one, other, bandwidth)

    def _nics_of(self, rail: int) -> range:
        size = self.nics // self.rails
        return range(rail * size, (rail + 1) * size)

    def _add_spines(self, network: TopologyBuilder, plane: int, prefix: str, uplinks: list[Fraction]) -> None:
        """Add the spine of each pod and the core; `uplinks` is the bandwidth of a leaf's uplinks, by its rail."""
        size = self.pod_leaves or self.leaves
        core = f"{prefix}core"
        for pod in range(self.pods):
            pod_name = f"pod{pod}/" if self.pods > 1 else ""
            spine = self._switch(network, f"{prefix}{pod_name}spine", tier="spine", plane=plane)
            for leaf in range(pod * size, min((pod + 1) * size, self.leaves)):
                network.add_duplex(f"{prefix}leaf{leaf}", spine, uplinks[leaf % self.rails])
        if self.global_bandwidth is not None:
            self._join(network, [f"{prefix}pod{pod}/spine" for pod in range(self.pods)], self.global_bandwidth)
        elif self.pods > 1:
            self._switch(network, core, tier="core", plane=plane)
            for pod in range(self.pods):
                ingress = sum((uplinks[leaf % self.rails] for leaf in range(pod * size, (pod + 1) * size)), Fraction(0))
                network.add_duplex(f"{prefix}pod{pod}/spine", core, ingress / self.pod_oversubscription)
