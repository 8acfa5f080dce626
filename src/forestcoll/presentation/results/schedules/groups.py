"""The optimum of groups that run at the same time, layouts, and bundles: as pages and as JSON."""

from collections.abc import Sequence
from fractions import Fraction

from forestcoll.base.errors import plural, times
from forestcoll.base.units import bytes_per_microsecond, has_known_size
from forestcoll.demand.groups.layout import DIMENSIONS
from forestcoll.demand.groups.value import Group
from forestcoll.presentation.names import link_lines
from forestcoll.presentation.results.schedules import explanations
from forestcoll.presentation.results.schedules.bundle import (
    collective_of,
    member_document,
    members_of_groups,
    noun_of,
    pieces_of,
    text_of,
    title_of,
)
from forestcoll.presentation.tables import Column, Page, Table, labelled
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


def optimum_document(best: GroupsOptimum) -> dict[str, object]:
    """Return the JSON object of an optimum of groups.

    Example:
        >>> from forestcoll import Groups, optimum
        >>> optimum_document(optimum("ring:nodes=4", Groups("0,1;2,3")))["groups"][0]["ranks"]
        [0, 1]
    """
    topology = best.topology
    found: dict[str, object] = {
        "topology": topology.name,
        "collective": collective_of(best.groups),
        "compute_nodes": len(members_of_groups(topology, best.groups)),
        "algbw": str(best.algbw),
        "algbw_float": float(best.algbw),
        "optimal_algbw": str(best.bound.algbw),
        "unit": topology.bandwidth_unit,
        "residual": best.residual,
        "groups": [_group_document(best, place) for place in range(len(best.groups))],
    }
    gains = best.gains
    if gains is not None:
        found["relays"] = {
            "algbw": str(best.algbw),
            "algbw_without": text_of(gains.without_relays),
            "gain": None if gains.without_relays is None else str(best.algbw / gains.without_relays),
        }
    return found | {"proof": explanations.document(best.bound, topology)}


def _group_document(best: GroupsOptimum, place: int) -> dict[str, object]:
    group, topology = best.groups[place], best.topology
    found, gains = member_document(topology, group) | {"algbw": str(best.algbw_of(place))}, best.gains
    if gains is not None:
        found["algbw_alone"] = str(gains.groups[place].algbw_alone)
        found["algbw_alone_without_relays"] = text_of(gains.groups[place].algbw_alone_without_relays)
    found["uses_relays"] = best.uses_relays(place)
    return found


def optimum_page(best: GroupsOptimum) -> Page:
    """Return the page of an optimum of groups.

    Example:
        >>> from forestcoll import Groups, optimum
        >>> optimum_page(optimum("ring:nodes=4", Groups("0,1;2,3"))).title
        'ring:nodes=4: 2 groups at the same time, allgather, 4 compute nodes'
    """
    return Page(title_of(best.topology, best.groups), (labelled(_rows(best)), *_below(best)))


def generated_document(best: GroupsOptimum, bundle: BundleSchedule) -> dict[str, object]:
    """Return the JSON object of an optimum and the bundle that reaches it."""
    shape = bundle_shape(bundle)
    made = {
        "optimal": best.is_optimal,
        "verified": True,
        "trees": _trees(bundle),
        "flows": _flows(bundle),
        "greatest_height": shape.greatest_height,
        "mean_height": shape.mean_height,
    }
    return {**optimum_document(best), **made}


def generated_page(best: GroupsOptimum, bundle: BundleSchedule, run: Sequence[tuple[str, str]]) -> Page:
    """Return the page of an optimum and the bundle that reaches it; `run` has the rows about the run."""
    amounts = [plural(count, noun) for count, noun in ((_trees(bundle), "tree"), (_flows(bundle), "flow")) if count]
    rows = [*_rows(best), ("schedules", f"{' and '.join(amounts)} of all {noun_of(best.groups)}"), *run]
    return Page(title_of(best.topology, best.groups), (labelled(rows), *_below(best)))


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


