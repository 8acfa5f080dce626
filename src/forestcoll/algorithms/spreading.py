"""How data spreads inside a box: to each member directly, or along an optimal forest of the box.

Direct sends are used where they are as fast as the optimum of the box, as on an NVSwitch or a full mesh. Boxes that are
alike have the same forest, which is computed once.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from forestcoll.algorithms.forests import Edge
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.base.errors import ForestcollError
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.solver.optimum import solve
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.graph.routes import Routes

Weighted = tuple[tuple[Fraction, tuple[Edge, ...]], ...]
"""Trees from one node, each with its part of the data of that node. The parts add up to 1."""


class Spreading:
    """The trees from each member of a box to the other members of the box."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._by_shape: dict[object, TreeSchedule] = {}
        self._of_box: dict[int, dict[int, Weighted]] = {}

    def is_direct(self, box: Sequence[int]) -> bool:
        """Return whether each member of a box sends directly to all others."""
        return all(edge[0] == root for root in box for _, edges in self.trees(root) for edge in edges)

    def trees(self, root: int) -> Weighted:
        """Return the trees from `root`."""
        box = self._problem.boxes.of[root]
        if box not in self._of_box:
            self._of_box[box] = self._of(next(each for each in self._problem.boxes.members if root in each))
        return self._of_box[box][root]

    def _of(self, members: tuple[int, ...]) -> dict[int, Weighted]:
        if len(members) == 1:
            return {members[0]: ((Fraction(1), ()),)}
        nodes = self._problem.topology.nodes
        inside = [
            each
            for each in sorted(self._problem.boxes.inside(members[0]))
            if not nodes[each].is_compute or each in members
        ]
        schedule = self._optimal(inside)
        direct = self._direct(members, inside)
        if direct is not None and self._algbw(direct, inside) == schedule.algbw:
            return direct
        return _from_schedule(schedule, inside, len(members))

    def _direct(self, members: tuple[int, ...], inside: Sequence[int]) -> dict[int, Weighted] | None:
        routes = Routes(self._problem.topology, inside)
        if any(routes.find(one, other) is None for one in members for other in members if one != other):
            return None
        return {one: ((Fraction(1), tuple((one, other) for other in members if other != one)),) for one in members}

    def _algbw(self, direct: dict[int, Weighted], inside: Sequence[int]) -> Fraction:
        """Return the algbw of an allgather in the box by direct sends."""
        routes = Routes(self._problem.topology, inside)
        loads: dict[tuple[int, int], int] = {}
        for ((_, edges),) in direct.values():
            for edge in edges:
                for hop in pairwise(routes.find(edge[0], edge[-1]) or ()):
                    loads[hop] = loads.get(hop, 0) + 1
        links = self._problem.topology.bandwidths
        return len(direct) / max(load / links[hop] for hop, load in loads.items())

    def _optimal(self, inside: Sequence[int]) -> TreeSchedule:
        try:
            box = _box_topology(self._problem.topology, inside)
            shape = (tuple(node.kind for node in box.nodes), box.links)
            if shape not in self._by_shape:
                self._by_shape[shape] = schedule_for(solve(box, NodeDemand()))
        except ForestcollError as error:
            raise DoesNotApplyError(f"the nodes of a box cannot exchange data inside it: {error}") from None
        return self._by_shape[shape]


def _box_topology(topology: Topology, kept: Sequence[int]) -> Topology:
    """Return the nodes `kept` of a box and the links between them as a network, with the nodes in this order."""
    builder = TopologyBuilder("box")
    for number in kept:
        add = builder.add_compute if topology.nodes[number].is_compute else builder.add_switch
        add(number)
    for link in topology.links:
        if link.source in kept and link.target in kept:
            builder.add_link(link.source, link.target, link.bandwidth)
    return builder.build()


def _from_schedule(schedule: TreeSchedule, inside: Sequence[int], size: int) -> dict[int, Weighted]:
    """Return the trees of a schedule of the box, with node numbers of the whole network."""
    found: dict[int, list[tuple[Fraction, tuple[Edge, ...]]]] = {}
    for tree in schedule.phases[0]:
        routes = (schedule.routes[number] for number in tree.routes)
        edges = tuple((inside[route[0]], inside[route[-1]]) for route in routes)
        found.setdefault(inside[tree.root], []).append((tree.share * size, edges))
    return {root: tuple(trees) for root, trees in found.items()}
