"""The periodic schedule of a series of broadcasts: a frozen value (*Steady-state broadcasts*, §5.4.2).

Every period the source sends out `messages` new messages, each along one tree, and all nodes together go through the
rounds in order. In a round some links are busy, each for the whole of it and with messages of one tree. A node passes
on in a period what reached it in the periods before.
"""

import itertools
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, final

from forestcoll.collective import Collective
from forestcoll.schedule.schedule import Schedule


@dataclass(frozen=True)
class SeriesTree:
    """A tree from the source to all compute nodes.

    Attributes:
        weight: how many messages take it in a unit of time.
        routes: paths of existing links from one compute node to another, what lies between being switches; each
            begins on a node that was reached before and ends on one that is newly reached.
    """

    weight: Fraction
    routes: tuple[tuple[int, ...], ...]

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The links of all routes, source and target, in the order in which messages take them."""
        return tuple(ends for route in self.routes for ends in itertools.pairwise(route))

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Of each edge how many links lead from the source to its end."""
        depth: dict[int, int] = {self.routes[0][0]: 0} if self.routes else {}
        found = []
        for route in self.routes:
            begin = depth.get(route[0], 0)
            found += [begin + step for step in range(1, len(route))]
            depth[route[-1]] = begin + len(route) - 1
        return tuple(found)

    @cached_property
    def height(self) -> int:
        """How many links the longest way from the source has."""
        return max(self.depths, default=0)


@dataclass(frozen=True, slots=True, order=True)
class Transfer:
    """A busy link: `edge` is the place in `edges` of tree number `tree`."""

    tree: int
    edge: int


@dataclass(frozen=True, slots=True)
class Round:
    """A part of the period in which the same links are busy.

    Attributes:
        duration: how long it takes, in units of time.
        transfers: which links are busy, and with which tree's messages.
    """

    duration: Fraction
    transfers: tuple[Transfer, ...]


@final
@dataclass(frozen=True, repr=False)
class SeriesSchedule(Schedule):
    """A series of broadcasts from one source, period after period. `verify` says whether it is right.

    M is a message, so that `algbw` is the throughput: messages in a unit of time.

    Attributes:
        topology: the network; `port_model` says whether a node uses one link at a time or all.
        source: the number of the compute node that all messages come from.
        period: how long a period is; a message takes 1/bandwidth over a link.
        messages: how many messages a period takes in.
        trees: the trees, their weights adding up to the throughput.
        rounds: the rounds of a period, in order.
        collective: a broadcast.
        algbw: the throughput, which follows from messages and period.
        bound: as `Schedule.bound`, by prices of ports.
        shards: None.
        ranks: None, for all compute nodes take part.
    """

    kind: ClassVar[str] = "series"

    collective: Collective = field(default=Collective.BROADCAST, init=False)
    algbw: Fraction = field(init=False)
    shards: None = field(default=None, init=False)
    ranks: None = field(default=None, init=False)
    source: int
    period: Fraction
    messages: int
    trees: tuple[SeriesTree, ...]
    rounds: tuple[Round, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "algbw", self.messages / self.period)

    @property
    def throughput(self) -> Fraction:
        """Messages in a unit of time."""
        return self.algbw

    @property
    def root(self) -> int:
        """As `Schedule.root`: the source."""
        return self.source

    @property
    def size(self) -> str:
        """As `Schedule.size`."""
        return f"{len(self.trees)} trees, {len(self.rounds)} rounds"

    @cached_property
    def height(self) -> int:
        """How many periods after it was taken in a message has reached every node."""
        return max(tree.height for tree in self.trees)

    @property
    def initialisation(self) -> Fraction:
        """How long it takes until all nodes are busy as they will be: the height less 1, in periods."""
        return (self.height - 1) * self.period

    def makespan(self, periods: int) -> Fraction:
        """Return how long it takes to broadcast the messages of so many periods, initialisation and clean-up included.

        In the n-th period an edge at depth d of its tree carries what the source took in d - 1 periods before.
        """
        return (periods + self.height - 1) * self.period
