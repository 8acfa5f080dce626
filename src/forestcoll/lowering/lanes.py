"""Which flows go side by side and which one after the other."""

from collections.abc import Sequence

from forestcoll.lowering.flows import Flow


def lanes_of(flows: Sequence[Flow], most: int) -> list[list[Flow]]:
    """Return `flows` in at most `most` lanes, each in the order in which its flows are done.

    Flows of a root that share chunks are in one lane, and so are the pieces of a tree's part. Lanes take turns, those
    that carry as many chunks in a row, so that a lane's flows are alike where that can be.
    """
    groups = _groups(flows)
    ordered = sorted(groups, key=lambda group: (group[0].count, group[0].turn, group[0].root, group[0].offset))
    count = min(most, len(ordered))
    lanes: list[list[Flow]] = [[] for _ in range(count)]
    for place, group in enumerate(ordered):
        lanes[place * count // len(ordered)] += group
    return [sorted(lane, key=_order) for lane in lanes]


def _order(flow: Flow) -> tuple[int, ...]:
    return flow.piece, flow.phase, flow.turn, flow.root, flow.offset


def _groups(flows: Sequence[Flow]) -> list[list[Flow]]:
    """Return flows in groups: of one tree's part, or of parts of the same root that overlap."""
    ordered = sorted(flows, key=lambda flow: (flow.root, flow.instance, flow.begin, flow.phase, flow.turn, flow.offset))
    groups: list[list[Flow]] = []
    key, end = None, 0
    for flow in ordered:
        if (flow.root, flow.instance) != key or flow.begin >= end:
            groups.append([])
            key, end = (flow.root, flow.instance), flow.begin
        groups[-1].append(flow)
        end = max(end, flow.begin + flow.whole)
    return groups
