"""The layout of a network of groups: boxes side by side, and the switches that join them in rows above.

If the boxes are too many for one row, boxes of equal structure become one mark with their number, and so do the
switches of a tier.
"""

from collections.abc import Collection, Mapping, Sequence

from forestcoll.presentation.pictures.layout.labels import text_width
from forestcoll.presentation.pictures.layout.rows import NODE_HEIGHT, ROW, Inside, bars, inside_of, node_row
from forestcoll.presentation.pictures.layout.structure import FramedNodes, Structure
from forestcoll.presentation.pictures.layout.value import Frame, Mark, NetworkLayout

_WIDEST = 1400.0
"""The greatest width of groups side by side; if they need more, groups of equal structure become one mark."""
_PAD, _BETWEEN, _MARGIN, _LABEL = 14.0, 26.0, 20.0, 22.0
_STACK_HEIGHT = 84.0
_MOST_SWITCHES, _SHOWN_SWITCHES, _MOST_STACKS = 12, 4, 4
_MOST_NEAR = 8

Column = tuple[Inside | Mark, float]


def tiers_layout(structure: Structure) -> NetworkLayout:
    """Return the layout of a network with switches or groups."""
    shown, hidden = _shown_groups(structure)
    rows = _rows(structure, [node for group in shown for node in group.nodes])
    stacks = _stacks(structure, hidden, rows)
    insides = [inside_of(structure, group) for group in shown]
    loose = _loose(structure)
    widths = [each.width + 2 * _PAD for each in insides] + [each.width for each in stacks]
    if loose:
        widths.append(max(mark.x + mark.width / 2 for mark in loose))
    width = sum(widths) + _BETWEEN * (len(widths) - 1)
    top = _MARGIN + ROW * len(rows) + (NODE_HEIGHT / 2 if rows else 0) + _room_for_arcs(structure, width)
    frames, marks, x = [], [], _MARGIN
    tallest = max([each.height for each in insides] + [stack.height - _LABEL for stack in stacks], default=0.0)
    for inside in insides:
        frames.append(Frame(x, top, inside.width + 2 * _PAD, inside.height + 2 * _PAD + _LABEL, inside.label))
        marks += [mark.moved(x + _PAD, top + _PAD) for mark in inside.marks]
        x += inside.width + 2 * _PAD + _BETWEEN
    for stack in stacks:
        marks.append(stack.moved(x + stack.width / 2, top + _STACK_HEIGHT / 2 + _PAD))
        x += stack.width + _BETWEEN
    marks += [mark.moved(x, top) for mark in loose]
    marks += _switch_marks(structure, rows, marks, width)
    bottom = top + max(tallest + 2 * _PAD + _LABEL, NODE_HEIGHT)
    return NetworkLayout(width + 2 * _MARGIN, bottom + _MARGIN, tuple(marks), tuple(frames), _notes(hidden, marks))


def _room_for_arcs(structure: Structure, width: float) -> float:
    """Return the room above the groups that links between nodes of different groups need."""
    of = structure.group_of
    crosses = any(
        link.source in of and link.target in of and of[link.source] != of[link.target]
        for link in structure.topology.links
    )
    return 14 + 0.035 * width if crosses else 0.0


def _loose(structure: Structure) -> list[Mark]:
    """Return the compute nodes outside all groups, in a row."""
    return node_row(structure, [node for node in structure.topology.compute if node not in structure.group_of])


def _shown_groups(structure: Structure) -> tuple[list[FramedNodes], list[FramedNodes]]:
    """Return the groups that are drawn with all their nodes, and the others."""
    widths = [inside_of(structure, group).width + 2 * _PAD + _BETWEEN for group in _firsts(structure)]
    groups = list(structure.groups)
    of_class = {structure.group_colour(group): width for group, width in zip(_firsts(structure), widths, strict=True)}
    if sum(of_class[structure.group_colour(group)] for group in groups) <= _WIDEST:
        return groups, []
    shown, room = list[FramedNodes](), _WIDEST - 200
    for wanted in (_firsts(structure), _seconds(structure)):
        for group in wanted:
            width = of_class[structure.group_colour(group)]
            if width <= room or not shown:
                shown.append(group)
                room -= width
    shown.sort(key=lambda group: group.nodes)
    return shown, [group for group in groups if group not in shown]


def _by_class(structure: Structure) -> list[list[FramedNodes]]:
    classes: dict[tuple[int, ...], list[FramedNodes]] = {}
    for group in structure.groups:
        classes.setdefault(structure.group_colour(group), []).append(group)
    return list(classes.values())


