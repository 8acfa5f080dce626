"""The input to the generation of one forest: the network, the demand, and the number and bandwidth of trees."""

from dataclasses import dataclass, replace
from fractions import Fraction
from operator import sub

from forestcoll.demand.demand import NodeDemand
from forestcoll.topology import Topology


@dataclass(frozen=True)
class ForestPlan:
    """A forest whose trees can be generated.

    Attributes:
        topology: the network that the trees use. Its compute nodes must receive all data (or, if data is reduced,
            their data must reach the roots). Idle compute nodes are switches here, and switches that copy data may be
            compute nodes without data.
        demand: the collective on this network; all of its compute nodes take part.
        algbw: the algorithmic bandwidth that the trees reach at least, in the unit of the topology.
        trees_per_root: k, the number of trees of each root for each unit of its weight.
        unused: for each link, the number of trees that would fit but must not use it, so that no switch sends more
            than it receives; empty if there is no such link.

    Example:
        >>> from forestcoll import optimum
        >>> (plan,) = optimum("ring:nodes=3").forests
        >>> plan.trees_per_root, plan.trees, str(plan.tree_bandwidth), plan.tree_capacities()
        (1, 3, '1', (1, 1, 1, 1, 1, 1))
    """

    topology: Topology
    demand: NodeDemand
    algbw: Fraction
    trees_per_root: int
    unused: tuple[int, ...] = ()

    @property
    def reduces(self) -> bool:
        """Whether data flows towards the roots."""
        return self.demand.collective.only_reduces

    @property
    def weights(self) -> tuple[int, ...]:
        """The weight of each compute node: its part of the data in units of 1/D, where D is the sum of the weights."""
        return self.demand.weights(self.topology)

    @property
    def trees(self) -> int:
        """The number of trees; identical trees are counted separately."""
        return self.trees_per_root * sum(self.weights)

    @property
    def tree_bandwidth(self) -> Fraction:
        """y, the bandwidth of each tree, in the unit of the topology."""
        return self.algbw / self.trees

    def tree_capacities(self) -> tuple[int, ...]:
        """Return how many trees may use each link: bandwidth / `tree_bandwidth`, rounded down, minus `unused`."""
        tree_bandwidth = self.tree_bandwidth
        whole = self.topology.of_links(each // tree_bandwidth for each in self.topology.bandwidth_classes[0])
        return tuple(map(sub, whole, self.unused)) if self.unused else whole

    def transposed(self) -> "ForestPlan":
        """Return the forest of the dual collective on the transposed network."""
        ends = [(link.target, link.source) for link in self.topology.links]
        order = sorted(range(len(ends)), key=ends.__getitem__)
        return replace(
            self,
            topology=self.topology.transposed(),
            demand=replace(self.demand, collective=self.demand.collective.dual),
            unused=tuple(self.unused[link] for link in order) if self.unused else (),
        )

    def outwards(self) -> "ForestPlan":
        """Return the forest with data flowing away from the roots: `transposed` if data is reduced, else itself."""
        return self.transposed() if self.reduces else self
