"""A schedule of trees: frozen, and flat inside, because a thousand nodes make a million tree edges.

Routes and trees are rows of variable length: one array holds all entries, another where each row begins. The public
values for one row are simple: a tuple of node numbers, a `Tree`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.collective import Collective, PhaseOp
from forestcoll.ranks import members_of
from forestcoll.schedule.rows import Rows
from forestcoll.topology import Symmetry, Topology


@dataclass(frozen=True, slots=True)
class Tree:
    """One spanning tree: `share` of the total data M, along `routes` in the order in which data flows.

    Attributes:
        root: the number of the node that the data starts from or, where it is reduced, ends on.
        share: the exact fraction of M that the tree carries.
        routes: numbers of routes of the schedule.
    """

    root: int
    share: Fraction
    routes: tuple[int, ...]


@dataclass(frozen=True)
class Phase:
    """A forest of trees that work at the same time.

    Attributes:
        op: what the trees do.
        roots: the root of each tree, a node number.
        shares: the share of each tree.
        routes: the route numbers of each tree, a row a tree.
    """

    op: PhaseOp
    roots: tuple[int, ...]
    shares: tuple[Fraction, ...]
    routes: Rows

    def __len__(self) -> int:
        return len(self.roots)

    def __getitem__(self, tree: int) -> Tree:
        return Tree(self.roots[tree], self.shares[tree], self.routes[tree])

    def __iter__(self) -> Iterator[Tree]:
        return map(Tree, self.roots, self.shares, self.routes)


@dataclass(frozen=True)
class TreeSchedule:
    """Trees for a collective on a topology, and what they are said to achieve. `verify` says whether it is so.

    Attributes:
        topology: the network.
        collective: what the schedule does.
        routes: paths of links between compute nodes, a row a route, its node numbers in order.
        phases: forests, one after the other; an allreduce has two, a reduce and a broadcast, others one.
        algbw: claimed algorithmic bandwidth, M / time, in the topology's unit.
        optimal_algbw: claimed optimum, or None where the file claims none.
        cut: numbers of the nodes whose exit bandwidth proves `optimal_algbw`, or None.
        trees_per_root: k, counting a tree as often as its share holds 1/(N k), or None where the file does not say. Of
            shards that are not equal, the trees of each 1/D of the data, their common denominator being D; of a
            broadcast or a reduce, those of the root.
        symmetry: if there is one, the trees of the phases are *base trees*: the schedule has the image of each of them,
            root and nodes of routes, under each element of the group, all with the share of the base tree.
        shards: of each compute node that takes part, in the order of their numbers, its part of the data; None if all
            are equal.
        ranks: the numbers of the compute nodes that take part, rising; None if all do. Others may be relays.
    """

    topology: Topology
    collective: Collective
    routes: Rows
    phases: tuple[Phase, ...]
    algbw: Fraction
    optimal_algbw: Fraction | None = None
    cut: tuple[int, ...] | None = None
    trees_per_root: int | None = None
    symmetry: Symmetry | None = None
    shards: tuple[Fraction, ...] | None = None
    ranks: tuple[int, ...] | None = None

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of the compute nodes that take part."""
        return members_of(self.topology, self.ranks)
