"""The schedules of a communicator: its rings and its trees over all hosts, on a network, each verified.

All channels carry equal parts, as NCCL divides large messages. Between hosts, data crosses by the NICs that the log
names, if a GPU reaches them in the network, as in `nccl/graph/schedules.py`; else by the NIC of the GPU. Rings do an
allgather, a reduce-scatter and an allreduce; from a root, the data of a broadcast follows each ring, and that of a
reduce in return. Trees do an allreduce.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import Edge, LogicalTree, Part, forest, joined_schedule, reversed_part, rings
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.base.errors import InputError, InternalError
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.nccl.graph.schedules import Ends
from forestcoll.nccl.job.communicators import Communicator, Tree, downwards, is_tree
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import Topology
from forestcoll.topology.graph.boxes import box_numbers
from forestcoll.verification import verify

_REDUCING = frozenset({Collective.REDUCE_SCATTER, Collective.ALLREDUCE, Collective.REDUCE})
_SPREADING = frozenset({Collective.ALLGATHER, Collective.ALLREDUCE, Collective.BROADCAST})


@dataclass(frozen=True)
class Placement:
    """Where the ranks of a communicator are in a network.

    Attributes:
        topology: the network.
        nodes: the compute node of each rank.
        in_box_order: the nodes if the ranks were numbered in the order of the boxes; `nodes` if they are, or if the log
            does not say the hosts.
        members: the compute nodes that take part, as for a demand; None for all.
    """

    topology: Topology
    nodes: tuple[int, ...]
    in_box_order: tuple[int, ...]
    members: tuple[int, ...] | None


def placed(communicator: Communicator, topology: Topology, ranks: tuple[int, ...] | None, where: str) -> Placement:
    """Return where the ranks of a communicator are: host by host in the boxes, in the order of the names of the hosts.

    Rank i is compute node i if `ranks` names the nodes, or if hosts and boxes differ in size.

    Raises:
        InputError: the number of ranks is another.
    """
    members = NodeDemand(ranks=ranks).members(topology)
    if len(members) != communicator.size:
        whose = f"{topology.name} has {len(members)} compute nodes" if ranks is None else f"{len(members)} are named"
        fix = "name those that took part by --ranks" if communicator.size < len(members) else "give its network"
        raise InputError(f"{where}: the communicator has {communicator.size} ranks, and {whose}; {fix}")
    boxes: dict[int, list[int]] = {}
    for member in members:
        boxes.setdefault(box_numbers(topology).get(member, -1), []).append(member)
    hosts = [list(host) for host in communicator.hosts or ()]
    places = {gpu.rank: (gpu.device or 0, int(gpu.bus or "0", 16), gpu.rank) for gpu in communicator.gpus}
    names = {gpu.rank: _natural(gpu.host) for gpu in communicator.gpus}
    by_name = sorted(hosts, key=lambda host: names.get(host[0], []))
    if ranks is not None or [len(host) for host in by_name] != [len(box) for box in boxes.values()]:
        return Placement(topology, members, members, ranks)
    return Placement(topology, _on(by_name, places, boxes), _on(hosts, places, boxes), ranks)


def _on(
    hosts: Sequence[Sequence[int]], places: Mapping[int, tuple[int, int, int]], boxes: Mapping[int, Sequence[int]]
) -> tuple[int, ...]:
    """Return the node of each rank, if each host is the box at its place, and its GPUs are in order in the box."""
    found: dict[int, int] = {}
    for host, box in zip(hosts, boxes.values(), strict=True):
        found.update(zip(sorted(host, key=lambda rank: places[rank]), box, strict=True))
    return tuple(found[rank] for rank in range(len(found)))


def _natural(name: str) -> list[tuple[int, str]]:
    """Return the parts of a name, so that node-2 comes before node-10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def schedule_of(
    communicator: Communicator, placement: Placement, demand: NodeDemand, *, by_trees: bool
) -> tuple[TreeSchedule, int]:
    """Return the schedule of the rings or the trees of a communicator, and how many ends use another NIC than logged.

    Args:
        communicator: the communicator.
        placement: where its ranks are.
        demand: a collective over all its ranks.
        by_trees: whether the trees do it, not the rings.

    Raises:
        DoesNotApplyError: a ring or a tree is unknown, NCCL does not use it for the collective, or a send has no route.
    """
    problem = Problem(placement.topology, demand)
    collective = demand.collective
    if collective not in ({Collective.ALLREDUCE} if by_trees else _REDUCING | _SPREADING):
        raise DoesNotApplyError(f"NCCL has no {'trees' if by_trees else 'rings'} for {collective.with_article}")
    whole = all(map(is_tree, communicator.trees)) if by_trees else None not in communicator.rings
    if not communicator.channels or not whole:
        raise DoesNotApplyError(f"the log does not state all {'trees' if by_trees else 'rings'}")
    nodes, changed = placement.nodes, 0

    def part(each: Problem, *, is_forwards: bool) -> Part:
        nonlocal changed
        if by_trees:
            return forest(each, [_tree(each, tree, nodes, len(communicator.trees)) for tree in communicator.trees])
        found = _Rings(communicator, nodes, each, is_forwards=is_forwards)
        sends = [found.sends(channel) for channel in range(len(communicator.rings))]
        changed = max(changed, sum(number is not None for _, number in found.ends.changed))
        share = Fraction(1, len(sends))
        if demand.root is None:
            return rings(each, [(share, edges) for edges in sends])
        return forest(each, [_path(edges, demand.root, share) for edges in sends])

    parts = []
    if collective in _REDUCING:
        parts.append(reversed_part(part(problem.transposed(), is_forwards=False)))
    if collective in _SPREADING:
        parts.append(part(problem, is_forwards=True))
    schedule = joined_schedule(problem, parts)
    fault = verify(schedule).fault
    if fault is not None:
        raise InternalError(f"the schedule of a log is not valid: {fault.message}")
    return schedule, changed


