"""Rules about phases and the shares of their trees. Each returns the message of the first wrong place, or None."""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from forestcoll.base.exact import exact_sum
from forestcoll.demand.collective import PhaseOp
from forestcoll.verification.proof_checks.question import MAX_DENOMINATOR_DIGITS
from forestcoll.verification.routes.form import fits
from forestcoll.verification.trees import wording
from forestcoll.verification.trees.context import TreeContext


def rows_malformed(context: TreeContext) -> str | None:
    """Find flat rows that do not match. The file reader never makes such rows, but a program may."""
    if not fits(context.schedule.routes):
        return "routes: starts do not ascend from 0 to the number of entries"
    for place, phase in enumerate(context.schedule.phases):
        if not fits(phase.routes):
            return f"phase {place}: the starts of routes do not ascend from 0 to the number of entries"
        counts = (len(phase.roots), len(phase.shares), len(phase.routes))
        if len(set(counts)) > 1:
            return f"phase {place}: has {counts[0]} roots, {counts[1]} shares and {counts[2]} lists of routes"
    return None


def phase_ops(context: TreeContext, *, expected: Sequence[PhaseOp]) -> str | None:
    """Find phases other than the `expected` ones."""
    found = [phase.op for phase in context.schedule.phases]
    if found == list(expected):
        return None
    return f"phases are [{', '.join(found)}]; expected [{', '.join(expected)}] for {context.schedule.collective}"


def no_trees(context: TreeContext) -> str | None:
    """Find a phase without trees."""
    for place, phase in enumerate(context.schedule.phases):
        if not len(phase):
            return f"phase {place} lists no trees; expected one or more for each of {len(context.compute)} roots"
    return None


def not_positive(context: TreeContext) -> str | None:
    """Find a tree whose share is 0 or negative."""
    for place, phase in enumerate(context.schedule.phases):
        for tree, share in enumerate(phase.shares):
            if share <= 0:
                return f"{wording.tree(context, place, tree)} has share {wording.number(share)}; expected more than 0"
    return None


def too_fine(context: TreeContext) -> str | None:
    """Find shares whose sums would take too long to compute."""
    if context.denominator is not None:
        return None
    return f"the common denominator of the shares has more than {MAX_DENOMINATOR_DIGITS} digits; write them coarser"


def sum_wrong(context: TreeContext) -> str | None:
    """Find a phase whose trees do not carry exactly all data."""
    for place, units in enumerate(context.units):
        whole = sum(units) * context.group.order
        if whole != context.denominator:
            total = wording.number(_share(context, whole))
            trees = (
                f"{len(units)} base trees, {context.group.order} images each,"
                if context.group.shifts
                else f"{len(units)} trees"
            )
            return f"phase {place}: the shares of its {trees} add up to {total}; expected exactly 1"
    return None


def shards_wrong(context: TreeContext) -> str | None:
    """Find shards of a collective that has none, or shards that do not divide the data."""
    shards, collective = context.schedule.shards, context.schedule.collective
    if shards is None:
        return None
    if not collective.has_shards:
        return f"shards are given; expected none, because {collective.with_article} has no shards of given sizes"
    if len(shards) != len(context.compute):
        members = f"{len(context.compute)} {wording.members(context)}"
        return f"there are {len(shards)} shards; expected one for each of the {members}"
    for node, shard in zip(context.compute, shards, strict=True):
        if shard < 0:
            return f"the shard of {wording.node(context, node)} is {wording.number(shard)}; expected 0 or more"
    total = exact_sum(shards)
    return None if total == 1 else f"the shards add up to {wording.number(total)}; expected exactly 1"


def root_wrong(context: TreeContext) -> str | None:
    """Find a compute node whose trees do not carry its shard."""
    for place, carried in enumerate(_carried_by_roots(context)):
        for root, shard in zip(context.compute, context.shards, strict=True):
            if carried[root] != shard:
                found = f"{_trees_of(context, place, root)} carry {wording.number(carried[root])}"
                return f"phase {place}: the {found}; expected its shard, {wording.number(shard)}"
    return None


def roots_differ(context: TreeContext) -> str | None:
    """Find a tree whose root is not the root of the first tree."""
    root = context.schedule.phases[0].roots[0]
    for tree, other in enumerate(context.schedule.phases[0].roots):
        if other != root:
            return f"{wording.tree(context, 0, tree)} has another root than tree 0, {wording.node(context, root)}"
    if context.holders and root not in context.holders:
        return f"{wording.tree(context, 0, 0)} is rooted at a node that is not one of the sources"
    if context.group.orbit_sizes[root] > 1:
        return f"the symmetry gives tree 0 (root {wording.node(context, root)}) images with other roots; expected none"
    return None


def roots_unequal(context: TreeContext) -> str | None:
    """Find a root that carries more in one phase than in another."""
    first, *others = _carried_by_roots(context)
    for place, carried in enumerate(others, start=1):
        for root in range(context.network.size):
            if carried[root] != first[root]:
                found = f"{_trees_of(context, place, root)} carry {wording.number(carried[root])}"
                return f"phase {place}: the {found}; expected what they carry in phase 0, {wording.number(first[root])}"
    return None


def _carried_by_roots(context: TreeContext) -> list[dict[int, Fraction]]:
    """Return, for each phase, the data that the trees of each node carry.

    Each node of the orbit of a base tree's root is the root of the same number of images.
    """
    orbits = context.group.orbits.tolist()
    images = (context.group.order // context.group.orbit_sizes).tolist()
    phases = []
    for phase, units in zip(context.schedule.phases, context.units, strict=True):
        carried: defaultdict[int, int] = defaultdict(int)
        for root, unit in zip(phase.roots, units, strict=True):
            carried[orbits[root]] += unit
        phases.append(
            {root: _share(context, images[root] * carried[orbits[root]]) for root in range(context.network.size)}
        )
    return phases


def _trees_of(context: TreeContext, place: int, root: int) -> str:
    """Return in words how many trees of a phase have this root, or have an image with this root."""
    orbits = context.group.orbits
    trees = sum(orbits[each] == orbits[root] for each in context.schedule.phases[place].roots)
    what = "base trees that have an image with root" if context.group.shifts else "trees with root"
    return f"{trees} {what} {wording.node(context, root)}"


def _share(context: TreeContext, units: int) -> Fraction:
    return Fraction(units, context.denominator or 1)


def algbw_wrong(context: TreeContext) -> str | None:
    """Find a claimed bandwidth that is not the achieved one."""
    claimed = context.schedule.algbw
    if context.pace is None:
        return f"algbw is {wording.number(claimed)}, but nothing crosses any link"
    if claimed == context.algbw:
        return None
    number = int(context.pace.links[0])
    link = context.schedule.topology.links[number]
    load = _share(context, int(context.loads[number]))
    ends = f"{wording.node(context, link.source)} -> {wording.node(context, link.target)}"
    busiest = f"link {ends} carries {wording.number(load)} of the data at bandwidth {wording.number(link.bandwidth)}"
    return f"algbw is {wording.number(claimed)}, but {busiest}; expected {wording.number(1 / context.pace.time)}"
