"""Graph files of NCCL from a file of the user: a schedule of rings, or a dump of NCCL, which loses its ranks."""

from fractions import Fraction
from math import gcd, lcm
from pathlib import Path

from forestcoll.base.errors import InputError
from forestcoll.base.files import read_bytes, read_start
from forestcoll.demand.collective import UNROOTED, Collective
from forestcoll.nccl.channels import Channels
from forestcoll.nccl.graph_file import MAX_WRITTEN, Graph, looks_like_graphs, read_graphs
from forestcoll.nccl.host_graphs import HostGraph, graph_of_rings
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import Phase, Tree, TreeSchedule
from forestcoll.topology.graph.boxes import kinds_of_boxes
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


def scheduled_graph(schedule: Schedule) -> HostGraph:
    """Return the graph file of a schedule of rings inside one host, such as one of `nccl-ring`.

    Raises:
        InputError: the schedule is of another collective, of several hosts, or not of rings; or NCCL cannot say it.
    """
    topology = schedule.topology
    if not isinstance(schedule, TreeSchedule) or schedule.collective not in UNROOTED or schedule.shards is not None:
        raise InputError(f"{topology.name}: NCCL's rings are for an allgather, a reduce-scatter or an allreduce only")
    if sum(len(kind.names) for kind in kinds_of_boxes(topology)) > 1:
        raise InputError(f"{topology.name}: a schedule of several hosts is not written; give the topology itself")
    rings = _rings(schedule)
    total = schedule.algbw * Fraction(len(schedule.members) - 1, len(schedule.members))
    if schedule.collective is Collective.ALLREDUCE:
        total *= 2
    unit = Fraction(
        gcd(*(each.numerator for each in rings.values())), lcm(*(each.denominator for each in rings.values()))
    )
    orders = tuple(order for order, share in rings.items() for _ in range(int(share / unit)))
    if len(orders) > MAX_WRITTEN:
        raise InputError(
            f"{topology.name}: these shares need {len(orders)} equal channels, and NCCL holds {MAX_WRITTEN} of a "
            "file; give the topology itself"
        )
    channels = Channels(orders, total / len(orders), None, is_proven=False)
    return graph_of_rings(topology, schedule.members, channels)


def _rings(schedule: TreeSchedule) -> dict[tuple[int, ...], Fraction]:
    """Return the rings of a schedule, each from its least node, with its part of the data."""
    found: dict[tuple[int, ...], dict[int, Fraction]] = {}
    phase = schedule.phases[-1]
    for tree in phase:
        order = _chain(schedule, phase, tree)
        place = order.index(min(order))
        ring = found.setdefault((*order[place:], *order[:place]), {})
        ring[tree.root] = ring.get(tree.root, Fraction(0)) + tree.share
    if schedule.symmetry is not None or any(
        len(ring) < len(schedule.members) or len(set(ring.values())) > 1 for ring in found.values()
    ):
        raise _not_rings(schedule)
    return {order: sum(ring.values(), Fraction(0)) for order, ring in found.items()}


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
