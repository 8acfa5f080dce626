"""Trees as the lowering sees them: which chunks go from which rank to which, switches left out.

A *flow* is a tree with the chunks that it carries. Its edges lead from rank to rank; a route that begins or ends on a
switch which multicasts or aggregates is joined with those that it meets there, so that each edge again has a rank at
both ends.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

from forestcoll.collective import PhaseOp
from forestcoll.lowering.grid import Grid
from forestcoll.lowering.options import Options
from forestcoll.schedule.trees.value import Tree, TreeSchedule


@dataclass(frozen=True, slots=True)
class Flow:
    """Chunks that go along the edges of a tree.

    Attributes:
        op: from the root to all, or from all to the root.
        phase: the number of the phase.
        root: the rank of the root.
        offset: the number of the first chunk, of all data.
        count: how many chunks.
        children: of each rank that has any, those one step further from the root, in the order of the schedule.
        fans: of each rank, those of its children, two or more, that one switch reaches at once: it multicasts to them,
            or adds up what comes from them.
        instance: which of the programs side by side it belongs to.
        piece: which piece of the tree's part it is.
        turn: the number of the tree among those of its root in the phase.
    """

    op: PhaseOp
    phase: int
    root: int
    offset: int
    count: int
    children: Mapping[int, tuple[int, ...]]
    fans: Mapping[int, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    instance: int = 0
    piece: int = 0
    turn: int = 0

    def split(self, parts: int) -> "Iterator[Flow]":
        """Yield `parts` flows of about equal sizes."""
        for part in range(parts):
            begin, end = self.count * part // parts, self.count * (part + 1) // parts
            if end > begin:
                yield replace(self, offset=self.offset + begin, count=end - begin)

    def edges(self) -> Iterator[tuple[int, int, int]]:
        """Yield each edge: its end nearer the root, the other one, and how far the first is from the root."""
        waiting = [(self.root, 0)]
        while waiting:
            upper, depth = waiting.pop()
            for lower in self.children.get(upper, ()):
                yield upper, lower, depth
                waiting.append((lower, depth + 1))

    @property
    def height(self) -> int:
        """How many edges lead from the root to the rank that is furthest from it."""
        return max((depth + 1 for *_, depth in self.edges()), default=0)


def flows_of(schedule: TreeSchedule, grid: Grid, options: Options, most: int | None) -> tuple[Flow, ...]:
    """Return the flows of `schedule`, which lists all trees, on `grid`; none has more than `most` chunks.

    Every chunk of the grid becomes `instances` times `pieces` chunks of the program. Where there are pieces, the trees
    of both phases of an allreduce are cut alike: what is broadcast as a piece was reduced by pieces of the same number.
    """
    flows: list[Flow] = []
    trees = list(_trees(schedule, grid))
    for flow in _cut_alike(trees) if options.pieces > 1 else trees:
        scaled = replace(flow, offset=flow.offset * options.scale, count=flow.count * options.scale)
        for instance, part in enumerate(scaled.split(options.instances)):
            for piece, part_of_it in enumerate(part.split(options.pieces)):
                numbered = replace(part_of_it, instance=instance, piece=piece)
                flows += numbered.split(1 if most is None else -(-numbered.count // most))
    return tuple(flows)


def _cut_alike(trees: Sequence[Flow]) -> Iterator[Flow]:
    """Yield the parts of `trees` between all places where a tree of the same root begins or ends."""
    bounds: dict[int, set[int]] = {}
    for flow in trees:
        bounds.setdefault(flow.root, set()).update((flow.offset, flow.offset + flow.count))
    for flow in trees:
        end = flow.offset + flow.count
        inner = sorted(bound for bound in bounds[flow.root] if flow.offset < bound < end)
        for begin, until in pairwise([flow.offset, *inner, end]):
            yield replace(flow, offset=begin, count=until - begin)


def _trees(schedule: TreeSchedule, grid: Grid) -> Iterator[Flow]:
    """Yield each tree that carries anything; those of a root lie one behind the other, from where its part begins."""
    ranks = {node: rank for rank, node in enumerate(schedule.members)}
    paths = list(schedule.routes)
    for number, (phase, counts) in enumerate(zip(schedule.phases, grid.trees, strict=True)):
        begins = list(accumulate(grid.parts, initial=0))
        turns = [0] * len(ranks)
        for tree, count in zip(phase, counts, strict=True):
            if not count:
                continue
            root = ranks[tree.root]
            children = _children(tree, phase.op, paths, ranks)
            fans = _fans(schedule, tree, phase.op, children, paths)
            yield Flow(phase.op, number, root, begins[root], count, children, fans, turn=turns[root])
            begins[root] += count
            turns[root] += 1


def _children(
    tree: Tree, op: PhaseOp, paths: list[tuple[int, ...]], ranks: Mapping[int, int]
) -> Mapping[int, tuple[int, ...]]:
    """Return of each rank those that hang on it, directly or over switches that multicast or aggregate."""
    ends = [(paths[route][0], paths[route][-1]) for route in tree.routes]
    outward = ends if op is PhaseOp.BROADCAST else [(last, first) for first, last in reversed(ends)]
    above: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for upper, lower in outward:
        above[lower] = upper if upper in ranks else above[upper]
        if lower in ranks:
            children.setdefault(ranks[above[lower]], []).append(ranks[lower])
    return {rank: tuple(listed) for rank, listed in children.items()}


def _fans(
    schedule: TreeSchedule,
    tree: Tree,
    op: PhaseOp,
    children: Mapping[int, tuple[int, ...]],
    paths: list[tuple[int, ...]],
) -> Mapping[int, tuple[tuple[int, ...], ...]]:
    """Return of each rank its children that one switch alone is between, if it can multicast, or add up."""
    nodes, compute = schedule.topology.nodes, schedule.members
    ranks = {node: rank for rank, node in enumerate(compute)}
    switches: dict[int, int] = {}
    for route in tree.routes:
        path = paths[route] if op is PhaseOp.BROADCAST else paths[route][::-1]
        last = nodes[path[-2]]
        able = last.multicast if op is PhaseOp.BROADCAST else last.aggregation
        if path[-1] in ranks and able and (len(path) == 3 or path[0] not in ranks):
            switches[ranks[path[-1]]] = path[-2]
    fans: dict[int, tuple[tuple[int, ...], ...]] = {}
    for rank, below in children.items():
        by_switch: dict[int, list[int]] = {}
        for child in below:
            if child in switches:
                by_switch.setdefault(switches[child], []).append(child)
        if listed := tuple(tuple(fan) for fan in by_switch.values() if len(fan) > 1):
            fans[rank] = listed
    return fans
