"""Correct schedules made by hand, as drafts that a test can change before it freezes them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, Self

import numpy as np

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.proof import Bound, CutProof
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.topology import Shift, Symmetry, Topology, TopologyBuilder
from networks import built, with_abilities


@dataclass
class DraftTree:
    root: int
    share: Fraction
    routes: list[int]


@dataclass
class Draft:
    """A mutable schedule."""

    topology: Topology
    algbw: Fraction
    optimal: Fraction | None
    cut: list[int] | None
    routes: list[list[int]] = field(default_factory=list)
    trees: list[DraftTree] = field(default_factory=list)
    shifts: list[tuple[int, list[int]]] | None = None
    collective: Collective = Collective.ALLGATHER
    shards: list[Fraction] | None = None
    ranks: list[int] | None = None
    reduced: list[DraftTree] = field(default_factory=list)  # the trees of a first phase, before `trees`

    def add_tree(self, share: Fraction, *paths: list[int]) -> None:
        """Add a tree whose root is the start of the first of `paths`, and add new paths to the table of routes."""
        for path in paths:
            if path not in self.routes:
                self.routes.append(path)
        self.trees.append(DraftTree(paths[0][0], share, [self.routes.index(path) for path in paths]))

    def with_route(self, place: int, *nodes: int) -> Self:
        """Return the draft with other nodes of a route, or with a new route after the last one."""
        return replace(self, routes=[*self.routes[:place], list(nodes), *self.routes[place + 1 :]])

    def with_tree(self, place: int, **changes: Any) -> Self:
        """Return the draft with other attributes of a tree."""
        changed = replace(self.trees[place], **changes)
        return replace(self, trees=[*self.trees[:place], changed, *self.trees[place + 1 :]])

    def _bound(self) -> Bound | None:
        if self.optimal is None or self.cut is None:
            return None
        return Bound(self.collective, self.optimal, CutProof(tuple(self.cut)))

    def freeze(self) -> TreeSchedule:
        only = PhaseOp.REDUCE if self.collective.only_reduces else PhaseOp.BROADCAST
        phases: tuple[Phase, ...] = (_phase(only, self.trees),)
        if self.collective is Collective.ALLREDUCE:
            phases = (_phase(PhaseOp.REDUCE, self.reduced), *phases)
        return TreeSchedule(
            topology=self.topology,
            collective=self.collective,
            routes=Rows.of(self.routes),
            phases=phases,
            algbw=self.algbw,
            bound=self._bound(),
            symmetry=None if self.shifts is None else Symmetry(tuple(_shift(*shift) for shift in self.shifts)),
            shards=None if self.shards is None else tuple(self.shards),
            ranks=None if self.ranks is None else tuple(self.ranks),
        )


def _phase(op: PhaseOp, trees: list[DraftTree]) -> Phase:
    return Phase(
        op=op,
        roots=tuple(tree.root for tree in trees),
        shares=tuple(tree.share for tree in trees),
        routes=Rows.of([tree.routes for tree in trees]),
    )


def _shift(order: int, image: list[int]) -> Shift:
    return Shift(order, np.array(image, dtype=np.int64))


GPUS = [f"g{number}" for number in range(5)]


def _around(nodes: Sequence[str | int], bandwidth: int) -> Iterator[tuple[str | int, str | int, int]]:
    """Yield the links between each node and the next one, and between the last and the first."""
    return ((node, nodes[(place + 1) % len(nodes)], bandwidth) for place, node in enumerate(nodes))


def two_gpus() -> Draft:
    draft = Draft(built("ab", [("a", "b", 10)], name="two"), Fraction(20), Fraction(20), [0])
    draft.add_tree(Fraction(1, 2), [0, 1])
    draft.add_tree(Fraction(1, 2), [1, 0])
    return draft


def _ring_topology() -> Topology:
    return built(GPUS[:4], _around(GPUS[:4], 25), name="ring")


def ring() -> Draft:
    """Four GPUs. Half of each shard goes around the ring in each direction: each link carries 3/8 of M."""
    draft = Draft(_ring_topology(), Fraction(200, 3), Fraction(200, 3), [1, 2, 3])
    for root in range(4):
        for step in (1, 3):
            stops = [(root + step * count) % 4 for count in range(4)]
            draft.add_tree(Fraction(1, 8), *([stops[count], stops[count + 1]] for count in range(3)))
    return draft


def slow_ring() -> Draft:
    """The same ring in one direction only: correct, and half as fast as the bound."""
    draft = Draft(_ring_topology(), Fraction(100, 3), Fraction(200, 3), [1, 2, 3])
    for root in range(4):
        stops = [(root + count) % 4 for count in range(4)]
        draft.add_tree(Fraction(1, 4), *([stops[count], stops[count + 1]] for count in range(3)))
    return draft


def boxes() -> Draft:
    """Two boxes of two GPUs (0, 1 and 2, 3), with a fast switch in each box (4, 5) and a slow one between them (6)."""
    inside = [(f"g{number}", f"s{number // 2}", 100) for number in range(4)]
    between = [(gpu, "net", 10) for gpu in GPUS[:4]]
    switches = ["s0", "s1", "net"]
    topology = built([*GPUS[:4], *switches], [*inside, *between], switches=switches, name="boxes")
    draft = Draft(topology, Fraction(40), Fraction(40), [0, 1, 4])
    for root in range(4):
        mate, across = root ^ 1, (root + 2) % 4
        home, away = 4 + root // 2, 4 + across // 2
        draft.add_tree(Fraction(1, 4), [root, 6, across], [across, away, across ^ 1], [root, home, mate])
    return draft


def multicast() -> Draft:
    """Three GPUs on a switch (3) that copies: 1/3 of M on each link to the switch, 2/3 on each link from it."""
    links = [(gpu, "nvs", 10) for gpu in GPUS[:3]]
    plain = built([*GPUS[:3], "nvs"], links, switches=["nvs"], name="multicast")
    draft = Draft(with_abilities(plain, [(True, False)]), Fraction(15), Fraction(15), [0, 1, 3])
    for root in range(3):
        draft.add_tree(Fraction(1, 3), [root, 3], *([3, other] for other in range(3) if other != root))
    return draft


def relayed() -> Draft:
    """Three GPUs around an idle one (3), which relays all data: the schedule of `multicast` with copies at the relay.

    A fifth GPU (4) is idle and not used.
    """
    topology = built(GPUS, [(gpu, "g3", 10) for gpu in GPUS if gpu != "g3"], name="relayed")
    draft = Draft(topology, Fraction(15), Fraction(15), [0, 1, 3, 4], ranks=[0, 1, 2])
    for root in range(3):
        draft.add_tree(Fraction(1, 3), [root, 3], *([3, other] for other in range(3) if other != root))
    draft.routes.append([3, 4])
    return draft


def rotated_relayed() -> Draft:
    """The schedule of `relayed` as one tree and a rotation of the GPUs. The idle GPUs stay in place."""
    draft = relayed()
    draft.trees = draft.trees[:1]
    draft.shifts = [(3, [1, 2, 0, 3, 4])]
    return draft


def complete() -> Draft:
    """Five fully connected GPUs. Every root sends its shard directly to all others. One route is not used."""
    names = range(0, 50, 10)
    topology = built(names, [(*pair, 7) for pair in combinations(names, 2)], name="complete")
    draft = Draft(topology, Fraction(35), Fraction(35), [0, 1, 2, 3])
    for root in range(5):
        draft.add_tree(Fraction(1, 5), *([root, other] for other in range(5) if other != root))
    draft.routes.append([0, 1])
    return draft


def unclaimed() -> Draft:
    return replace(ring(), optimal=None, cut=None)


def rotated_ring() -> Draft:
    """The schedule of `ring` as the two trees of one root and a rotation by one node."""
    draft = ring()
    draft.trees = draft.trees[:2]
    draft.shifts = [(4, [1, 2, 3, 0])]
    return draft


def halved_ring() -> Draft:
    """The schedule of `ring` as the trees of two roots and a rotation by two nodes."""
    draft = ring()
    draft.trees = draft.trees[2:6]
    draft.shifts = [(2, [2, 3, 0, 1])]
    return draft


def swapped_boxes() -> Draft:
    """The schedule of `boxes` as the trees of the GPUs of one box and an exchange of the boxes."""
    draft = boxes()
    draft.trees = [tree for tree in draft.trees if tree.root in (0, 1)]
    draft.shifts = [(2, [2, 3, 0, 1, 5, 4, 6])]
    return draft


def rotated_multicast() -> Draft:
    """The schedule of `multicast` as one tree and a rotation of the GPUs. The switch stays in place."""
    draft = multicast()
    draft.trees = draft.trees[:1]
    draft.shifts = [(3, [1, 2, 0, 3])]
    return draft


def torus() -> Draft:
    """A one-way torus of 2 x 3 nodes: a tree down the first column and along both rows, and a shift in each dimension.

    A link of a column carries 1/6 of M, a link of a row 4/6. Both take 1/30 of the time of M at bandwidth 1.
    """
    builder = TopologyBuilder("torus")
    names = [builder.add_compute(f"{row},{column}") for row in range(2) for column in range(3)]
    for number, name in enumerate(names):
        row, column = divmod(number, 3)
        builder.add_link(name, names[(1 - row) * 3 + column], 5)
        builder.add_link(name, names[row * 3 + (column + 1) % 3], 20)
    draft = Draft(builder.build(), Fraction(30), Fraction(30), [1, 2, 3, 4, 5])
    draft.add_tree(Fraction(1, 6), [0, 3], [0, 1], [1, 2], [3, 4], [4, 5])
    draft.shifts = [(2, [3, 4, 5, 0, 1, 2]), (3, [1, 2, 0, 4, 5, 3])]
    return draft


def exchanged_leaves() -> Draft:
    """Three GPUs in a triangle: the exchange of two of them leaves the root of the first tree in place."""
    draft = Draft(built("abc", _around("abc", 5), name="triangle"), Fraction(15), Fraction(15), [0, 1])
    draft.add_tree(Fraction(1, 6), [0, 1], [1, 2])
    draft.add_tree(Fraction(1, 6), [1, 0], [0, 2])
    draft.add_tree(Fraction(1, 6), [1, 2], [1, 0])
    draft.shifts = [(2, [0, 2, 1])]
    return draft


def one_slow_gpu() -> Draft:
    """Four GPUs on a switch, the first over a slower link. The other three are rotated."""
    links = [(gpu, "s", 3 if gpu == "g0" else 10) for gpu in GPUS[:4]]
    topology = built([*GPUS[:4], "s"], links, switches="s", name="one slow")
    draft = Draft(topology, Fraction(4), Fraction(4), [1, 2, 3, 4])
    draft.add_tree(Fraction(1, 12), [0, 4, 1], [1, 4, 2], [1, 4, 3])
    draft.add_tree(Fraction(1, 4), [1, 4, 2], [1, 4, 3], [2, 4, 0])
    draft.shifts = [(3, [0, 2, 3, 1, 4])]
    return draft


def chain(nodes: int) -> Draft:
    """A one-way ring with the tree of one root and a rotation by one node: each link carries N - 1 of the N shards."""
    best = Fraction(nodes, nodes - 1)
    draft = Draft(built(range(nodes), one_way=_around(range(nodes), 1), name="ring"), best, best, list(range(1, nodes)))
    draft.add_tree(Fraction(1, nodes), *([number, number + 1] for number in range(nodes - 1)))
    draft.shifts = [(nodes, [(number + 1) % nodes for number in range(nodes)])]
    return draft


def slow_broadcast() -> Draft:
    """The first tree of `one_slow_gpu` as a broadcast: all its images have the same root."""
    draft = replace(one_slow_gpu(), collective=Collective.BROADCAST, cut=[0], algbw=Fraction(3), optimal=Fraction(3))
    return replace(draft, trees=draft.trees[:1]).with_tree(0, share=Fraction(1, 3))


def turned_back() -> Draft:
    """The schedule of `ring` with base trees of different roots: each is the image of a tree of the first root."""
    draft = rotated_ring()
    there = [draft.routes.index(path) for path in ([2, 1], [1, 0], [0, 3])]
    return draft.with_tree(1, root=2, routes=there)


def unmoved() -> Draft:
    """The schedule of `ring` with the trivial group."""
    return replace(ring(), shifts=[])


SYMMETRIC: tuple[Callable[[], Draft], ...] = (
    rotated_ring,
    halved_ring,
    swapped_boxes,
    rotated_multicast,
    rotated_relayed,
    torus,
    exchanged_leaves,
    one_slow_gpu,
    slow_broadcast,
    turned_back,
    unmoved,
)

GOOD: tuple[Callable[[], Draft], ...] = (two_gpus, ring, slow_ring, boxes, multicast, relayed, complete, unclaimed)


def reversed_draft(draft: Draft) -> Draft:
    """Return the reverse of a draft: a reduce-scatter for an allgather, a reduce for a broadcast."""
    kept = set(draft.cut or ())
    return replace(
        draft,
        topology=draft.topology.transposed(),
        collective=draft.collective.dual,
        cut=None if draft.cut is None else [node for node in range(len(draft.topology.nodes)) if node not in kept],
        routes=[route[::-1] for route in draft.routes],
        trees=[DraftTree(tree.root, tree.share, tree.routes[::-1]) for tree in draft.trees],
    )


def broadcast() -> Draft:
    """A broadcast from one node of the ring, half of the data in each direction."""
    draft = replace(ring(), collective=Collective.BROADCAST, algbw=Fraction(50), optimal=Fraction(50), cut=[0])
    draft.trees = [replace(tree, share=Fraction(1, 2)) for tree in draft.trees[:2]]
    return draft


def uneven() -> Draft:
    """Two GPUs, one of which has three times as much data as the other."""
    draft = replace(two_gpus(), shards=[Fraction(1, 4), Fraction(3, 4)], cut=[1])
    draft.trees[0].share, draft.trees[1].share = draft.shards or []
    draft.algbw = draft.optimal = Fraction(40, 3)
    return draft


def empty_handed() -> Draft:
    """Three GPUs on a switch that copies. One of the GPUs has no data."""
    draft = replace(multicast(), shards=[Fraction(1, 2), Fraction(1, 2), Fraction(0)], cut=[0, 1, 3])
    draft.trees = [replace(tree, share=Fraction(1, 2)) for tree in draft.trees[:2]]
    draft.algbw = draft.optimal = Fraction(10)
    return draft


def one_way_sum() -> Draft:
    """A broadcast along one direction of a ring, reversed."""
    draft = Draft(
        built(range(3), one_way=_around(range(3), 4), name="one way"),
        Fraction(4),
        Fraction(4),
        [1],
        collective=Collective.BROADCAST,
    )
    draft.add_tree(Fraction(1), [1, 2], [2, 0])
    return reversed_draft(draft)


def allreduce_of(out: Draft, **changes: Any) -> Draft:
    """An allreduce along the reversed trees of an allgather, and then along its trees."""
    back, count = reversed_draft(out), len(out.routes)
    reduced = [replace(tree, routes=[count + each for each in tree.routes]) for tree in back.trees]
    routes = [*out.routes, *back.routes]
    return replace(out, collective=Collective.ALLREDUCE, routes=routes, reduced=reduced, **changes)


def allreduce() -> Draft:
    """An allreduce on the ring. Each link carries 3/4 of M: algbw is 100/3, and the least cut allows 50."""
    return allreduce_of(ring(), algbw=Fraction(100, 3), optimal=Fraction(50), cut=[0])


def relayed_allreduce() -> Draft:
    """An allreduce over the idle node: 2/3 and 1/3 of M over each link, half as fast as the least cut allows."""
    return allreduce_of(relayed(), algbw=Fraction(10), optimal=Fraction(10), cut=[0])


def rotated_allreduce() -> Draft:
    """The schedule of `allreduce` as two trees per phase and a rotation by one node."""
    draft = allreduce()
    draft.trees, draft.reduced = draft.trees[:2], draft.reduced[:2]
    draft.shifts = [(4, [1, 2, 3, 0])]
    return draft


def _reversed(make: Callable[[], Draft]) -> Callable[[], Draft]:
    def make_reversed() -> Draft:
        return reversed_draft(make())

    make_reversed.__name__ = f"{make.__name__}_reversed"
    return make_reversed


OTHERS: tuple[Callable[[], Draft], ...] = (
    *map(_reversed, (*GOOD, rotated_ring, swapped_boxes, rotated_relayed, torus, broadcast, uneven, empty_handed)),
    broadcast,
    uneven,
    empty_handed,
    one_way_sum,
    allreduce,
    relayed_allreduce,
    rotated_allreduce,
)
"""Schedules of other collectives, and of shards of different sizes."""
