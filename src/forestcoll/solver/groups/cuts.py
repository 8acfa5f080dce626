"""Bounds of groups by cuts: a node, a box or a group that data of several groups must leave or enter.

These bounds are cheap, and often one of them is the optimum. Then the search for trees ends as soon as its rate is
reached. A cut is a proof by lengths: the links that leave it have length 1.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.groups.value import Group
from forestcoll.schedule.proof.lengths.group_lengths import GroupLengthsProof
from forestcoll.topology import Topology
from forestcoll.topology.graph.boxes import box_numbers

_NOTHING, _ALL = Fraction(0), Fraction(1)

_MOST_GROUPS = 200
"""The most groups whose nodes are tried as a cut. For each cut, the data of all groups is added up."""


def best_cut(topology: Topology, groups: Sequence[Group]) -> tuple[Fraction, GroupLengthsProof] | None:
    """Return the least bound of the cuts that are tried, for size 1, and its proof; None if no data must leave any."""
    best: tuple[Fraction, frozenset[int]] | None = None
    for inside in _candidates(topology, groups):
        parts = ((group.size, must_leave(topology, group.demand, inside)) for group in groups)
        needed = sum((size * part for size, part in parts if part), _NOTHING)
        if not needed:
            continue
        leaving = (each.bandwidth for each in topology.links if each.source in inside and each.target not in inside)
        bound = sum(leaving, Fraction(0)) / needed
        if best is None or bound < best[0]:
            best = bound, inside
    if best is None:
        return None
    lengths = tuple(int(link.source in best[1] and link.target not in best[1]) for link in topology.links)
    return best[0], GroupLengthsProof.of(topology, lengths)


def must_leave(topology: Topology, demand: NodeDemand, inside: frozenset[int]) -> Fraction:
    """Return the part of the data of a demand that must leave a set of nodes."""
    members = demand.members(topology)
    if demand.sources is not None and demand.targets is not None:
        return _ALL if must_cross(demand, inside) else _NOTHING
    if all(node in inside for node in members) or not any(node in inside for node in members):
        return _NOTHING
    if demand.collective is Collective.ALLREDUCE:
        return _ALL
    if demand.collective.is_personalised:
        sent = zip(members, demand.sent(topology), strict=True)
        targets = (each for node, each in sent if node in inside)
        return sum((part for each in targets for node, part in each.items() if node not in inside), Fraction(0))
    outwards = not demand.collective.only_reduces
    parts = zip(members, demand.parts(topology), strict=True)
    return sum((part for node, part in parts if (node in inside) == outwards), Fraction(0))


def must_cross(demand: NodeDemand, inside: frozenset[int]) -> bool:
    """Return whether the data of a demand with sources and targets must leave a set of nodes."""
    is_held = any if demand.collective is Collective.ALLREDUCE else all
    inner = is_held(node in inside for node in demand.sources or ())
    return inner and any(node not in inside for node in demand.targets or ())


def _candidates(topology: Topology, groups: Sequence[Group]) -> Iterator[frozenset[int]]:
    """Yield each compute node, each box, each of the first groups, and the complement of each of them."""
    boxes: dict[int, set[int]] = {}
    for node, box in box_numbers(topology).items():
        boxes.setdefault(box, set()).add(node)
    found = [{node} for node in topology.compute]
    found += [boxes[box] for box in sorted(boxes)]
    found += [set(nodes) for nodes in dict.fromkeys(group.members(topology) for group in groups[:_MOST_GROUPS])]
    whole = set(range(len(topology.nodes)))
    for inside in dict.fromkeys(frozenset(each) for each in found):
        yield inside
        yield frozenset(whole - inside)
