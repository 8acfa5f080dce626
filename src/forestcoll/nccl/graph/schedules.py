"""The schedules of NCCL's own graphs: its rings or trees of one box, in all boxes of a network.

The file describes one box, and every box of the network is taken to be like it. The GPUs of a box are those of the
file in the order of their numbers, and NIC d of the file is the NIC of the box with port d, or, if an importer did not
say which ports a NIC has, the NIC number d of the box. Both are in the order in which the network lists them. A GPU
that cannot reach a NIC of its channel through switches of its box uses its own NIC. NCCL reaches such a NIC through
another GPU (PXN) or a CPU.

Between boxes, NCCL joins the last GPU of a channel to the first GPU of the same channel in the next box. If it found
rings that leave a box by another NIC than they enter (`crossnic="2"`), it exchanges the channels of a pair in every
second box. Trees are NCCL's double binary tree over the boxes, with a chain of the GPUs inside each box. All channels
carry equal parts. Source: NCCL 2.30, `src/graph/connect.cc` and `trees.cc`.
"""

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import (
    Edge,
    LogicalTree,
    Part,
    Ring,
    around,
    forest,
    joined_schedule,
    reversed_part,
    rings,
)
from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.nccl_tree import box_trees, numbers_downwards
from forestcoll.algorithms.ring_orders import Door, nics_of, port_numbers
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.nccl.graph.file import Channel, Graph, Pattern
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology.graph.routes import Path


def schedule_of_graph(problem: Problem, graph: Graph, where: str) -> tuple[TreeSchedule, int]:
    """Return the schedule of a graph in all boxes of a problem, and how many ends of channels use another NIC.

    Args:
        problem: the problem; trees are for an allreduce.
        graph: the channels of one box.
        where: the file, for error messages.

    Raises:
        InputError: the boxes of the network do not have as many GPUs as the graph.
        DoesNotApplyError: a send has no route through switches.
    """
    boxes = _boxes(problem, graph, where)
    changed: set[tuple[int, int | None]] = set()
    numbers = {number for each in graph.channels for number in (each.entry, each.leaving) if number is not None}

    def part(each: Problem, *, is_forwards: bool) -> Part:
        ends = Ends(each, numbers, boxes)
        if graph.pattern is Pattern.RING:
            found = rings(each, _rings(graph, boxes, ends, is_forwards=is_forwards))
        else:
            found = forest(each, _trees(graph, boxes, ends))
        changed.update(ends.changed)
        return found

    parts = []
    if problem.collective is not Collective.ALLGATHER:
        parts.append(reversed_part(part(problem.transposed(), is_forwards=False)))
    if problem.collective is not Collective.REDUCE_SCATTER:
        parts.append(part(problem, is_forwards=True))
    return joined_schedule(problem, parts), len(changed)


def _boxes(problem: Problem, graph: Graph, where: str) -> tuple[tuple[int, ...], ...]:
    """Return the groups of compute nodes that the graph describes: the boxes, or all that take part together."""
    size = len(problem.members)
    if graph.size == size:
        return (problem.members,)
    boxes = problem.boxes
    if not boxes.is_complete:
        raise InputError(
            f"{where}: describes {graph.size} GPUs, and {size} compute nodes take part, some in no box; "
            "give nodes the attribute 'box'"
        )
    for box in boxes.members:
        if len(box) != graph.size:
            name = problem.topology.nodes[box[0]].attributes["box"]
            raise InputError(
                f"{where}: describes a box of {graph.size} GPUs, and {len(box)} compute nodes of box {name} take part; "
                "use the graph of such a box"
            )
    return boxes.members