def _firsts(structure: Structure) -> list[FramedNodes]:
    return [groups[0] for groups in _by_class(structure)]


def _seconds(structure: Structure) -> list[FramedNodes]:
    return [groups[1] for groups in _by_class(structure) if len(groups) > 1]


def _rows(structure: Structure, shown: Sequence[int]) -> list[list[tuple[int, ...]]]:
    """Return the switches outside the groups by their level, from the lowest; each tuple becomes one mark."""
    levels = structure.levels
    near = {other for node in shown for other in structure.neighbours[node]}
    rows = []
    for level in sorted(set(levels.values())):
        row = sorted(switch for switch in levels if levels[switch] == level)
        row.sort(key=lambda switch: switch not in near)
        kept = row if len(row) <= _MOST_SWITCHES else row[: _count_shown(row, near)]
        alike: dict[int, list[int]] = {}
        for switch in row[len(kept) :]:
            alike.setdefault(structure.colours[switch], []).append(switch)
        rows.append([*((switch,) for switch in kept), *(tuple(each) for each in alike.values())])
        near |= {other for switch in kept for other in structure.neighbours[switch]}
    return rows


def _count_shown(row: Sequence[int], near: Collection[int]) -> int:
    """Return how many switches of a long row have their own mark: those at shown nodes, if they are not too many."""
    count = sum(switch in near for switch in row)
    return count if 0 < count <= _MOST_NEAR else _SHOWN_SWITCHES


def _stacks(
    structure: Structure, hidden: Sequence[FramedNodes], rows: Sequence[Sequence[tuple[int, ...]]]
) -> list[Mark]:
    """Return one mark for the hidden groups of equal structure at the same drawn switches."""
    of_switch = {node: nodes for row in rows for nodes in row for node in nodes}
    classes: dict[object, list[FramedNodes]] = {}
    for group in hidden:
        around = {of_switch.get(other) for node in group.nodes for other in structure.neighbours[node]}
        classes.setdefault((structure.group_colour(group), frozenset(around)), []).append(group)
    if len(classes) > _MOST_STACKS:
        classes = {}
        for group in hidden:
            classes.setdefault(structure.group_colour(group), []).append(group)
    return [_stack(structure, groups) for groups in classes.values()]


def _stack(structure: Structure, groups: Sequence[FramedNodes]) -> Mark:
    nodes = tuple(node for group in groups for node in group.nodes)
    like = next(first for first in _firsts(structure) if _is_like(structure, first, groups[0]))
    label = groups[0].name if len(groups) == 1 else f"{len(groups):,} {_plural(groups[0].name)} like {like.name}"
    range_ = "" if len(groups) == 1 else f": {groups[0].name} to {groups[-1].name}"
    name = f"{label}{range_}, {len(nodes):,} nodes"
    return Mark(nodes, 0, 0, max(text_width(label) + 24, 120), _STACK_HEIGHT, label, name, is_compute=False)


def _is_like(structure: Structure, one: FramedNodes, other: FramedNodes) -> bool:
    return structure.group_colour(one) == structure.group_colour(other)


def _plural(name: str) -> str:
    noun = name.partition(" ")[0]
    return {"box": "boxes", "group": "groups"}.get(noun, "sets of nodes")


def _switch_marks(
    structure: Structure, rows: Sequence[Sequence[tuple[int, ...]]], lower: Sequence[Mark], width: float
) -> list[Mark]:
    """Return the marks of the switches outside the groups, each row ordered by the places of the marks below."""
    place = {node: mark.x for mark in lower for node in mark.nodes}
    found: list[Mark] = []
    for number, row in enumerate(rows):
        y = _MARGIN + ROW * (len(rows) - 1 - number) + NODE_HEIGHT / 2
        ordered = sorted(row, key=lambda nodes: (len(nodes) > 1, _centre(structure, nodes, place), nodes))
        made = [mark.moved(_MARGIN, 0) for mark in bars(structure, ordered, width, y)]
        place |= {node: mark.x for mark in made for node in mark.nodes}
        found += made
    return found


def _centre(structure: Structure, nodes: tuple[int, ...], place: Mapping[int, float]) -> float:
    around = [place[other] for node in nodes for other in structure.neighbours[node] if other in place]
    return round(sum(around) / len(around), 3) if around else 0.0


def _notes(hidden: Sequence[FramedNodes], marks: Sequence[Mark]) -> tuple[str, ...]:
    folded = hidden or any(mark.is_stack for mark in marks)
    return ("Parts of equal structure are drawn once, with their number.",) if folded else ()
