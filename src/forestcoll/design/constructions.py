"""A network and its allgather as an expression of base networks and expansions.

The cost of an expression follows from the theorems. The wiring and the schedule are made only on request. This module
has the base networks, and `expansions` has the expansions, one a file.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from forestcoll.design.bases import base_mirror, base_sends, base_wiring
from forestcoll.design.breadth_first import breadth_first_cost_of, breadth_first_sends
from forestcoll.design.measure import Cost, least_factor, moore_steps
from forestcoll.design.sends import Sends
from forestcoll.design.wiring import Wiring
from forestcoll.schedule.rows import IntArray

_TRANSITIVE = frozenset(
    {"cayley", "circulant", "complete", "complete-bipartite", "directed-circulant", "hamming", "ring"}
)
"""The families of base networks in which symmetries map each node to each other one."""


@dataclass(frozen=True)
class Construction(ABC):
    """A network with an allgather schedule.

    Attributes:
        name: the expression in the notation of the paper.
        nodes: N.
        degree: d, the number of links that leave each node.
        cost: the cost of the allgather, from the cost of the bases and the theorems.
        is_bidirectional: whether every link has a twin in the opposite direction.
        is_breadth_first: whether the schedule is the best breadth-first one. Its number of steps is the diameter.
        is_simple: whether there are neither loops nor parallel links.
        has_loops: whether a link leads from a node to itself. Such a link is an unused port.
        branches: whether every node has links to two or more nodes. The line graph's cost is exact then (Theorem 10).
    """

    name: str
    nodes: int
    degree: int
    cost: Cost
    is_bidirectional: bool
    is_breadth_first: bool
    is_simple: bool
    has_loops: bool
    branches: bool

    in_parentheses: ClassVar[bool] = False
    """Whether the name is put into parentheses as a part of another name."""

    @property
    def factor_name(self) -> str:
        """The name as that of a factor in a product."""
        return f"({self.name})" if self.in_parentheses else self.name

    @cached_property
    @abstractmethod
    def wiring(self) -> Wiring:
        """The network."""

    @abstractmethod
    def sends(self) -> Sends:
        """Make the allgather schedule and return it."""

    @abstractmethod
    def mirror(self) -> IntArray | None:
        """Return an isomorphism from the network to its transpose, or None if none is known."""

    @abstractmethod
    def to_document(self) -> dict[str, object]:
        """Return the expression as JSON."""

    @property
    def nodes_are_equivalent(self) -> bool:
        """Whether it is known that symmetries map each node to each other one, so that one node shows the cost."""
        return False

    @cached_property
    def diameter(self) -> int:
        """The greatest distance between two nodes, in links."""
        if self.is_breadth_first:
            return self.cost.steps
        return self.wiring.diameter()

    @cached_property
    def exchange_bound(self) -> Fraction:
        """An upper bound on the algbw of an all-to-all, in units of the bandwidth of an arc, by the distances.

        A rate f from every node to every other one takes f * distance of the arcs for each pair; the algbw is N * f.
        """
        return Fraction(self.nodes**2 * self.degree, self.wiring.distance_sum(at_first_node=self.nodes_are_equivalent))

    @cached_property
    def reduce_scatter_cost(self) -> Cost:
        """The cost of the reduce-scatter. With a mirror it equals the cost of the allgather (Theorem 2)."""
        if self.mirror() is not None:
            return self.cost
        return breadth_first_cost_of(self.wiring.transposed())

    @property
    def is_bandwidth_optimal(self) -> bool:
        """Whether no allgather on this number of nodes has a lower T_B (Theorem 4)."""
        return self.cost.bandwidth_factor == least_factor(self.nodes)

    @property
    def is_moore_optimal(self) -> bool:
        """Whether the number of steps equals the Moore bound (Definition 10)."""
        return self.cost.steps == moore_steps(self.nodes, self.degree)


@dataclass(frozen=True)
class Base(Construction):
    """A base network, made by a topology builder.

    Attributes:
        spec: the builder and its parameters.
    """

    spec: str

    @cached_property
    def wiring(self) -> Wiring:
        return base_wiring(self.spec)

    @cached_property
    def reduce_scatter_cost(self) -> Cost:
        """As `Construction.reduce_scatter_cost`. In the tables, a Cayley graph and its transpose have the same cost."""
        return self.cost if self.is_cayley_graph else super().reduce_scatter_cost

    @property
    def is_cayley_graph(self) -> bool:
        """Whether the network is from a table of Cayley graphs."""
        return self.spec.startswith("cayley:")

    @property
    def nodes_are_equivalent(self) -> bool:
        """As `Construction.nodes_are_equivalent`, by the family of the base."""
        return self.spec.split(":")[0] in _TRANSITIVE

    def sends(self) -> Sends:
        return breadth_first_sends(self.wiring) if self.is_breadth_first else base_sends(self.spec, self.wiring)

    def mirror(self) -> IntArray | None:
        return base_mirror(self.spec, self.wiring)

    def to_document(self) -> dict[str, object]:
        return {
            "base": self.spec,
            "name": self.name,
            "nodes": self.nodes,
            "degree": self.degree,
            "steps": self.cost.steps,
            "bandwidth_factor": str(self.cost.bandwidth_factor),
            "both_ways": self.is_bidirectional,
            "breadth_first": self.is_breadth_first,
            "simple": self.is_simple,
            "loops": self.has_loops,
            "branches": self.branches,
        }


@dataclass(frozen=True)
class Expansion(Construction):
    """An expansion of one network, `base`."""

    base: Construction

    @classmethod
    def like(cls, base: Construction, **changes: Any) -> Self:
        """Return an expansion of `base` with the attributes of `base`, but for `changes`."""
        return cls(**({each.name: getattr(base, each.name) for each in fields(Construction)} | changes), base=base)

    @property
    def nodes_are_equivalent(self) -> bool:
        """As `Construction.nodes_are_equivalent`. The symmetries of the base are symmetries of the expansion."""
        return self.base.nodes_are_equivalent

    def mirror(self) -> IntArray | None:
        """As `Construction.mirror`, from the mirror of the base."""
        mirror = self.base.mirror()
        return None if mirror is None else self.expanded_mirror(mirror)

    def expanded_mirror(self, mirror: IntArray) -> IntArray:
        """Return the mirror of this network, of a mirror of the base."""
        return mirror
