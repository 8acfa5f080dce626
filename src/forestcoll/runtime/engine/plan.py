"""What a verified schedule means for each rank: flows, their edges, connections and rates; pure values.

A *flow* is a part of the data that one tree reduces, one tree broadcasts or, in an allreduce, both. The trees of the
two phases of an allreduce begin and end at different places of a root's part; the part is cut at all of them, so that
each flow has one tree a phase, and a chunk can be broadcast when that chunk was reduced. In an all-to-all, a gather or
a scatter, a flow is what one rank sends to one other, and its tree is a path.

An *edge* is one hop of one flow in one phase. A *lane* is what edges share a connection by: the two ranks, the link by
which the data leaves the one, and the link by which it comes to the other.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from math import floor

from forestcoll.base.errors import InputError, InternalError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.runtime.engine.trees import SWITCH, FlowTree, Hop, Hops, check_runnable, rooted_at, trees_of
from forestcoll.schedule.schedule import Schedule
from forestcoll.verification import verify

STAGING_BYTES = 2**25
"""The staging memory of a rank for one operation, about; it is shared by the edges that need some."""

_LEAST_WINDOW, _MOST_WINDOW = 2**16, 2**20


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """A part of the data with its trees.

    Attributes:
        part: names the part of the data that it belongs to; see `Plan.parts`.
        root: the rank of the root, of both trees.
        low: where it begins, as a fraction of the part.
        high: where it ends.
        share: its fraction of all data.
        reduce: the hops of the tree that adds up, in an order in which data can flow; none if nothing is reduced.
        broadcast: the hops of the tree that copies; none if nothing is broadcast.
    """

    part: int
    root: int
    low: Fraction
    high: Fraction
    share: Fraction
    reduce: Hops
    broadcast: Hops


@dataclass(frozen=True, slots=True)
class Edge:
    """One hop of one flow in one phase.

    Attributes:
        number: of all edges of all ranks, from 0.
        flow: the number of the flow.
        op: what its phase does.
        hop: from where to where.
        is_staged: whether the receiver keeps what comes in staging memory: it adds it up, or has no result of its own.
            Of a path, every rank but the last does.
    """

    number: int
    flow: int
    op: PhaseOp
    hop: Hop
    is_staged: bool


@dataclass(frozen=True)
class Plan:
    """A collective as the runtime runs it.

    Attributes:
        collective: what it does.
        size: how many ranks the group has, relays included.
        members: the ranks that take part; others are relays.
        root: the rank of the root, where the collective has one; else None.
        parts: of each root of trees, in the order of the ranks, its fraction of all data. A switch that is a root comes
            after the ranks: its number is its node number plus `size`. Of flows, the fraction of each pair that
            exchanges data; its number is the rank of the source times `size`, plus the rank of the target.
        flows: in the order of the parts, those of a part from its beginning to its end.
        edges: of all flows.
        algbw: the bandwidth of the schedule, recomputed by its verifier, in the topology's unit.
        unit: the topology's unit of bandwidth.
        digest: a hash of all of this; equal on ranks that run the same plan.
    """

    collective: Collective
    size: int
    members: tuple[int, ...]
    root: int | None
    parts: Mapping[int, Fraction]
    flows: tuple[PlanEntry, ...]
    edges: tuple[Edge, ...]
    algbw: Fraction
    unit: str
    digest: bytes

    @property
    def lanes(self) -> frozenset[Hop]:
        """The connections that it needs."""
        return frozenset(edge.hop for edge in self.edges)

    def windows(self) -> tuple[int, ...]:
        """Return of each rank how many bytes of staging memory each of its staged edges may take."""
        counts = [0] * self.size
        for edge in self.edges:
            counts[edge.hop.target] += edge.is_staged
        return tuple(min(_MOST_WINDOW, max(_LEAST_WINDOW, STAGING_BYTES // max(1, count))) for count in counts)


def plan_of(schedule: Schedule) -> Plan:
    """Verify `schedule` and return its plan.

    Raises:
        InputError: the schedule is not right: the message has the broken rule; or schedules of its kind cannot be run.

    Example:
        >>> from forestcoll import generate, load_topology
        >>> plan = plan_of(generate(load_topology("ring:nodes=4")))
        >>> plan.size, len(plan.lanes)
        (4, 8)
    """
    check_runnable(schedule)
    algbw = _verified(schedule)
    compute = schedule.topology.compute
    ranks = {node: rank for rank, node in enumerate(compute)}
    members = tuple(ranks[node] for node in schedule.members)
    trees = trees_of(schedule)
    flows = tuple(_flows(trees))
    root = None if schedule.root is None else ranks[schedule.root]
    return Plan(
        collective=schedule.collective,
        size=len(compute),
        members=members,
        root=root,
        parts=_parts(trees[0], _owners(schedule.collective, members)),
        flows=flows,
        edges=tuple(_edges(flows, None if schedule.collective.is_personalised else members)),
        algbw=algbw,
        unit=schedule.topology.bandwidth_unit,
        digest=_digest(schedule.collective, len(compute), members, root, flows),
    )


def _verified(schedule: Schedule) -> Fraction:
    report = verify(schedule)
    if report.fault is not None:
        what = f"the schedule of {schedule.collective.with_article} on {schedule.topology.name}"
        raise InputError(f"{what} is not right: {report.fault.message} ({report.fault.rule}); generate it again")
    if report.algbw is None:
        raise InternalError("a schedule without a fault has no bandwidth")
    return report.algbw


def _owners(collective: Collective, members: Sequence[int]) -> Sequence[int]:
    """Return the ranks that have a shard, be it empty, even if no tree carries it."""
    return members if collective.has_shards and not collective.is_personalised else ()


def _parts(trees: Sequence[FlowTree], owners: Sequence[int]) -> Mapping[int, Fraction]:
    """Return of each part its fraction of the data, also of the shards of `owners`."""
    totals = dict.fromkeys(owners, Fraction(0))
    for tree in trees:
        totals[tree.part] = totals.get(tree.part, Fraction(0)) + tree.share
    return {part: totals[part] for part in sorted(totals)}


def _flows(phases: Sequence[Sequence[FlowTree]]) -> Iterator[PlanEntry]:
    """Yield the flows of each part: the part is cut wherever a tree of one of the phases begins or ends."""
    by_part: dict[int, list[list[FlowTree]]] = {}
    for number, trees in enumerate(phases):
        for tree in trees:
            by_part.setdefault(tree.part, [[] for _ in phases])[number].append(tree)
    for part in sorted(by_part):
        of_part = [[tree for tree in trees if tree.share] for trees in by_part[part]]
        ends = [list(accumulate(tree.share for tree in trees)) for trees in of_part]
        points = sorted({Fraction(0), *(end for listed in ends for end in listed)})
        places = [0] * len(phases)
        for turn, (low, high) in enumerate(pairwise(points)):
            trees = []
            for number, listed in enumerate(of_part):
                while ends[number][places[number]] <= low:
                    places[number] += 1
                trees.append(listed[places[number]])
            root, hops = _between_ranks(trees, turn)
            none: Hops = ()
            reduce, broadcast = hops.get(PhaseOp.REDUCE, none), hops.get(PhaseOp.BROADCAST, none)
            yield PlanEntry(part, root, low / points[-1], high / points[-1], high - low, reduce, broadcast)


def _between_ranks(trees: Sequence[FlowTree], turn: int) -> tuple[int, dict[PhaseOp, Hops]]:
    """Return root and hops of the trees of a flow; the ranks next to a root that is a switch take turns."""
    if trees[0].root != SWITCH:
        return trees[0].root, {tree.op: tree.hops for tree in trees}
    ends = sorted({hop.source + hop.target - SWITCH for hop in trees[0].hops if SWITCH in {hop.source, hop.target}})
    root = ends[turn % len(ends)]
    return root, {tree.op: rooted_at(root, tree.op, tree.hops) for tree in trees}


def _edges(flows: Sequence[PlanEntry], members: Sequence[int] | None) -> Iterator[Edge]:
    """Yield the edges of flows; `members` have all of the result or, if it is None, the last rank of each path has."""
    has_result = set(members or ())
    number = 0
    for place, flow in enumerate(flows):
        if members is None:
            has_result = {flow.broadcast[-1].target}
        for op, hops in ((PhaseOp.REDUCE, sorted(flow.reduce)), (PhaseOp.BROADCAST, flow.broadcast)):
            for hop in hops:
                is_staged = op is PhaseOp.REDUCE or hop.target not in has_result
                yield Edge(number, place, op, hop, is_staged)
                number += 1


def _digest(
    collective: Collective, size: int, members: tuple[int, ...], root: int | None, flows: Sequence[PlanEntry]
) -> bytes:
    hashed = hashlib.sha256(f"{collective.value} {size} {members} {root}".encode())
    for flow in flows:
        hashed.update(f"\n{flow.part} {flow.root} {flow.low} {flow.high}".encode())
        for hops in (flow.reduce, flow.broadcast):
            hashed.update(b";")
            hashed.update(" ".join(f"{hop.source},{hop.target},{hop.leaves},{hop.enters}" for hop in hops).encode())
    return hashed.digest()


def rates_of(plan: Plan, bytes_per_unit: Fraction) -> tuple[int, ...]:
    """Return of each edge how fast it sends where the schedule keeps its pace, in bytes a second.

    Args:
        plan: the plan.
        bytes_per_unit: how many bytes a second one unit of the topology's bandwidth is.
    """
    return tuple(floor(plan.flows[edge.flow].share * plan.algbw * bytes_per_unit) for edge in plan.edges)
