"""Bundles of schedules in rows, and how groups are named."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forestcoll.base.errors import plural
from forestcoll.demand.groups.value import Group, common_busbw_factor
from forestcoll.presentation.names import counted
from forestcoll.presentation.results.schedules.claims import claim_rows
from forestcoll.presentation.tables import Row, row
from forestcoll.presentation.text import bandwidth
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.topology import Topology

if TYPE_CHECKING:
    from forestcoll.verification import BundleReport


def what(schedule: BundleSchedule) -> str:
    """Return what a bundle does, and where."""
    return title_of(schedule.topology, schedule.groups)


def verified_rows(bundle: BundleSchedule, report: "BundleReport") -> list[Row]:
    """Return the rows of a valid bundle."""
    topology, unit = bundle.topology, bundle.topology.bandwidth_unit
    alone = sorted({each.algbw for each in report.members if each.algbw is not None})
    span = " to ".join(bandwidth(each, unit) for each in dict.fromkeys((alone[0], alone[-1])))
    groups = [
        member_document(topology, group)
        | {"algbw": group.size * (report.algbw or 0), "algbw_of_schedule_alone": of_member.algbw}
        for group, of_member in zip(bundle.groups, report.members, strict=True)
    ]
    return [
        row(collective=collective_of(bundle.groups)),
        *claim_rows(bundle, report, common_busbw_factor(topology, bundle.groups)),
        row("groups", f"{len(bundle.bundled)}, each correct; alone, the schedules reach {span}", groups=groups),
        row("busiest links", f"{report.busiest_count}, with the data of all {noun_of(bundle.groups)}"),
    ]


def member_document(topology: Topology, group: Group) -> dict[str, object]:
    """Return the JSON keys of a group: who takes part, and the pieces, if it has pieces."""
    demand = group.demand
    found: dict[str, object] = {
        "ranks": topology.ids(group.members(topology)),
        "size": group.size,
        "collective": demand.collective,
    }
    if demand.root is not None and demand.sources is None:
        found["root"] = topology.nodes[demand.root].id
    if demand.sources is not None and demand.targets is not None:
        found |= {"sources": topology.ids(demand.sources), "targets": topology.ids(demand.targets)}
    if group.pieces:
        found["pieces"] = [{"id": name, "size": size} for name, size in group.pieces]
    return found


def members_of_groups(topology: Topology, groups: Sequence[Group]) -> set[int]:
    """Return the nodes of all groups."""
    return {node for group in groups for node in group.members(topology)}


def collective_of(groups: Sequence[Group]) -> str | None:
    """Return the collective of all groups; None if they differ."""
    names = {group.demand.collective.value for group in groups}
    return names.pop() if len(names) == 1 else None


def title_of(topology: Topology, groups: Sequence[Group]) -> str:
    """Return one line that names groups."""
    members = tuple(sorted(members_of_groups(topology, groups)))
    what = collective_of(groups) or "several collectives"
    nodes = counted(topology, None if members == topology.compute else members)
    if pieces := pieces_of(groups):
        return f"{topology.name}: {plural(pieces, 'piece')} of data, {nodes}"
    return f"{topology.name}: {plural(len(groups), 'group')} at the same time, {what}, {nodes}"


def noun_of(groups: Sequence[Group]) -> str:
    """Return what groups are called."""
    return "pieces" if pieces_of(groups) else "groups"


def pieces_of(groups: Sequence[Group]) -> int:
    """Return the number of pieces of data that groups move; 0 if they were not made of pieces."""
    return sum(len(group.pieces) for group in groups)
