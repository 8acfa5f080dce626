"""The names of nodes and links in text: whole boxes by their number, and links grouped by bandwidth."""

from collections.abc import Sequence
from fractions import Fraction

from forestcoll.demand.ranks import members_of
from forestcoll.topology import Link, Topology

_MOST_NAMED = 4
_MOST_GROUPS = 6


def counted(topology: Topology, ranks: tuple[int, ...] | None) -> str:
    """Return the number of compute nodes that take part, as text."""
    count = len(topology.compute)
    return f"{count} compute nodes" if ranks is None else f"{len(ranks)} of {count} compute nodes"


def noun(topology: Topology, ranks: tuple[int, ...] | None = None) -> str:
    """Return the noun for a node that takes part: `rank` if some nodes are idle, `GPU` if all ids contain `gpu`."""
    if ranks is not None:
        return "rank"
    return "GPU" if all("gpu" in str(each).lower() for each in topology.ids(topology.compute)) else "compute node"


def node_names(topology: Topology, numbers: Sequence[int], ranks: tuple[int, ...] | None = None) -> str:
    """Return the names of compute nodes: the numbers of whole boxes if the nodes have one, else their ids.

    If only `ranks` take part, a box is whole if `numbers` contains all its ranks. A single node always has its id.
    """
    what = noun(topology, ranks)
    boxes = _whole_boxes(topology, numbers, members_of(topology, ranks))
    if boxes and len(numbers) > 1:
        names = _listed(list(map(str, boxes)))
        return f"the {len(numbers)} {what}s of box{'es' * (len(boxes) > 1)} {names}"
    ids = _listed(list(map(str, topology.ids(numbers))))
    return f"{what} {ids}" if len(numbers) == 1 else f"the {len(numbers)} {what}s {ids}"


def others(count: int, what: str) -> str:
    """Return the text for the other `count` nodes, with the noun `what`."""
    return f"the other {what}" if count == 1 else f"the other {count} {what}s"


def _whole_boxes(topology: Topology, numbers: Sequence[int], among: Sequence[int]) -> list[object]:
    """Return the boxes that `numbers` consists of, if it consists of whole boxes, else an empty list.

    Only nodes of `among` count: a box is whole if all its nodes in `among` are in `numbers`.
    """
    members: dict[str, list[int]] = {}
    for number in among:
        members.setdefault(repr(topology.nodes[number].attributes.get("box")), []).append(number)
    chosen = set(numbers)
    whole = [nodes for box, nodes in members.items() if box != "None" and chosen.issuperset(nodes)]
    if len(members) < 2 or sum(map(len, whole)) != len(chosen):
        return []
    return [topology.nodes[nodes[0]].attributes["box"] for nodes in whole]


def link_lines(topology: Topology, links: Sequence[Link]) -> list[str]:
    """Return lines that name links, one line for each bandwidth."""
    groups: dict[Fraction, list[Link]] = {}
    for link in links:
        groups.setdefault(link.bandwidth, []).append(link)
    lines = [_group(topology, value, each) for value, each in sorted(groups.items(), reverse=True)]
    if len(lines) > _MOST_GROUPS:
        rest = len(links) - sum(len(groups[value]) for value in sorted(groups, reverse=True)[:_MOST_GROUPS])
        lines[_MOST_GROUPS:] = [f"{rest} links of lower bandwidth"]
    return lines


def _group(topology: Topology, value: Fraction, links: Sequence[Link]) -> str:
    names = _listed([" -> ".join(map(str, topology.ids([link.source, link.target]))) for link in links])
    count = f"{len(links)} link{'s' * (len(links) > 1)}"
    return f"{count} of {value} {topology.bandwidth_unit} ({names})"


def _listed(names: Sequence[str]) -> str:
    if len(names) <= _MOST_NAMED:
        return ", ".join(names)
    return f"{', '.join(names[: _MOST_NAMED - 1])}, … {names[-1]}"