def _rows(best: GroupsOptimum) -> list[tuple[str, str]]:
    """Return the rows that state an optimum."""
    unit, whose = best.topology.bandwidth_unit, " in each group" if _are_equal(best.groups) else " for size 1"
    found = [("algbw", f"{bandwidth(best.algbw, unit)}{'' if pieces_of(best.groups) else whose}")]
    if best.is_optimal:
        found.append(("optimum", f"reached: no schedule{_along(best.groups)} is faster"))
    else:
        share, along = percent(best.algbw / best.bound.algbw), "along trees and flows" if best.relays else "with relays"
        found.append(("bound", f"{bandwidth(best.bound.algbw, unit)} at most {along}; this is {share} of it"))
    if has_known_size(unit):
        milliseconds = float(10**6 / (best.algbw * bytes_per_microsecond(unit)))
        found.append(("1 GB takes", f"{milliseconds:.4g} ms at that rate"))
    if best.gains is None:
        return found
    without = best.gains.without_relays
    if without is None:
        found.append(("relays", "without relays outside the groups, there is no solution"))
    elif without < best.algbw:
        times = f"{float(best.algbw / without):.4g} times"
        found.append(("relays", f"{times} the {bandwidth(without, unit)} without relays outside the groups"))
    return found


def _are_equal(groups: Sequence[Group]) -> bool:
    return {group.size for group in groups} == {Fraction(1)}


def _below(best: GroupsOptimum) -> list[Table | str]:
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
        for group in best.groups[:_MOST_ROWS]
    )
    more = len(best.groups) - len(rows)
    notes = (f"and {plural(more, 'more row')}; --json lists all.",) if more else ()
    return Table(columns, rows, title="Pieces; those in one row have the same nodes:", notes=notes)


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


def table_document(table: LayoutTable) -> dict[str, object]:
    """Return the JSON object of a layout.

    Example:
        >>> from forestcoll import Groups
        >>> from forestcoll.solver import layout_table
        >>> table_document(layout_table("ring:nodes=4", Groups("tp=2,dp=2", "allreduce")))["dimensions"][0]["algbw"]
        '1'
    """
    unit = table.topology.bandwidth_unit
    return {
        "topology": table.topology.name,
        "layout": str(table.layout),
        "collective": table.collective.value,
        "unit": unit,
        "dimensions": [
            {
                "name": row.name,
                "ranks": row.ranks,
                "groups": row.groups,
                "algbw": str(row.algbw),
                "algbw_alone": str(row.algbw_alone),
                "optimal": row.is_optimal,
                "limited_by": [each.name(unit) for each in row.limited_by],
            }
            for row in table.rows
        ],
        "orders": [
            {
                "order": list(order.names),
                "algbw": {name: str(algbw) for name, algbw in order.algbws.items()},
                "time": str(order.time),
            }
            for order in table.orders
        ],
    }


def table_page(table: LayoutTable) -> Page:
    """Return the page of a layout.

    Example:
        >>> from forestcoll import Groups
        >>> from forestcoll.solver import layout_table
        >>> table_page(layout_table("ring:nodes=4", Groups("tp=2,dp=2", "allreduce"))).title
        'ring:nodes=4: layout tp=2,dp=2, allreduce in the groups of one dimension at a time'
    """
    what = f"{table.collective} in the groups of one dimension at a time"
    title = f"{table.topology.name}: layout {table.layout}, {what}"
    return Page(title, (_dimensions(table), *_orders(table)))


def _dimensions(table: LayoutTable) -> Table:
    unit = table.topology.bandwidth_unit
    columns = (
        Column("dimension"),
        Column("groups", right=True),
        Column("ranks", right=True),
        Column("algbw", right=True),
        Column("alone", right=True),
        Column("limited by"),
    )
    rows = tuple(
        (
            f"{row.name} ({DIMENSIONS[row.name]})",
            row.groups,
            row.ranks,
            f"{row.algbw}{'' if row.is_optimal else ' or more'}",
            row.algbw_alone,
            "; ".join(each.name(unit) for each in row.limited_by),
        )
        for row in table.rows
    )
    return Table(columns, rows, title=f"algbw of each group in {unit}, when all of its dimension run:")


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