class _Rings:
    """The sends of the rings of a communicator on a network, or on the transposed one, where they are reversed."""

    def __init__(
        self, communicator: Communicator, nodes: Sequence[int], problem: Problem, *, is_forwards: bool
    ) -> None:
        self._rings = communicator.rings
        self._nodes, self._is_forwards = nodes, is_forwards
        self._by_edge = {(each.channel, each.source, each.target): each for each in communicator.connections}
        self._box = {node: place for place, box in enumerate(problem.boxes.members) for node in box}
        numbers = {nic for each in communicator.connections for nic in (each.sends_by, each.receives_by)} - {None}
        self.ends = Ends(problem, {nic for nic in numbers if nic is not None}, problem.boxes.members)

    def sends(self, channel: int) -> list[Edge]:
        """Return the sends of the ring of a channel, one after the other."""
        ring = self._rings[channel] or ()
        order = ring if self._is_forwards else ring[::-1]
        return [self._send(channel, *pair) for pair in pairwise((*order, order[0]))]

    def _send(self, channel: int, source: int, target: int) -> Edge:
        one, other = self._nodes[source], self._nodes[target]
        if one not in self._box or other not in self._box or self._box[one] == self._box[other]:
            return one, other
        key = (channel, source, target) if self._is_forwards else (channel, target, source)
        found = self._by_edge[key]
        leaving, entering = (
            (found.sends_by, found.receives_by) if self._is_forwards else (found.receives_by, found.sends_by)
        )
        departure = self.ends.departure(self._box[one], one, leaving)
        return self.ends.join(one, departure, self.ends.arrival(self._box[other], other, entering), other)


def _path(edges: Sequence[Edge], root: int, share: Fraction) -> LogicalTree:
    """Return the way of the data of a root along a ring: all sends but the last, into the root."""
    start = next(place for place, edge in enumerate(edges) if edge[0] == root)
    return LogicalTree(root, share, (*edges[start:], *edges[:start])[:-1])


def _tree(problem: Problem, tree: Tree, nodes: Sequence[int], count: int) -> LogicalTree:
    """Return a tree of a communicator, each edge after the one that reaches its parent."""
    crossings, ((_, root), *pairs) = Crossings(problem), downwards(tree)
    edges = [crossings.edge(nodes[parent], nodes[rank]) for parent, rank in pairs]
    return LogicalTree(nodes[root], Fraction(1, count), tuple(edges))
