"""The periodic schedule of a series of a collective: a frozen value (*Steady-state broadcasts*, §5.4.2).

In every period, `messages` new operations begin. A broadcast sends one message along one tree, a reduce one along a
reversed tree. A scatter or a gather sends one message along a path for each other node, and an allgather or a
reduce-scatter one along a tree of each node. All nodes go through the rounds in
the same order. In a round, some links are busy. Each busy link carries messages of one tree for the whole round. In a
period, a node forwards the messages that reached it in earlier periods.
"""

import itertools
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, final

from forestcoll.base.errors import plural
from forestcoll.demand.collective import Collective
from forestcoll.schedule.schedule import Schedule


@dataclass(frozen=True)
class SeriesTree:
    """A tree from its root to all compute nodes, a tree from them to its root, or a path.

    Attributes:
        weight: the number of messages that use the tree in a unit of time.
        routes: paths of links from one compute node to another, in the order in which data flows; the nodes between are
            switches. From a root, each route starts on a node that an earlier route reached, and ends on a node that no
            earlier route reached. A tree to its root is the reverse of such a tree.
    """

    weight: Fraction
    routes: tuple[tuple[int, ...], ...]

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The source and target of each link of all routes, in the order in which messages cross the links."""
        return tuple(ends for route in self.routes for ends in itertools.pairwise(route))

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """For each edge, the number of links of the longest path that data has come along at the end of the edge."""
        depth: dict[int, int] = {}
        found = []
        for route in self.routes:
            begin = depth.get(route[0], 0)
            found += [begin + step for step in range(1, len(route))]
            depth[route[-1]] = max(depth.get(route[-1], 0), begin + len(route) - 1)
        return tuple(found)

    @cached_property
    def height(self) -> int:
        """The number of links of the longest path."""
        return max(self.depths, default=0)


@dataclass(frozen=True, slots=True, order=True)
class Transfer:
    """A busy link: `tree` is the number of a tree, `edge` an index into its `edges`."""

    tree: int
    edge: int


@dataclass(frozen=True, slots=True)
class Round:
    """A part of the period in which the same links are busy.

    Attributes:
        duration: the time that the round takes, in units of time.
        transfers: the busy links, each with the tree whose messages it carries.
    """

    duration: Fraction
    transfers: tuple[Transfer, ...]


@final
@dataclass(frozen=True, repr=False)
class SeriesSchedule(Schedule):
    """A series of a collective, as one period that repeats. `verify` checks it.

    A message has size 1. So M is 1 in a broadcast or a reduce, and N in a collective with shards, where each node has a
    message.

    Attributes:
        topology: the network; its `port_model` says which links of a node can be busy at the same time.
        source: the number of the root; None if the collective has no root.
        period: the length of a period, in units of time; a message takes 1/bandwidth over a link.
        messages: the number of new operations in a period.
        trees: the trees; their weights add up to the throughput, in a collective with shards for each node.
        rounds: the rounds of a period, in order.
        bandwidths: the bandwidth of each link while it is busy, if links of a node share its bandwidth; None if each
            link has its own bandwidth.
        collective: the collective: a broadcast, unless the schedule says another one.
        algbw: M * `messages` / `period`.
        bound: see `Schedule.bound`; its proof consists of prices of ports.
        shards: None.
        ranks: None, because all compute nodes take part.

    Example:
        >>> from forestcoll.oneport import compare_series
        >>> from forestcoll.topology import build_topology
        >>> schedule = compare_series(build_topology("ring:nodes=4"), 0).schedule()
        >>> schedule.source, str(schedule.throughput), len(schedule.trees)
        (0, '2', 2)
    """

    kind: ClassVar[str] = "series"

    collective: Collective = field(default=Collective.BROADCAST, kw_only=True)
    algbw: Fraction = field(init=False)
    shards: None = field(default=None, init=False)
    ranks: None = field(default=None, init=False)
    source: int | None
    period: Fraction
    messages: int
    trees: tuple[SeriesTree, ...]
    rounds: tuple[Round, ...]
    bandwidths: tuple[Fraction, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "algbw", self.parts * self.throughput)

    @property
    def parts(self) -> int:
        """M: the number of messages of size 1 that the data of one operation consists of."""
        return len(self.topology.compute) if self.collective.has_shards else 1

    @property
    def throughput(self) -> Fraction:
        """Operations in a unit of time; an operation of a broadcast is a message."""
        return self.messages / self.period

    def bandwidth(self, link: int) -> Fraction:
        """Return the bandwidth of a link while it is busy; `link` is its place in `Topology.links`."""
        return self.topology.links[link].bandwidth if self.bandwidths is None else self.bandwidths[link]

    @property
    def root(self) -> int | None:
        """The source; see `Schedule.root`."""
        return self.source

    def root_of(self, tree: SeriesTree) -> int:
        """Return the node that the data of a tree starts from or, in a reduce, ends on."""
        if self.source is not None:
            return self.source
        return tree.routes[-1][-1] if self.collective.flows_to_roots else tree.routes[0][0]

    def owner_of(self, tree: SeriesTree) -> int | None:
        """Return the node whose messages a tree carries; None if all trees carry the messages of one node."""
        if self.collective.is_personalised:
            return tree.routes[0][0] if self.collective.flows_to_roots else tree.routes[-1][-1]
        return self.root_of(tree) if self.source is None else None

    @property
    def size(self) -> str:
        return f"{plural(len(self.trees), 'tree')}, {plural(len(self.rounds), 'round')}"

    @cached_property
    def height(self) -> int:
        """The number of periods until a new message has reached every node."""
        return max(tree.height for tree in self.trees)

    @property
    def initialisation(self) -> Fraction:
        """The time until all nodes do the work of a full period: `height` - 1 periods."""
        return (self.height - 1) * self.period

    def makespan(self, periods: int) -> Fraction:
        """Return the time of the operations of this number of `periods`, with initialisation and clean-up.

        In the n-th period, an edge at depth d of its tree carries messages that set out d - 1 periods earlier.
        """
        return (periods + self.height - 1) * self.period
