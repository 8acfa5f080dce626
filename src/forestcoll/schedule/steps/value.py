"""A schedule of steps: at each step, parts of shards cross links. The value is frozen and stored in flat arrays.

A *transfer* sends the part [low, high) of one node's shard over one link, or along a *route*: a path of links whose
interior nodes, switches or compute nodes, pass the data on and do not keep it. A node sends at a step only what it had
before the step began. The ends of parts are exact: `Transfers.points` lists the distinct fractions in ascending order,
and a transfer refers to two of them by index. So comparing indices compares fractions.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, cast, final

import numpy as np

from forestcoll.base.errors import InputError, argument, plural, unknown_name
from forestcoll.base.exact import to_fraction
from forestcoll.demand.collective import Collective, PhaseOp, collective_named
from forestcoll.demand.ranks import root_number
from forestcoll.schedule.rows import IntArray, Rows, row_starts
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import NodeId, Symmetry, Topology, TopologyLike
from forestcoll.topology.graph.routes import Path, Routes
from forestcoll.topology.registry import load_topology


class Transfer(NamedTuple):
    """One transfer: `source` sends the part [`low`, `high`) of the shard of node `shard` to `target`.

    `route` is the number of the route in `StepSchedule.routes`; None for the link from `source` to `target`.

    Example:
        >>> from fractions import Fraction
        >>> Transfer(shard=0, low=Fraction(0), high=Fraction(1, 2), source=0, target=1).target
        1
    """

    shard: int
    low: Fraction
    high: Fraction
    source: int
    target: int
    route: int | None = None


NO_ROUTE = -1
"""The entry of `Transfers.routes` for a transfer over the link from its source to its target."""


@dataclass(frozen=True, eq=False, repr=False)
class Transfers:
    """Transfers, step by step, in flat read-only arrays.

    Attributes:
        starts: where each step begins in the arrays below, and the number of transfers: ascending, from 0.
        shards: for each transfer, the node that owns the shard.
        sources: for each transfer, the node that sends.
        targets: for each transfer, the node that receives.
        lows: for each transfer, the index in `points` where the part begins.
        highs: for each transfer, the index in `points` where the part ends.
        points: distinct fractions of a shard, in ascending order.
        routes: for each transfer, the number of its route in `StepSchedule.routes`, or `NO_ROUTE`; None if no transfer
            has a route.

    Example:
        >>> half = Transfer(shard=0, low=Fraction(0), high=Fraction(1, 2), source=0, target=1)
        >>> Transfers.of([[half], [half._replace(source=1, target=2)]])
        <Transfers: 2 in 2 steps>
    """

    starts: IntArray
    shards: IntArray
    sources: IntArray
    targets: IntArray
    lows: IntArray
    highs: IntArray
    points: tuple[Fraction, ...]
    routes: IntArray | None = None

    def __post_init__(self) -> None:
        if self.routes is not None and (self.routes == NO_ROUTE).all():
            object.__setattr__(self, "routes", None)  # one form for each value
        for array in (self.starts, self.shards, self.sources, self.targets, self.lows, self.highs, self.routes):
            if array is not None:
                array.flags.writeable = False

    @staticmethod
    def of(steps: Iterable[Iterable[Transfer]]) -> "Transfers":
        """Return the transfers of `steps`, in order. Raises `OverflowError` if a node number exceeds 32 bits."""
        listed = [list(step) for step in steps]
        flat = [transfer for step in listed for transfer in step]
        points = tuple(sorted({point for each in flat for point in (each.low, each.high)}))
        places = {point: place for place, point in enumerate(points)}
        shards, sources, targets, lows, highs = (
            np.fromiter(values, dtype=np.int32, count=len(flat))
            for values in (
                (each.shard for each in flat),
                (each.source for each in flat),
                (each.target for each in flat),
                (places[each.low] for each in flat),
                (places[each.high] for each in flat),
            )
        )
        starts = row_starts(np.fromiter(map(len, listed), dtype=np.int64, count=len(listed)))
        numbers = (NO_ROUTE if each.route is None else each.route for each in flat)
        routes = np.fromiter(numbers, dtype=np.int32, count=len(flat))
        return Transfers(starts, shards, sources, targets, lows, highs, points, routes)

    @staticmethod
    def by_step(  # noqa: PLR0913 (one parameter for each column)
        steps: IntArray,
        *,
        count: int,
        shards: IntArray,
        sources: IntArray,
        targets: IntArray,
        lows: IntArray,
        highs: IntArray,
        points: Sequence[Fraction],
        routes: IntArray | None = None,
    ) -> "Transfers":
        """Return transfers from columns in any order; `steps` holds the step of each transfer, from 0 to `count` - 1.

        Transfers of one step keep their order. `points` may be in any order and contain duplicates; points that no
        transfer uses are dropped.
        """
        order = np.argsort(steps, kind="stable")
        ascending, places = _distinct_points(points, lows, highs)
        starts = row_starts(np.bincount(steps, minlength=count))
        nodes = [each[order].astype(np.int32, copy=False) for each in (shards, sources, targets)]
        ordered = None if routes is None else routes[order].astype(np.int32, copy=False)
        lows, highs = places[lows[order]], places[highs[order]]
        return Transfers(starts, nodes[0], nodes[1], nodes[2], lows, highs, ascending, ordered)

    def __len__(self) -> int:
        """Return the number of transfers."""
        return len(self.shards)

    def __repr__(self) -> str:
        return f"<Transfers: {len(self)} in {plural(self.steps, 'step')}>"

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.starts) - 1

    @cached_property
    def step_of(self) -> IntArray:
        """For each transfer, the number of its step, from 0."""
        return np.repeat(np.arange(self.steps, dtype=np.int32), np.diff(self.starts))

    def step(self, number: int) -> Iterator[Transfer]:
        """Yield the transfers of one step."""
        rows = slice(int(self.starts[number]), int(self.starts[number + 1]))
        columns = (self.shards, self.sources, self.targets, self.lows, self.highs)
        routes = [NO_ROUTE] * (rows.stop - rows.start) if self.routes is None else self.routes[rows].tolist()
        for shard, source, target, low, high, route in zip(
            *(each[rows].tolist() for each in columns), routes, strict=True
        ):
            taken = None if route == NO_ROUTE else route
            yield Transfer(shard, self.points[low], self.points[high], source, target, taken)

    def __iter__(self) -> Iterator[Iterator[Transfer]]:
        return map(self.step, range(self.steps))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transfers):
            return NotImplemented
        columns = ("starts", "shards", "sources", "targets", "lows", "highs")
        alike = all(np.array_equal(getattr(self, column), getattr(other, column)) for column in columns)
        return alike and self.points == other.points and _are_equal(self.routes, other.routes)

    __hash__ = None  # type: ignore[assignment]  # equal by value, and arrays have no hash

    def only(self, steps: range) -> "Transfers":
        """Return the transfers of these steps, in order, with the points that they use."""
        begin, end = int(self.starts[steps.start]), int(self.starts[steps.stop])
        if len(steps) == self.steps:
            return self
        rows = slice(begin, end)
        points, places = _distinct_points(self.points, self.lows[rows], self.highs[rows])
        return Transfers(
            row_starts(np.diff(self.starts[steps.start : steps.stop + 1])),
            self.shards[rows].copy(),
            self.sources[rows].copy(),
            self.targets[rows].copy(),
            places[self.lows[rows]],
            places[self.highs[rows]],
            points,
            None if self.routes is None else self.routes[rows].copy(),
        )

    def backwards(self) -> "Transfers":
        """Return the transfers from the last step to the first, with source and target exchanged (Definition 5).

        Numbers of routes stay the same: the schedule must reverse its routes.
        """
        ranges = [np.arange(begin, end) for begin, end in pairwise(self.starts.tolist())]
        order = np.concatenate([*reversed(ranges), np.zeros(0, dtype=np.int64)]).astype(np.int64)
        return Transfers(
            row_starts(np.diff(self.starts)[::-1]),
            self.shards[order],
            self.targets[order],
            self.sources[order],
            self.lows[order],
            self.highs[order],
            self.points,
            None if self.routes is None else self.routes[order],
        )

    def renamed(self, image: IntArray) -> "Transfers":
        """Return the transfers with node number `image[v]` instead of v (Definition 7)."""
        shards, sources, targets = (image[each] for each in (self.shards, self.sources, self.targets))
        return replace(self, shards=shards, sources=sources, targets=targets)

    def with_routes_after(self, count: int) -> "Transfers":
        """Return the transfers with numbers of routes for a table in which `count` other routes come first."""
        if self.routes is None or not count:
            return self
        return replace(self, routes=np.where(self.routes == NO_ROUTE, NO_ROUTE, self.routes + count).astype(np.int32))


def _are_equal(one: IntArray | None, other: IntArray | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)


def _distinct_points(
    points: Sequence[Fraction], lows: IntArray, highs: IntArray
) -> tuple[tuple[Fraction, ...], IntArray]:
    """Return the distinct points that are used, in ascending order, and the new index of each of `points`."""
    used = np.zeros(len(points), dtype=np.bool_)
    used[lows] = True
    used[highs] = True
    ascending = tuple(sorted({points[place] for place in np.flatnonzero(used).tolist()}))
    place_of = {point: place for place, point in enumerate(ascending)}
    places = np.fromiter((place_of.get(point, 0) for point in points), dtype=np.int32, count=len(points))
    return ascending, places


@dataclass(frozen=True)
class StepPhase:
    """Transfers that broadcast shards or reduce them to sums.

    Attributes:
        op: BROADCAST: a transfer copies data, and every node ends with all shards. REDUCE: a transfer sends the sum
            that the sender has of that part so far, and the receiver adds it to its own.
        transfers: the transfers, step by step.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.topology import build_topology
        >>> [(phase.op.value, phase.transfers.steps) for phase in generate("ring:nodes=4", method="bfb").phases]
        [('broadcast', 2)]
    """

    op: PhaseOp
    transfers: Transfers


@final
@dataclass(frozen=True, repr=False)
class StepSchedule(Schedule):
    """Steps for a collective. `verify` checks them.

    In an allgather, the shard of v starts on v. In a reduce-scatter, the sum of the shard ends on v. In an allreduce, v
    adds up the shard and broadcasts the sum. In an all-to-all, the shard of v is its whole buffer, with one part of the
    same size for each node that takes part, in their order. M is the data of the collective as in `Collective`.

    Attributes:
        collective: an allgather, a reduce-scatter, an allreduce or an all-to-all.
        phases: one phase; for an allreduce two, a reduce and then a broadcast. The phase of an all-to-all is a
            broadcast in which each part goes to one node only.
        routes: the paths that transfers follow: one row for each route, with its node numbers from the source to the
            target. Nodes between them pass the data on and do not keep it. A transfer without a route crosses the link
            from its source to its target.
        shards: see `Schedule.shards`; an allreduce may have shards too.
        ranks: see `Schedule.ranks`. Idle compute nodes have no shard and are neither sources nor targets of transfers,
            but routes may pass through them.
        symmetry: None, or the symmetry of the schedule. With a symmetry, the transfers are *base transfers*: the
            schedule has the image of each base transfer (its shard, its ends and the nodes of its route) under each
            element of the group, at the same step and with the same part. An all-to-all has no symmetry.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.topology import build_topology
        >>> generate(build_topology("ring:nodes=4"), "allreduce", "bfb")
        <StepSchedule: allreduce on 'ring:nodes=4', 4 compute nodes, 4 steps, 32 transfers>
    """

    kind: ClassVar[str] = "steps"

    phases: tuple[StepPhase, ...]
    routes: Rows = field(default_factory=lambda: Rows.of([]), kw_only=True)
    symmetry: Symmetry | None = field(default=None, kw_only=True)

    @staticmethod
    def of_sends(
        topology: TopologyLike, collective: Collective | str, *phases: Iterable[Iterable[Sequence[object]]]
    ) -> "StepSchedule":
        """Return a schedule of whole steps from lists of sends, such as those of an algorithm of your own.

        Args:
            topology: a network, or its spec.
            collective: an allgather, a reduce-scatter, an allreduce or an all-to-all.
            phases: the steps of the collective; of an allreduce first those that add up, then those that broadcast. A
                step is a list of sends that start together: `(owner, source, target)`, or `(owner, source, target,
                begin, end)` for the part [begin, end) of the owner's shard, in fractions of it, such as
                `Fraction(1, 3)` or `"1/3"`. Nodes are ids or positions among the compute nodes. Where no link joins
                them, as on a network with switches, a send follows the widest of the shortest paths through switches.

        Raises:
            InputError: the number of phases is not that of the collective, or a send is not valid. `verify` checks
                everything else.

        Example:
            >>> from forestcoll import verify
            >>> steps = [[((node - step) % 3, node, (node + 1) % 3) for node in range(3)] for step in range(2)]
            >>> ring = StepSchedule.of_sends("ring:nodes=3", "allgather", steps)
            >>> ring, verify(ring).ok
            (<StepSchedule: allgather on 'ring:nodes=3', 3 compute nodes, 2 steps, 6 transfers>, True)
        """
        network, kind = load_topology(topology), collective_named(collective)
        if kind not in _OPS:
            raise unknown_name(f"{kind.with_article} is no collective of steps", kind, [each.value for each in _OPS])
        ops = _OPS[kind]
        if len(phases) != len(ops):
            each = plural(len(ops), "list") + " of steps"
            raise InputError(f"{kind.with_article} has {each}, each an argument of its own; {len(phases)} given")
        sends = _Sends(network)
        made = [
            StepPhase(op, Transfers.of([sends.transfer(send) for send in _in(step)] for step in _in(steps)))
            for op, steps in zip(ops, phases, strict=True)
        ]
        return StepSchedule(network, kind, tuple(made), routes=Rows.of(list(sends.numbers)))

    @property
    def shard_sizes(self) -> tuple[Fraction, ...]:
        """For each node of the topology, the size of its shard in M; 0 for a switch or an idle node."""
        members = self.members
        equal = Fraction(1) if self.collective is Collective.ALL_TO_ALL else Fraction(1, len(members))
        shards = self.shards or (equal,) * len(members)
        sizes = [Fraction(0)] * len(self.topology.nodes)
        for node, shard in zip(members, shards, strict=True):
            sizes[node] = shard
        return tuple(sizes)

    @property
    def steps(self) -> int:
        """The number of steps: T_L in hops."""
        return sum(phase.transfers.steps for phase in self.phases)

    @property
    def size(self) -> str:
        images = "" if self.symmetry is None else f", {self.symmetry.order} images each"
        return f"{plural(self.steps, 'step')}, {plural(len(self), 'transfer')}{images}"

    def __len__(self) -> int:
        """Return the number of transfers that are listed."""
        return sum(len(phase.transfers) for phase in self.phases)


_OPS = {
    Collective.ALLGATHER: (PhaseOp.BROADCAST,),
    Collective.REDUCE_SCATTER: (PhaseOp.REDUCE,),
    Collective.ALLREDUCE: (PhaseOp.REDUCE, PhaseOp.BROADCAST),
    Collective.ALL_TO_ALL: (PhaseOp.BROADCAST,),
}
"""The phases of each collective that a schedule of steps can be of."""


def _in(values: object) -> tuple[Any, ...]:
    """Return the steps of a phase, or the sends of a step."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{argument(values)} is no list; a phase is a list of steps, and a step is a list of sends")
    return tuple(values)


