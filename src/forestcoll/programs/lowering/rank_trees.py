"""Flows: trees without switches, with the chunks that they carry.

A *flow* is a tree with the chunks that it carries. Its edges lead from rank to rank. A route that begins or ends on a
switch that multicasts or aggregates is joined with the routes that it meets there, so that each edge has a rank at both
ends.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from math import ceil

from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.collective import PhaseOp
from forestcoll.programs.lowering.grid import Grid
from forestcoll.programs.lowering.options import MOST_INSTRUCTIONS, Options, Style
from forestcoll.schedule.trees.value import Tree, TreeSchedule

SPREAD_CHUNKS = 32
"""One-sided parts with at least so many chunks have different sizes."""

SPREAD = Fraction(1, 20)
"""The smallest of these parts is smaller than the mean by this part, and the greatest one greater."""

_GOLDEN = (5**0.5 - 1) / 2
"""Multiples of the golden ratio lie evenly between whole numbers, however many there are."""


@dataclass(frozen=True, slots=True)
class RankTree:
    """Chunks that move along the edges of a tree.

    Attributes:
        op: broadcast (from the root to all) or reduce (from all to the root).
        phase: the number of the phase.
        root: the rank of the root.
        offset: the number of the first chunk, counted in all data.
        count: the number of chunks.
        children: for each rank with children, the ranks one step further from the root, in the order of the schedule.
        fans: for each rank, those of its children, two or more, that one switch reaches at once: the switch multicasts
            to them, or adds up their data.
        instance: its number among the parts of the tree that move at the same time: in instances and strands.
        piece: the number of the piece of the tree's part.
        turn: the number of the tree among those of its root in the phase.
        part: its number among the parts of the tree that follow each other through the tree, and their number.
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
    part: tuple[int, int] = (0, 1)

    @property
    def position(self) -> float:
        """Return the middle of its place among the parts of the tree, from 0 (the first data) to 1 (the last)."""
        number, parts = self.part
        return (2 * number + 1) / (2 * parts)

    def split(self, parts: int) -> "Iterator[RankTree]":
        """Yield `parts` flows of about equal sizes."""
        for part in range(parts):
            begin, end = self.count * part // parts, self.count * (part + 1) // parts
            if end > begin:
                yield replace(self, offset=self.offset + begin, count=end - begin)

    def edges(self) -> Iterator[tuple[int, int, int]]:
        """Yield each edge: its end nearer the root, the other end, and the distance of the first end from the root."""
        waiting = [(self.root, 0)]
        while waiting:
            upper, depth = waiting.pop()
            for lower in self.children.get(upper, ()):
                yield upper, lower, depth
                waiting.append((lower, depth + 1))


def rank_trees_of(schedule: TreeSchedule, grid: Grid, options: Options, most: int | None) -> tuple[RankTree, ...]:
    """Return the flows of `schedule`, which lists all trees, on `grid`; none has more than `most` chunks.

    Every chunk of the grid becomes `instances` times `pieces` chunks of the program. If a tree has several parts, the
    trees of both phases of an allreduce are cut at the same places, so that the same parts are reduced and broadcast.

    Raises:
        NoSolutionError: the parts are too many.
    """
    trees = list(_trees(schedule, grid))
    step = most_of_step(options, most)
    parts = sum(1 if step is None else ceil(Fraction(flow.count * options.scale) / step) for flow in trees)
    instructions = 2 * (len(schedule.members) - 1) * parts
    if instructions > MOST_INSTRUCTIONS:
        raise NoSolutionError(
            f"{schedule.topology.name}: with {grid.chunks:,} chunks, the program would have about {instructions:,} "
            f"instructions, and {MOST_INSTRUCTIONS:,} is the most; use fewer chunks or more step_chunks"
        )
    alike = options.pieces > 1 or (step is not None and max(flow.count * options.pieces for flow in trees) > step)
    scaled = (
        replace(flow, offset=flow.offset * options.scale, count=flow.count * options.scale)
        for flow in (_cut_alike(trees) if alike else trees)
    )
    one_root = schedule.collective.has_root
    return tuple(part for flow in scaled for part in parts_of(flow, options, step, one_root=one_root))


def most_of_step(options: Options, most: int | None) -> int | Fraction | None:
    """Return the most chunks that one instruction may move if the target allows `most`; None for any number."""
    if options.style is Style.ONE_SIDED or options.step_chunks is None:
        return most
    return options.step_chunks if most is None else min(most, options.step_chunks)


