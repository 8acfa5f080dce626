"""What one forest is grown with: a network, who roots how much, and how many trees of which bandwidth."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from operator import sub

from forestcoll.request import Demand
from forestcoll.topology import Topology


@dataclass(frozen=True)
class ForestPlan:
    """A forest that can be grown: `generation` makes its trees.

    Attributes:
        topology: the network that the trees use. Its compute nodes are those that must get all data, or whose data
            must reach the roots: idle compute nodes are switches here, and switches that copy data may be compute
            nodes without data.
        demand: what is asked of this network; all of its compute nodes take part.
        algbw: what the trees reach at least, in the topology's unit.
        trees_per_root: k, how many trees each root has for each unit of its weight.
        unused: of each link, how many more trees would fit on it but must not use it, so that switches stay balanced;
            empty if all may.
    """

    topology: Topology
    demand: Demand
    algbw: Fraction
    trees_per_root: int
    unused: tuple[int, ...] = ()

    @property
    def reduces(self) -> bool:
        """Whether data flows towards the roots."""
        return self.demand.collective.only_reduces

    @property
    def weights(self) -> tuple[int, ...]:
        """Of each compute node its part of the data, as a count of the 1/D that they add up to; D is their sum."""
        return self.demand.weights(self.topology)

    @property
    def trees(self) -> int:
        """How many trees there are, equal ones counted as often as they occur."""
        return self.trees_per_root * sum(self.weights)

    @property
    def tree_bandwidth(self) -> Fraction:
        """y, the bandwidth that each tree gets, in the topology's unit."""
        return self.algbw / self.trees

    def tree_capacities(self) -> tuple[int, ...]:
        """Return of each link how many trees may use it: its bandwidth by `tree_bandwidth`, rounded down."""
        bandwidth = self.tree_bandwidth
        whole = tuple(floor(link.bandwidth / bandwidth) for link in self.topology.links)
        return tuple(map(sub, whole, self.unused)) if self.unused else whole

    def transposed(self) -> "ForestPlan":
        """Return the same forest on the transposed network, where all data flows backwards."""
        ends = [(link.target, link.source) for link in self.topology.links]
        order = sorted(range(len(ends)), key=ends.__getitem__)
        return replace(
            self,
            topology=self.topology.transposed(),
            demand=replace(self.demand, collective=self.demand.collective.dual),
            unused=tuple(self.unused[link] for link in order) if self.unused else (),
        )

    def outwards(self) -> "ForestPlan":
        """Return the forest with its data flowing away from the roots: itself, or transposed if data is reduced."""
        return self.transposed() if self.reduces else self
