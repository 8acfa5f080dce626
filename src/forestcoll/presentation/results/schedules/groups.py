"""The optimum of groups that run at the same time, layouts, and bundles, in rows and tables."""

from collections.abc import Sequence
from fractions import Fraction

from forestcoll.base.errors import plural, times
from forestcoll.demand.groups.layout import DIMENSIONS
from forestcoll.demand.groups.value import Group, common_busbw_factor
from forestcoll.presentation.names import link_lines
from forestcoll.presentation.results.schedules import claims
from forestcoll.presentation.results.schedules.bundle import (
    collective_of,
    member_document,
    members_of_groups,
    noun_of,
    pieces_of,
    title_of,
)
from forestcoll.presentation.tables import Column, Page, Row, Table, row
from forestcoll.presentation.text import bandwidth, capitalized, percent
from forestcoll.schedule.bundle.shape import bundle_shape
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.proof.lengths.group_lengths import GroupLengthsProof
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.groups.layouts import LayoutTable
from forestcoll.solver.groups.value import GroupGains, GroupsOptimum
from forestcoll.topology import Topology

_MOST_NAMED = 4
_MOST_ORDERS = 6
_MOST_ROWS = 20


def title(best: GroupsOptimum) -> str:
    """Return one line that names the groups."""
    return title_of(best.topology, best.groups)


def made_rows(bundle: BundleSchedule) -> list[Row]:
    """Return the rows about a bundle that reaches an optimum."""
    shape, trees, flows = bundle_shape(bundle), _trees(bundle), _flows(bundle)
    amounts = [plural(count, noun) for count, noun in ((trees, "tree"), (flows, "flow")) if count]
    return [
        row("schedules", f"{' and '.join(amounts)} of all {noun_of(bundle.groups)}", trees=trees, flows=flows),
        row(greatest_height=shape.greatest_height, mean_height=shape.mean_height),
    ]


def _trees(bundle: BundleSchedule) -> int:
    schedules = (each.schedule for each in bundle.bundled)
    return sum(len(phase) for each in schedules if isinstance(each, TreeSchedule) for phase in each.phases)


def _flows(bundle: BundleSchedule) -> int:
    schedules = (each.schedule for each in bundle.bundled)
    return sum(len(each.flows) for each in schedules if isinstance(each, FlowSchedule))


def _along(groups: Sequence[Group]) -> str:
    """Return which schedules the bound is about; nothing if it is about all."""
    along = {each.demand.collective.is_personalised for each in groups}
    return {True: "", False: " of trees"}[along.pop()] if len(along) == 1 else " of trees and flows"


def rows(best: GroupsOptimum) -> list[Row]:
    """Return the rows that state an optimum."""
    unit, whose = best.topology.bandwidth_unit, " in each group" if _are_equal(best.groups) else " for size 1"
    found = [
        claims.optimum_row(best, collective_of(best.groups), members_of_groups(best.topology, best.groups)),
        row("algbw", f"{bandwidth(best.algbw, unit)}{'' if pieces_of(best.groups) else whose}", residual=best.residual),
        *claims.busbw_rows(best.algbw, common_busbw_factor(best.topology, best.groups), unit, whose),
    ]
    if best.is_optimal:
        found.append(row("optimum", f"reached: no schedule{_along(best.groups)} is faster"))
    else:
        share, along = percent(best.algbw / best.bound.algbw), "along trees and flows" if best.relays else "with relays"
        found.append(row("bound", f"{bandwidth(best.bound.algbw, unit)} at most {along}; this is {share} of it"))
    found += claims.time_rows(best)
    if best.gains is not None:
        gain = claims.gain_row(best, best.gains.without_relays, "relays outside the groups")
        found.append(gain if best.gains.without_relays != best.algbw else row(**gain.values))
    return [*found, row(groups=lambda: [_group_document(best, place) for place in range(len(best.groups))])]


def _group_document(best: GroupsOptimum, place: int) -> dict[str, object]:
    group, algbw = best.groups[place], best.algbw_of(place)
    factor = common_busbw_factor(best.topology, [group])
    found = member_document(best.topology, group) | {
        "algbw": algbw,
        "busbw": None if factor is None else algbw * factor,
    }
    if best.gains is not None:
        gain = best.gains.groups[place]
        found["algbw_alone"] = gain.algbw_alone
        found["algbw_alone_without_relays"] = gain.algbw_alone_without_relays
    return found | {"uses_relays": best.uses_relays(place)}


def _are_equal(groups: Sequence[Group]) -> bool:
    return {group.size for group in groups} == {Fraction(1)}


def below(best: GroupsOptimum) -> list[Table | str]:
    """Return the table of groups or of pieces, and what limits them."""
    return [_moved(best) if best.gains is None else _groups(best, best.gains), *_limits(best)]


def _moved(best: GroupsOptimum) -> Table:
    """Return one row for each group of pieces."""
    columns = (
        Column("pieces"),
        Column("size", right=True),
        Column("moved by"),
        Column("from"),
        Column("to"),
    )
    rows = tuple(
        (
            _some([name for name, _ in group.pieces]),
            group.size,
            group.demand.collective.value,
            *(_names(best.topology, nodes) for nodes in _ends(best.topology, group)),
        )
        for group in best.groups
    )
    return Table(columns, rows, title="Pieces; those in one row have the same nodes:", most=_MOST_ROWS)


def _ends(topology: Topology, group: Group) -> tuple[Sequence[int], Sequence[int]]:
    """Return the nodes that hold the data of a group, or parts of its sums, and the nodes that need it."""
    demand, members = group.demand, group.members(topology)
    if demand.root is None or demand.sources is not None:
        return demand.sources or members, demand.targets or members
    others = tuple(node for node in members if node != demand.root)
    return (others, (demand.root,)) if demand.collective.only_reduces else ((demand.root,), others)


