"""A schedule of flows: every pair of compute nodes that exchanges data has one or more flows along routes.

A flow sends a share of M from its source to its target along routes that follow each other: each route ends where the
next one starts, on a compute node that relays the data. All flows work at the same time and share links in proportion
to their shares.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, final

from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.matrix import Matrix
from forestcoll.schedule.rows import IntArray, Rows
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Symmetry


@dataclass(frozen=True, slots=True)
class Flow:
    """One flow.

    Attributes:
        source: the number of the node that has the data.
        target: the number of the node that needs it.
        share: the part of M that the flow sends.
        routes: the numbers of its routes, in the order in which data crosses them.

    Example:
        >>> from forestcoll import generate
        >>> flow = next(iter(generate("ring:nodes=3", "all-to-all").flows))
        >>> flow.source, flow.target, str(flow.share), flow.routes
        (0, 1, '1/3', (0,))
    """

    source: int
    target: int
    share: Fraction
    routes: tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class FlowList:
    """Flows in flat arrays.

    Attributes:
        sources: for each flow, the number of its source.
        targets: for each flow, the number of its target.
        shares: for each flow, the part of M that it sends.
        routes: for each flow, the numbers of its routes in order.

    Example:
        >>> from forestcoll import generate
        >>> flows = generate("ring:nodes=3", "all-to-all").flows
        >>> len(flows), flows.targets.tolist()
        (6, [1, 2, 0, 2, 0, 1])
    """

    sources: IntArray
    targets: IntArray
    shares: tuple[Fraction, ...]
    routes: Rows

    def __post_init__(self) -> None:
        self.sources.flags.writeable = False
        self.targets.flags.writeable = False

    def __len__(self) -> int:
        return len(self.shares)

    def __iter__(self) -> Iterator[Flow]:
        ends = zip(self.sources.tolist(), self.targets.tolist(), strict=True)
        for (source, target), share, routes in zip(ends, self.shares, self.routes, strict=True):
            yield Flow(source, target, share, routes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FlowList):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # equal by value, and arrays have no hash

    def __repr__(self) -> str:
        return f"<FlowList: {len(self)} flows>"


@final
@dataclass(frozen=True, repr=False)
class FlowSchedule(Schedule):
    """Flows for an all-to-all, a gather or a scatter, and the bandwidth that they claim. `verify` checks both.

    Attributes:
        routes: paths of links between compute nodes: one row for each route, with its node numbers in order.
        flows: the flows.
        algbw: see `Schedule.algbw`; flows always claim one.
        matrix: what each node that takes part sends to each other one, in multiples of M; None if all parts are 1/N.
        symmetry: None, or the symmetry of the schedule. With a symmetry, the flows are *base flows*: the schedule has
            the image of each base flow (its ends and the nodes of its routes) under each element of the group, with the
            share of the base flow.

    Example:
        >>> from forestcoll import generate
        >>> schedule = generate("ring:nodes=2", "scatter:root=0")
        >>> schedule.root, len(schedule.flows), str(schedule.algbw)
        (0, 1, '2')
    """

    kind: ClassVar[str] = "flows"

    routes: Rows
    flows: FlowList
    algbw: Fraction = field(kw_only=True)
    matrix: Matrix | None = field(default=None, kw_only=True)
    symmetry: Symmetry | None = field(default=None, kw_only=True)

    @property
    def root(self) -> int | None:
        """The source of the first flow of a scatter, or the target of the first flow of a gather; else None."""
        if not self.collective.has_root or not len(self.flows):
            return None
        ends = self.flows.targets if self.collective is Collective.GATHER else self.flows.sources
        return int(ends[0])

    @property
    def demand(self) -> NodeDemand:
        """See `Schedule.demand`; it includes the demand matrix."""
        return NodeDemand(self.collective, self.root, None, self.ranks, self.matrix)

    @property
    def size(self) -> str:
        images = "" if self.symmetry is None else f", {self.symmetry.order} images each"
        return f"{len(self.flows)} flow{'s' * (len(self.flows) != 1)}{images}"
