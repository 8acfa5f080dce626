"""A schedule of trees: frozen, and flat inside, because a thousand nodes make a million tree edges.

Routes and trees are rows of variable length: one array holds all entries, another where each row begins. The public
values for one row are simple: a tuple of node numbers, a `Tree`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, final

from forestcoll.collective import PhaseOp
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Symmetry


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


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        return f"<Phase: {self.op.value}, {len(self)} trees>"


@final
@dataclass(frozen=True, repr=False)
class TreeSchedule(Schedule):
    """Trees for a collective on a network, and what they are claimed to achieve. `verify` says whether it is so.

    Attributes:
        routes: paths of links between compute nodes, a row a route, its node numbers in order.
        phases: forests, one after the other; an allreduce has two, a reduce and a broadcast, others one.
        algbw: as `Schedule.algbw`; trees always claim one.
        trees_per_root: k, counting a tree as often as its share holds 1/(N k), or None where the file does not say. Of
            shards that are not equal, the trees of each 1/D of the data, their common denominator being D; of a
            broadcast or a reduce, those of the root.
        symmetry: if there is one, the trees of the phases are *base trees*: the schedule has the image of each of them,
            root and nodes of routes, under each element of the group, all with the share of the base tree.
    """

    kind: ClassVar[str] = "trees"

    routes: Rows
    phases: tuple[Phase, ...]
    algbw: Fraction = field(kw_only=True)
    trees_per_root: int | None = field(default=None, kw_only=True)
    symmetry: Symmetry | None = field(default=None, kw_only=True)

    @property
    def root(self) -> int | None:
        """As `Schedule.root`: the root of the first tree."""
        if not self.collective.has_root or not self.phases or not len(self.phases[0]):
            return None
        return self.phases[0].roots[0]

    @property
    def size(self) -> str:
        """As `Schedule.size`."""
        listed = sum(len(phase) for phase in self.phases)
        images = "" if self.symmetry is None else f", {self.symmetry.order} images each"
        return f"{listed} trees{images}"