def _groups(best: GroupsOptimum, gains: GroupGains) -> Table:
    """Return one row for all groups with the same figures."""
    unit = best.topology.bandwidth_unit
    columns = (
        Column("groups", right=True),
        Column("ranks"),
        Column("size", right=True),
        Column("algbw", right=True),
        Column("alone", right=True),
        Column("alone, no relays", right=True),
    )
    alike: dict[object, list[int]] = {}
    for place, (group, gain) in enumerate(zip(best.groups, gains.groups, strict=True)):
        figures = len(group.members(best.topology)), group.demand.collective, group.size, gain
        alike.setdefault(figures, []).append(place)
    rows = tuple(
        (
            len(places),
            _names(best.topology, best.groups[places[0]].members(best.topology)),
            best.groups[places[0]].size,
            best.algbw_of(places[0]),
            gains.groups[places[0]].algbw_alone,
            gains.groups[places[0]].algbw_alone_without_relays or "not connected",
        )
        for places in alike.values()
    )
    title = f"Groups, in {unit}; a row stands for groups with the same figures, and names the first one:"
    return Table(columns, rows, title=title)


def _names(topology: Topology, numbers: Sequence[int]) -> str:
    return _some(list(map(str, topology.ids(numbers))))


def _some(names: Sequence[str]) -> str:
    """Return names, without those in the middle if there are many."""
    return ", ".join(names if len(names) <= _MOST_NAMED else [*names[: _MOST_NAMED - 1], f"… {names[-1]}"])


def _limits(best: GroupsOptimum) -> list[str]:
    """Return sentences that explain why no schedule along trees is faster."""
    proof, unit = best.bound.proof, best.topology.bandwidth_unit
    if not isinstance(proof, GroupLengthsProof):
        return []
    lengths = dict(zip(proof.ends, proof.lengths, strict=True))
    links = [link for link in best.topology.links if lengths.get((link.source, link.target))]
    limit, data = f"algbw <= {bandwidth(best.bound.algbw, unit)}", f"the data of all {noun_of(best.groups)}"
    if len(set(proof.lengths)) > 1:
        weighted = f"{plural(len(links), 'link')}, weighted by the lengths that --json lists"
        return [f"Bottleneck: {capitalized(data)} needs the bandwidth of {weighted}, so {limit}."]
    total = sum((link.bandwidth for link in links), Fraction(0))
    crossing = f"For each unit of M, {data} crosses these links {times(total / best.bound.algbw)}:"
    lines = [f"  {line}" for line in link_lines(best.topology, links)]
    return [f"Bottleneck: {crossing}", *lines, f"  {total} {unit} together, so {limit}."]


def table_page(table: LayoutTable) -> Page:
    """Return the page of a layout.

    Example:
        >>> from forestcoll import Groups
        >>> from forestcoll.solver import layout_table
        >>> page = table_page(layout_table("ring:nodes=4", Groups("tp=2,dp=2", "allreduce")))
        >>> page.title, page.document()["dimensions"][0]["algbw"]
        ('ring:nodes=4: layout tp=2,dp=2, allreduce in the groups of one dimension at a time', '1')
    """
    what = f"{table.collective} in the groups of one dimension at a time"
    title = f"{table.topology.name}: layout {table.layout}, {what}"
    about = row(topology=table.topology.name, layout=str(table.layout), collective=table.collective)
    orders = [{"order": each.names, "algbw": each.algbws, "time": each.time} for each in table.orders]
    unit = row(unit=table.topology.bandwidth_unit)
    return Page(title, (about, unit, _dimensions(table), *_orders(table), row(orders=orders)))


def _dimensions(table: LayoutTable) -> Table:
    unit = table.topology.bandwidth_unit
    columns = (
        Column("dimension"),
        Column("groups", right=True, key="groups"),
        Column("ranks", right=True, key="ranks"),
        Column("algbw", right=True),
        Column("busbw", right=True, key="busbw"),
        Column("alone", right=True, key="algbw_alone"),
        Column("limited by", "; ".join, key="limited_by"),
        *(Column(None, key=key) for key in ("name", "algbw", "optimal")),
    )
    rows = tuple(
        (
            f"{each.name} ({DIMENSIONS[each.name]})",
            each.groups,
            each.ranks,
            f"{each.algbw}{'' if each.is_optimal else ' or more'}",
            each.algbw * table.collective.busbw_factor(each.ranks),
            each.algbw_alone,
            [one.name(unit) for one in each.limited_by],
            each.name,
            each.algbw,
            each.is_optimal,
        )
        for each in table.rows
    )
    return Table(columns, rows, f"algbw of each group in {unit}, when all of its dimension run:", key="dimensions")


def _orders(table: LayoutTable) -> list[Table | str]:
    """Return the table of orders: the best ones, and the given one if it is not among them."""
    given = next(place for place, order in enumerate(table.orders) if order.names == table.layout.names)
    places = sorted({*range(min(_MOST_ORDERS, len(table.orders))), given})
    if len(places) < 2:
        return []
    names = [row.name for row in table.rows]
    columns = (
        Column("order, fastest first"),
        *(Column(f"algbw of {name}", right=True) for name in names),
        Column("time", "{:.4g}".format, right=True),
    )
    now = table.orders[given].time
    rows = tuple(
        (
            f"{', '.join(table.orders[place].names)}{' (given)' if place == given else ''}",
            *(table.orders[place].algbws[name] for name in names),
            float(table.orders[place].time / now),
        )
        for place in places
    )
    note = "time: one collective of each dimension, one after the other, with the same M; the given order takes 1."
    return [Table(columns, rows, title="Orders of the dimensions:", notes=(note,))]
