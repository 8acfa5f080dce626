"""Graph files of NCCL from a file of the user: a schedule of rings, or a dump of NCCL, which loses its ranks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby, pairwise
from math import gcd, lcm
from pathlib import Path

from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.ring_orders import nics_of, port_numbers
from forestcoll.base.errors import InputError
from forestcoll.base.files import read_bytes, read_start
from forestcoll.demand.collective import UNROOTED, Collective
from forestcoll.nccl.graph.channels import Channels
from forestcoll.nccl.graph.file import (
    MAX_WRITTEN,
    Channel,
    Graph,
    GraphFile,
    Pattern,
    looks_like_graphs,
    read_graphs,
)
from forestcoll.nccl.graph.hosts import HostGraph, devices_of, gbps, in_boxes, in_pairs, kinds_of_paths, share_of
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import Phase, Tree, TreeSchedule
from forestcoll.topology.graph.boxes import box_name
from forestcoll.topology.importers.source import Source


def holds_graphs(path: Path) -> bool:
    """Return whether a file is a dump of NCCL's graphs."""
    return path.is_file() and looks_like_graphs(read_start(path))


def dumped_graph(path: Path) -> HostGraph:
    """Return the graphs of a dump (`NCCL_GRAPH_DUMP_FILE`), which can then be given back.

    Raises:
        InputError: as `read_graphs`.
    """
    file = read_graphs(Source.of(read_bytes(path), path))
    return HostGraph((), file, _channels(file.rings), _channels(file.trees), str(path))


def _channels(graph: Graph | None) -> Channels | None:
    if graph is None:
        return None
    orders = tuple(each.gpus for each in graph.channels)
    return Channels(orders, graph.speed, None, is_proven=False)


@dataclass
class _Ring:
    """A ring of a schedule.

    Attributes:
        order: the nodes, from the least one.
        routes: the route of each send.
        shares: the part of the data of each root.
    """

    order: tuple[int, ...]
    routes: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    shares: dict[int, Fraction] = field(default_factory=dict)

    @property
    def share(self) -> Fraction:
        """The part of the data that goes around."""
        return sum(self.shares.values(), Fraction(0))

    def takes(self, root: int, routes: Mapping[tuple[int, int], tuple[int, ...]]) -> bool:
        """Return whether a tree with that root and these routes can be a part of the ring."""
        return root not in self.shares and all(self.routes.get(send, route) == route for send, route in routes.items())


def scheduled_graphs(schedule: Schedule) -> list[HostGraph]:
    """Return the graph files of a schedule of rings, such as one of `nccl-ring`; one for all hosts that are alike.

    Raises:
        InputError: the schedule is of another collective or not of rings; or NCCL cannot say it.
    """
    topology = schedule.topology
    if not isinstance(schedule, TreeSchedule) or schedule.collective not in UNROOTED or schedule.shards is not None:
        raise InputError(f"{topology.name}: NCCL's rings are for an allgather, a reduce-scatter or an allreduce only")
    rings = _rings(schedule)
    shares = [ring.share for ring in rings]
    unit = Fraction(gcd(*(each.numerator for each in shares)), lcm(*(each.denominator for each in shares)))
    equal = [ring for ring in rings for _ in range(int(ring.share / unit))]
    if len(equal) > MAX_WRITTEN:
        raise InputError(
            f"{topology.name}: these shares need {len(equal)} equal channels, and NCCL holds {MAX_WRITTEN} of a "
            "file; give the topology itself"
        )
    total = schedule.algbw * Fraction(len(schedule.members) - 1, len(schedule.members))
    total *= 2 if schedule.collective is Collective.ALLREDUCE else 1
    return _graphs(problem_of(in_boxes(topology)), equal, total / len(equal))


