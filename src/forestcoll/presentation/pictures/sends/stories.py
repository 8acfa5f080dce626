"""The stories of a schedule, by its kind: one for each tree, or for each step and each shard.

Only as many stories are made as a caller takes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from forestcoll.demand.collective import PhaseOp
from forestcoll.presentation.pictures.sends.value import DrawnSend, Story
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.schedule import Schedule, entry_for
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.expansion import TreeImage, tree_images
from forestcoll.schedule.trees.value import TreeSchedule

_MOST_SENDS = 200_000
"""The sends of the stories from which some are selected."""


def stories_of(schedule: Schedule) -> Iterator[Story]:
    """Yield the stories of a schedule.

    Args:
        schedule: a schedule of trees, of steps or of a series, or a bundle of schedules of trees.

    Raises:
        InputError: schedules of this kind have no picture.

    Example:
        >>> from forestcoll import generate
        >>> first = next(stories_of(generate("ring:nodes=4")))
        >>> first.name, first.last
        ('tree 1 of 8, root 0, 1/8 of the data', 2)
    """
    stories: Iterator[Story] = entry_for(STORIES, schedule, "drawn")(schedule)
    return stories


def selected_stories(schedule: Schedule, most: int) -> tuple[tuple[Story, ...], bool]:
    """Return at most `most` stories, and whether these are all.

    If there are more, each node has the first of its stories before any node has two.

    Raises:
        InputError: schedules of this kind have no picture.
    """
    stories, are_all = _first_stories(schedule)
    count: dict[object, int] = {}
    ranks = []
    for place, story in enumerate(stories):
        key = story.shard if story.shard is not None else f"step {place}"
        count[key] = count.get(key, -1) + 1
        ranks.append((count[key], place))
    chosen = sorted(place for _, place in sorted(ranks)[:most])
    return tuple(stories[place] for place in chosen), are_all and len(stories) <= most


def _first_stories(schedule: Schedule) -> tuple[list[Story], bool]:
    """Return the first stories of a schedule, with about `_MOST_SENDS` sends together, and whether these are all."""
    stories: list[Story] = []
    sends = 0
    for story in stories_of(schedule):
        if sends > _MOST_SENDS:
            return stories, False
        stories.append(story)
        sends += len(story.sends)
    return stories, True


def _groups(schedule: BundleSchedule) -> Iterator[Story]:
    """Yield the stories of each member in turn."""
    for place, member in enumerate(schedule.bundled):
        for story in stories_of(member.schedule):
            yield replace(story, name=f"group {place + 1} of {len(schedule.bundled)}, {story.name}")


def _trees(schedule: TreeSchedule) -> Iterator[Story]:
    order = 1 if schedule.symmetry is None else schedule.symmetry.order
    for number, phase in enumerate(schedule.phases):
        of_phase = "" if len(schedule.phases) == 1 else f"{phase.op.value}, "
        count = len(phase) * order
        for place, tree in enumerate(tree_images(schedule, number)):
            root = schedule.topology.nodes[tree.root].id
            name = f"{of_phase}tree {place + 1:,} of {count:,}, root {root}, {tree.share} of the data"
            yield Story(name, _tree_sends(tree, phase.op), tree.root)


def _tree_sends(tree: TreeImage, op: PhaseOp) -> tuple[DrawnSend, ...]:
    """Return the sends of a tree: a broadcast counts from the root, a reduce from the leaves."""
    paths = [tuple(path) for path in tree.paths]
    orders = _from_root(paths) if op is PhaseOp.BROADCAST else _from_leaves(paths)
    sends = (DrawnSend(order, path, tree.share) for order, path in zip(orders, paths, strict=True))
    return tuple(sorted(sends, key=lambda send: send.order))


def _from_root(paths: Iterable[tuple[int, ...]]) -> list[int]:
    reached: dict[int, int] = {}
    orders = []
    for path in paths:
        orders.append(reached.get(path[0], 0) + 1)
        reached.setdefault(path[-1], orders[-1])
    return orders


def _from_leaves(paths: Iterable[tuple[int, ...]]) -> list[int]:
    """Return the order of each path of a reduce: one more than the greatest of the paths into its source."""
    into: dict[int, int] = {}
    orders = []
    for path in paths:
        orders.append(into.get(path[0], 0) + 1)
        into[path[-1]] = max(into.get(path[-1], 0), orders[-1])
    return orders


def _steps(schedule: StepSchedule) -> Iterator[Story]:
    schedule = expanded_steps(schedule)
    members = schedule.members
    listed = [
        (number, phase, step) for number, phase in enumerate(schedule.phases) for step in range(phase.transfers.steps)
    ]
    parts = schedule.demand.parts(schedule.topology)
    part_of = dict(zip(members, parts, strict=True)) if len(parts) == len(members) else {}
    whole = Fraction(1, max(len(members), 1))
    for place, (_, phase, step) in enumerate(listed):
        sends = tuple(
            DrawnSend(1, (each.source, each.target), (each.high - each.low) * part_of.get(each.shard, whole))
            for each in phase.transfers.step(step)
        )
        yield Story(f"step {place + 1:,} of {len(listed):,}, {len(sends):,} transfers", sends)
    for shard in members:
        yield Story(f"shard of {schedule.topology.nodes[shard].id}", _shard_sends(schedule, shard), shard)


def _shard_sends(schedule: StepSchedule, shard: int) -> tuple[DrawnSend, ...]:
    """Return the transfers of one shard, in the order of the steps."""
    sends, before = [], 0
    for phase in schedule.phases:
        for step in range(phase.transfers.steps):
            sends += [
                DrawnSend(before + step + 1, (each.source, each.target), each.high - each.low)
                for each in phase.transfers.step(step)
                if each.shard == shard
            ]
        before += phase.transfers.steps
    return tuple(sends)


def _series(schedule: SeriesSchedule) -> Iterator[Story]:
    for place, tree in enumerate(schedule.trees):
        orders = _from_leaves(tree.routes)  # also right from a root, as no node is entered twice
        sends = (DrawnSend(order, route, Fraction(1)) for order, route in zip(orders, tree.routes, strict=True))
        name = f"tree {place + 1:,} of {len(schedule.trees):,}, {tree.weight} messages per unit of time"
        yield Story(name, tuple(sorted(sends, key=lambda send: send.order)), schedule.root_of(tree))


STORIES: Mapping[type[Schedule], Callable[[Any], Iterator[Story]]] = {
    TreeSchedule: _trees,
    StepSchedule: _steps,
    SeriesSchedule: _series,
    BundleSchedule: _groups,
}
"""The stories of each kind of schedule."""