class Ends:
    """The paths out of boxes and into boxes that the ends of channels use.

    Args:
        problem: the problem.
        numbers: the numbers of all NICs that the channels name.
        boxes: the compute nodes of each box.

    Attributes:
        changed: the ends that use another NIC than the one that is named: the GPU and the number of the NIC.
    """

    def __init__(self, problem: Problem, numbers: Collection[int], boxes: Sequence[Sequence[int]]) -> None:
        self.crossings = Crossings(problem)
        self.changed: set[tuple[int, int | None]] = set()
        self._nics = [nics_of(problem, box) for box in boxes] if len(boxes) > 1 else []
        self._places = [
            {port: place for place, ports in enumerate(port_numbers(problem, nics)) for port in ports}
            for nics in self._nics
        ]
        self._numbers = sorted(numbers)

    def departure(self, box: int, gpu: int, number: int | None) -> Path | None:
        """Return the path from a GPU out of its box, over the NIC of that number if the GPU can reach it."""
        door = self._door(box, gpu, number)
        return self.crossings.departures.get(gpu) if door is None else door.departure

    def arrival(self, box: int, gpu: int, number: int | None) -> Path | None:
        """Return the path from outside a box to a GPU, over the NIC of that number if the GPU can reach it."""
        door = self._door(box, gpu, number)
        return self.crossings.arrivals.get(gpu) if door is None else door.arrival

    def _door(self, box: int, gpu: int, number: int | None) -> Door | None:
        nics = self._nics[box]
        place = len(nics)
        if number is not None:
            places = self._places[box]
            place = places[number] if places.keys() >= set(self._numbers) else self._numbers.index(number)
        door = nics[place].get(gpu) if place < len(nics) else None
        if door is None:
            self.changed.add((gpu, number))
        return door

    def join(self, source: int, departure: Path | None, arrival: Path | None, target: int) -> Edge:
        """Return the send from a GPU to one in another box."""
        if departure is None or arrival is None:
            return source, target
        return self.crossings.join(departure, arrival)


def _rings(graph: Graph, boxes: Sequence[Sequence[int]], ends: Ends, *, is_forwards: bool) -> list[Ring]:
    """Return the rings of a graph.

    On the transposed network, they are reversed, so that the data of a reduce-scatter goes around in their direction.
    """
    by_box = [_of_box(graph, place) for place in range(len(boxes))]
    found = []
    for number in range(len(graph.channels)):
        path = [(place, box, by_box[place][number]) for place, box in enumerate(boxes)]
        if not is_forwards:
            path = [(place, box, _backwards(channel)) for place, box, channel in reversed(path)]
        found.append((Fraction(1, len(graph.channels)), _around(path, ends)))
    return found


def _of_box(graph: Graph, place: int) -> tuple[Channel, ...]:
    """Return the channels of a box; those of a pair are exchanged in every second box if rings change NICs."""
    channels = graph.channels
    if place % 2 and graph.crosses_nics and len(channels) % 2 == 0:
        return tuple(channels[number ^ 1] for number in range(len(channels)))
    return channels


def _backwards(channel: Channel) -> Channel:
    return Channel(channel.leaving, channel.gpus[::-1], channel.entry)


def _around(path: Sequence[tuple[int, Sequence[int], Channel]], ends: Ends) -> list[Edge]:
    """Return the sends of a ring along a channel of each box."""
    orders = [[box[gpu] for gpu in channel.gpus] for _, box, channel in path]
    if len(path) == 1:
        return around(orders[0])
    sends: list[Edge] = []
    for number, (place, _, channel) in enumerate(path):
        following = (number + 1) % len(path)
        after, _, entered = path[following]
        last, first = orders[number][-1], orders[following][0]
        departure = ends.departure(place, last, channel.leaving)
        sends += [
            *pairwise(orders[number]),
            ends.join(last, departure, ends.arrival(after, first, entered.entry), first),
        ]
    return sends


def _trees(graph: Graph, boxes: Sequence[Sequence[int]], ends: Ends) -> Iterator[LogicalTree]:
    """Yield both binary trees over the boxes for each channel of a graph."""
    share = Fraction(1, 2 * len(graph.channels))
    for channel in graph.channels:
        orders = [[box[gpu] for gpu in channel.gpus] for box in boxes]
        for tree in box_trees(len(boxes)):
            edges: list[Edge] = []
            for box in numbers_downwards(tree.parents):
                parent = tree.parents[box]
                if parent is not None:
                    place = _place_of_sender(graph.pattern, len(channel.gpus), is_first=tree.is_first_child[box])
                    source, target = orders[parent][place], orders[box][0]
                    departure = ends.departure(parent, source, channel.leaving if place else channel.entry)
                    edges.append(ends.join(source, departure, ends.arrival(box, target, channel.entry), target))
                edges += pairwise(orders[box])
            yield LogicalTree(orders[tree.parents.index(None)][0], share, tuple(edges))


def _place_of_sender(pattern: Pattern, size: int, *, is_first: bool) -> int:
    """Return the place in the chain of the GPU that sends to a child box."""
    is_second_gpu = pattern is Pattern.SPLIT_TREE or (pattern is Pattern.BALANCED_TREE and is_first)
    return 1 if is_second_gpu and size > 1 else 0