class _Sends:
    """The sends of an algorithm as transfers.

    Attributes:
        numbers: the number of each route that a transfer has.
    """

    def __init__(self, topology: Topology) -> None:
        self._topology, self._routes = topology, Routes(topology)
        self.numbers: dict[Path, int] = {}

    def transfer(self, send: Sequence[object]) -> Transfer:
        """Return the transfer of a send as `StepSchedule.of_sends` takes it."""
        if isinstance(send, str) or not isinstance(send, Sequence) or len(send) not in {3, 5}:
            form = "expected (owner, source, target) or also begin and end, in a list of sends for each step"
            raise InputError(f"a send is {argument(send)}; {form}")
        nodes, part = tuple(send[:3]), tuple(send[3:])
        roles = zip(nodes, ("owner", "source", "target"), strict=True)
        owner, source, target = (root_number(self._topology, cast("NodeId", node), role=role) for node, role in roles)
        try:
            low, high = map(to_fraction, part or (0, 1))
        except ValueError as error:
            raise InputError(f"the part of a send is {argument(part)}: {error}; give two rationals") from None
        if not 0 <= low < high <= 1:
            raise InputError(f"the part of a send is {argument(part)}; expected 0 <= begin < end <= 1")
        if source == target:
            raise InputError(f"a send is {argument(send)}; its source and its target must differ")
        return Transfer(owner, low, high, source, target, self._route(source, target))

    def _route(self, source: int, target: int) -> int | None:
        """Return the number of the route of a send; None if a link joins its ends, or if nothing does."""
        path = None if (source, target) in self._topology.link_numbers else self._routes.find(source, target)
        return None if path is None else self.numbers.setdefault(path, len(self.numbers))