def parts_of(
    flow: RankTree, options: Options, most: int | Fraction | None, *, one_root: bool = False
) -> Iterator[RankTree]:
    """Yield the parts of a tree for instances, strands and pieces, of at most `most` chunks, rounded up."""
    if options.style is Style.ONE_SIDED:
        yield from _one_sided_parts(flow, options)
        return
    for instance, each in enumerate(flow.split(options.parallel)):
        copy = replace(each, instance=instance)
        in_steps = options.step_chunks is not None
        long = most is not None and -(-copy.count // most) >= 2 * options.parallel
        if in_steps and most is not None and long and options.lanes is None:
            parts = list(_shifted(copy, most, options.parallel, one_root=one_root))
        else:
            parts = list(_pieces(copy, 1 if in_steps else options.pieces, most))
        yield from (replace(part, part=(number, len(parts))) for number, part in enumerate(parts))


def _pieces(copy: RankTree, pieces: int, most: int | Fraction | None) -> Iterator[RankTree]:
    """Yield the parts of an instance or a strand in `pieces` pieces, of at most `most` chunks, rounded up."""
    for piece, whole in enumerate(copy.split(pieces)):
        yield from replace(whole, piece=piece).split(1 if most is None else -(-whole.count // most))


def _one_sided_parts(flow: RankTree, options: Options) -> Iterator[RankTree]:
    """Yield the pieces of the parts of a tree that move at the same time; the parts are about equal.

    If parts have `SPREAD_CHUNKS` or more, their sizes differ, so that blocks do not begin all messages at the same
    times: links would be idle in their overheads.
    """
    chunks = flow.count // options.pieces
    parts = options.instances if options.step_chunks is None else -(-chunks // options.step_chunks)
    whole = replace(flow, offset=0, count=chunks)
    for number, part in enumerate(_spread(whole, parts) if chunks >= SPREAD_CHUNKS * parts else whole.split(parts)):
        begin, count = flow.offset + part.offset * options.pieces, part.count * options.pieces
        whole = replace(flow, offset=begin, count=count, instance=number)
        yield from (replace(each, piece=piece) for piece, each in enumerate(whole.split(options.pieces)))


def _spread(flow: RankTree, parts: int) -> Iterator[RankTree]:
    """Yield `parts` flows with sizes in equal steps around the mean, from 1 - `SPREAD` to 1 + `SPREAD` of it."""
    ends = [Fraction(end, parts) * (1 - SPREAD * Fraction(parts - end, parts)) for end in range(parts + 1)]
    for begin, end in pairwise(round(flow.count * end) for end in ends):
        yield replace(flow, offset=flow.offset + begin, count=end - begin)


def _shifted(copy: RankTree, most: int | Fraction, instances: int, *, one_root: bool) -> Iterator[RankTree]:
    """Yield the parts of an instance or a strand, of at most `most` chunks, so that messages begin at different times.

    Each message takes an overhead in which it moves no data. If all blocks of a rank began their messages at the same
    times, links would be idle in all overheads. So the first part has fewer chunks, by the instance and the root. If
    there are more instances than sizes of the first part, those with the same size have different numbers of halved
    parts. With one root and two chunks, this is faster for all instances: only the overheads are apart, not the data.

    If `most` is a fraction, it is the mean of the parts, and some have one chunk more than others. With one root and
    less than three chunks, the instances also have different numbers of halved parts then.
    """
    in_pairs = one_root and 2 <= most < 3
    sizes = 1 if in_pairs and most == 2 else int(most)
    first = int(sizes * (copy.instance / instances + copy.root * _GOLDEN)) % sizes
    halves = copy.instance % (instances if in_pairs else max(1, instances // sizes)) if most > 1 else 0
    count = 1 + ceil((copy.count - first) / Fraction(most))
    ends = [0, *(min(copy.count, first + int(number * most)) for number in range(count))]
    for number, (begin, end) in enumerate(pairwise(ends)):
        part = replace(copy, offset=copy.offset + begin, count=end - begin)
        yield from part.split(2 if 1 <= number <= halves else 1)


def _cut_alike(trees: Sequence[RankTree]) -> Iterator[RankTree]:
    """Yield the parts of `trees` between all places at which a tree of the same root begins or ends."""
    bounds: dict[int, set[int]] = {}
    for flow in trees:
        bounds.setdefault(flow.root, set()).update((flow.offset, flow.offset + flow.count))
    for flow in trees:
        end = flow.offset + flow.count
        inner = sorted(bound for bound in bounds[flow.root] if flow.offset < bound < end)
        for begin, until in pairwise([flow.offset, *inner, end]):
            yield replace(flow, offset=begin, count=until - begin)


def _trees(schedule: TreeSchedule, grid: Grid) -> Iterator[RankTree]:
    """Yield each tree that carries data; the trees of a root follow each other from the first chunk of its part."""
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
            yield RankTree(phase.op, number, root, begins[root], count, children, fans, turn=turns[root])
            begins[root] += count
            turns[root] += 1


def _children(
    tree: Tree, op: PhaseOp, paths: list[tuple[int, ...]], ranks: Mapping[int, int]
) -> Mapping[int, tuple[int, ...]]:
    """Return, for each rank, its children, directly or over switches that multicast or aggregate."""
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
    """Return, for each rank, its children behind a single switch, if that switch can multicast or aggregate."""
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
