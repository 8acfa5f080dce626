"""A schedule of trees: frozen, and stored in flat arrays, because a schedule of 1,000 nodes has a million tree edges.

Routes and trees are rows of variable length: one array holds all entries, another holds where each row begins. One row
is returned as a simple value: a tuple of node numbers, or a `Tree`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, final

from forestcoll.demand.collective import PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Symmetry


@dataclass(frozen=True, slots=True)
class Tree:
    """One spanning tree.

    Attributes:
        root: the number of the node that the data starts from or, in a reduce, ends on.
        share: the exact fraction of the total data M that the tree carries.
        routes: numbers of routes of the schedule, in the order in which data flows.

    Example:
        >>> from forestcoll import generate
        >>> tree = generate("ring:nodes=4").phases[0][0]
        >>> tree.root, str(tree.share)
        (0, '1/8')
    """

    root: int
    share: Fraction
    routes: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class Phase:
    """A forest of trees that work at the same time.

    Attributes:
        op: what the trees do, broadcast or reduce.
        roots: the node number of the root of each tree.
        shares: the share of each tree.
        routes: the route numbers of each tree, one row for each tree.

    Example:
        >>> from forestcoll import generate
        >>> generate("ring:nodes=4").phases
        (<Phase: broadcast, 8 trees>,)
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

    def __repr__(self) -> str:
        return f"<Phase: {self.op.value}, {len(self)} trees>"


@final
@dataclass(frozen=True, repr=False)
class TreeSchedule(Schedule):
    """Trees for a collective on a network, and the bandwidth that they claim. `verify` checks both.

    Attributes:
        routes: paths of links between compute nodes: one row for each route, with its node numbers in order.
        phases: the forests, one after the other. An allreduce has two, a reduce and a broadcast; others have one.
        algbw: see `Schedule.algbw`; trees always claim one.
        trees_per_root: k, the number of trees of each root, where a tree of share m/(N k) counts m times; None if the
            file does not say. If shards are not equal and D is their common denominator, k trees carry each 1/D of the
            data. In a broadcast or a reduce, k is the number of trees of the root.
        symmetry: None, or the symmetry of the schedule. With a symmetry, the trees of the phases are *base trees*: the
            schedule has the image of each base tree (its root and the nodes of its routes) under each element of the
            group, with the share of the base tree.
        sources: in a broadcast, the nodes that all have the data; in an allreduce, those whose vectors are added up.
            None for the root, or for all that take part.
        targets: in a broadcast or an allreduce, the nodes that need the result; None for all that take part.

    Example:
        >>> from forestcoll import generate
        >>> schedule = generate("ring:nodes=4", "allreduce")
        >>> [phase.op.value for phase in schedule.phases], schedule.trees_per_root
        (['reduce', 'broadcast'], 2)
    """

    kind: ClassVar[str] = "trees"

    routes: Rows
    phases: tuple[Phase, ...]
    algbw: Fraction = field(kw_only=True)
    trees_per_root: int | None = field(default=None, kw_only=True)
    symmetry: Symmetry | None = field(default=None, kw_only=True)
    sources: tuple[int, ...] | None = field(default=None, kw_only=True)
    targets: tuple[int, ...] | None = field(default=None, kw_only=True)

    @property
    def demand(self) -> NodeDemand:
        return replace(super().demand, sources=self.sources, targets=self.targets)

    @property
    def root(self) -> int | None:
        """The root of the first tree; see `Schedule.root`."""
        if not self.collective.has_root or not self.phases or not len(self.phases[0]):
            return None
        return self.phases[0].roots[0]

    @property
    def size(self) -> str:
        listed = sum(len(phase) for phase in self.phases)
        images = "" if self.symmetry is None else f", {self.symmetry.order} images each"
        return f"{listed} tree{'s' * (listed != 1)}{images}"