def _graphs(problem: Problem, equal: Sequence[_Ring], carried: Fraction) -> list[HostGraph]:
    """Return the files of hosts for rings that carry equal parts; `carried` is what each does."""
    boxes, name = problem.boxes.members, problem.topology.name
    rings = Channels(tuple(ring.order for ring in equal), carried, None, is_proven=False)
    passed = in_pairs((_passages(problem, ring) for ring in equal), _is_opposite)
    by_box = [tuple(each[place] for each in passed) for place in range(len(boxes))]
    swapped = tuple(by_box[0][place ^ 1] for place in range(len(passed) // 2 * 2))
    crosses = len(set(by_box)) > 1 and by_box == [swapped if place % 2 else by_box[0] for place in range(len(boxes))]
    files: dict[tuple[Channel, ...], list[int]] = {}
    for place, channels in enumerate(by_box):
        files.setdefault(by_box[0] if crosses else channels, []).append(place)
    speed = rings.speed * gbps(problem.topology)
    found = []
    for channels, places in files.items():
        box = boxes[places[0]]
        inside = speed * (share_of(problem, box) if len(boxes) == 1 else 1)
        kinds, devices = kinds_of_paths(problem, box), devices_of(problem.topology, box)
        graph = Graph(Pattern.RING, crosses, channels, devices, inside, inside, *kinds)
        names = tuple(box_name(problem.topology, boxes[place]) for place in places)
        found.append(HostGraph(names, GraphFile(graph, None), rings, None, name, problem.topology.bandwidth_unit))
    return found


def _is_opposite(one: tuple[Channel, ...], other: tuple[Channel, ...]) -> bool:
    """Return whether two channels pass the first host in opposite directions."""
    first, second = one[0], other[0]
    return first.entry != first.leaving and (first.entry, first.leaving) == (second.leaving, second.entry)


def _passages(problem: Problem, ring: _Ring) -> tuple[Channel, ...]:
    """Return the passages of a ring through all hosts, which NCCL visits in their order."""
    boxes, of, order = problem.boxes.members, problem.boxes.of, ring.order
    if len(boxes) == 1:
        return (Channel(None, tuple(boxes[0].index(each) for each in order), None),)
    starts = [place for place, node in enumerate(order) if of[order[place - 1]] != of[node]]
    first = next(place for place in starts if of[order[place]] == of[boxes[0][0]])
    around = [*order[first:], *order[:first]]
    runs = [tuple(run) for _, run in groupby(around, key=of.__getitem__)]
    if [set(run) for run in runs] != [set(box) for box in boxes]:
        raise InputError(f"{problem.topology.name}: its rings visit hosts twice or in another order, which NCCL cannot")
    found = []
    for place, (box, run) in enumerate(zip(boxes, runs, strict=True)):
        nics = nics_of(problem, box)
        ports = [numbers[0] for numbers in port_numbers(problem, nics)]
        ends = (runs[place - 1][-1], run[0]), (run[-1], runs[(place + 1) % len(runs)][0])
        into, out_of = (list(pairwise(ring.routes[each])) for each in ends)
        doors = [(nic, door) for nic, each in enumerate(nics) for door in each.values()]
        enters = next(ports[nic] for nic, door in doors if door.arrival[:2] in into)
        leaves = next(ports[nic] for nic, door in doors if door.departure[-2:] in out_of)
        found.append(Channel(enters, tuple(box.index(each) for each in run), leaves))
    return tuple(found)


def _rings(schedule: TreeSchedule) -> list[_Ring]:
    """Return the rings of a schedule: the trees of all roots that go around together."""
    found: dict[tuple[int, ...], list[_Ring]] = {}
    phase = schedule.phases[-1]
    for tree in phase:
        order = _chain(schedule, phase, tree)
        place = order.index(min(order))
        around = (*order[place:], *order[:place])
        routes = {(route[0], route[-1]): route for route in (schedule.routes[number] for number in tree.routes)}
        alike = found.setdefault(around, [])
        ring = next((each for each in alike if each.takes(tree.root, routes)), None)
        if ring is None:
            alike.append(ring := _Ring(around))
        ring.routes |= routes
        ring.shares[tree.root] = tree.share
    rings = [ring for alike in found.values() for ring in alike]
    whole = all(len(each.shares) == len(schedule.members) and len(set(each.shares.values())) == 1 for each in rings)
    if schedule.symmetry is not None or not whole:
        raise _not_rings(schedule)
    return rings


def _chain(schedule: TreeSchedule, phase: Phase, tree: Tree) -> tuple[int, ...]:
    """Return the nodes of a tree without branches, in the direction of the ring."""
    sends = [(schedule.routes[route][0], schedule.routes[route][-1]) for route in tree.routes]
    following = dict(sends) if phase.op.value == "broadcast" else {target: source for source, target in sends}
    order = [tree.root]
    while order[-1] in following and len(order) <= len(sends):
        order.append(following[order[-1]])
    if len(set(order)) != len(sends) + 1 or set(order) != set(schedule.members):
        raise _not_rings(schedule)
    return tuple(order if phase.op.value == "broadcast" else order[::-1])


def _not_rings(schedule: TreeSchedule) -> InputError:
    return InputError(
        f"{schedule.topology.name}: its trees are no rings, and NCCL's graph file says nothing else; give the topology "
        "itself, or a schedule by --method nccl-ring"
    )
