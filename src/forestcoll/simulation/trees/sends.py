"""The sends of one tree over time, with the times of the closed form of `times`.

The first piece of a tree's data reaches the target of a send D + W·M/p after the start. The last piece follows after
(p - 1)·(overhead + w·M/p), where w is the greatest time of a link of the tree for one byte of M. In an allreduce, the
data goes up a tree that reduces, and then down a tree that broadcasts from the same root.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.schedule.loads import hops_of, link_numbers
from forestcoll.schedule.loads_of import link_loads
from forestcoll.schedule.trees.value import Tree, TreeSchedule
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.loads import FloatArray, Loads
from forestcoll.simulation.sends import RootSends, Send


def sends_of_tree(schedule: TreeSchedule, size: int, pieces: int, costs: Costs) -> RootSends:
    """Return the sends of the tree of the first root that is done last.

    Args:
        schedule: a schedule that `verify` accepts. With a symmetry, only its base trees are considered.
        size: M in bytes.
        pieces: the number of pieces that the data of each tree is cut into.
        costs: the latency and the overhead.

    Raises:
        InputError: the size in bytes of the network's bandwidth unit is not known.
    """
    routes = _Routes.of(schedule, size / pieces, costs)
    root = schedule.phases[-1].roots[0]
    sends: list[Send] = []
    begin, slowest, share = 0.0, 0.0, Fraction(0)
    for phase in schedule.phases:
        trees = (tree for tree in phase if tree.root == root)
        runs = [routes.run(tree, begin) for tree in trees]
        last = max(runs, key=lambda run: run.done(pieces, costs, slowest))
        sends += last.sends
        begin, slowest, share = last.first_at_end, max(slowest, last.slowest), last.share
    rest = _rest(pieces, costs, slowest)
    ordered = sorted(sends, key=lambda send: (send.begin, send.end, send.target))
    return RootSends(
        root, share, tuple(Send(each.source, each.target, each.begin, each.end + rest) for each in ordered)
    )


def _rest(pieces: int, costs: Costs, slowest: float) -> float:
    """Return the time from the arrival of the first piece to that of the last."""
    return (pieces - 1) * (costs.overhead_us * 1e-6 + slowest)


@dataclass(frozen=True)
class _Run:
    """The sends of the first piece of a tree, and the greatest time of one of its links for a piece."""

    sends: Sequence[Send]
    share: Fraction
    slowest: float

    @property
    def first_at_end(self) -> float:
        """The time at which the first piece has arrived everywhere."""
        return max(send.end for send in self.sends)

    def done(self, pieces: int, costs: Costs, slowest: float) -> float:
        """Return the time at which the last piece has arrived; `slowest` is that of an earlier phase."""
        return self.first_at_end + _rest(pieces, costs, max(slowest, self.slowest))


@dataclass(frozen=True)
class _Routes:
    """The routes of a schedule, with the latency of each and the time of its slowest link for a piece, in seconds."""

    schedule: TreeSchedule
    latencies: FloatArray
    slowest: FloatArray

    @staticmethod
    def of(schedule: TreeSchedule, piece: float, costs: Costs) -> "_Routes":
        topology, routes = schedule.topology, schedule.routes
        loads = Loads.of_parts(topology, link_loads(schedule).parts)
        sources, targets, of_route = hops_of(routes)
        links = link_numbers(topology, sources, targets)
        slowest = np.zeros(len(routes))
        np.maximum.at(slowest, of_route, loads.seconds[links] * piece)
        stated = np.array([float(link.latency_us or 0) for link in topology.links])
        latencies = np.bincount(of_route, stated[links], len(routes))
        begins_at_compute = np.array([node.is_compute for node in topology.nodes])[routes.entries[routes.starts[:-1]]]
        latencies = latencies + np.where(begins_at_compute, costs.alpha_us + costs.overhead_us, 0.0)
        return _Routes(schedule, np.asarray(latencies * 1e-6, dtype=np.float64), slowest)

    def run(self, tree: Tree, begin: float) -> _Run:
        """Return the sends of the first piece of a tree whose data can be sent from `begin` on."""
        slowest = max(float(self.slowest[route]) for route in tree.routes)
        return _Run(tuple(self._sends(tree, begin)), tree.share, slowest)

    def _sends(self, tree: Tree, begin: float) -> Iterator[Send]:
        """Yield the sends in the order of the data: a node sends when the data of all sends to it has arrived."""
        arrived: dict[int, float] = {}
        for number in tree.routes:
            route = self.schedule.routes[number]
            source, target = route[0], route[-1]
            first = arrived.get(source, begin)
            end = first + float(self.latencies[number] + self.slowest[number])
            arrived[target] = max(arrived.get(target, begin), end)
            yield Send(source, target, first, end)
