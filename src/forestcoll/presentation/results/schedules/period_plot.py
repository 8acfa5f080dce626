"""The picture of one period: one row for each port or link, one bar for each transfer of a tree."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.presentation.pictures.charts.gantt import KINDS, Bar, gantt_chart
from forestcoll.presentation.pictures.charts.parts import headed
from forestcoll.presentation.pictures.raster import write_picture
from forestcoll.presentation.pictures.svg import text
from forestcoll.schedule.proof.prices import PortKind, end_ports
from forestcoll.schedule.series.value import SeriesSchedule, Transfer
from forestcoll.topology.graph.node_ports import link_ends

MAX_ROWS = 400
"""The maximum number of rows in a chart."""

_MAX_DIGITS = 12


def draw_period(schedule: SeriesSchedule, path: Path) -> None:
    """Draw one period of `schedule` in steady state into the file at `path`: .svg or .png.

    Each port of a node has a row, and each bar names the other end. Each link without ports of nodes has a row. All
    bars of a tree have the same colour.

    Raises:
        InputError: the file cannot be written, or there are more than `MAX_ROWS` rows.
    """
    names, bars = chart(schedule)
    if len(names) > MAX_ROWS:
        raise InputError(
            f"{schedule.topology.name}: the chart would have {len(names)} rows, and {MAX_ROWS} is the maximum; "
            "leave the picture out"
        )
    period, trees = schedule.period, len(schedule.trees)
    length = f", which is {period} unit{'s' * (period != 1)} of time" if len(str(period)) <= _MAX_DIGITS else ""
    kinds = [f"tree {number}" for number in range(trees)] if trees <= KINDS else []
    each = "message" if schedule.collective is Collective.BROADCAST else "operation"
    series = f"one period of a series of {schedule.collective.value}s"
    title = f"{series}, {float(schedule.throughput):.6g} {each}s per unit of time"
    rows = [(name, 1) for name in names]
    drawn = gantt_chart("Bars: the transfers of each tree", (f"part of the period{length}", 1.0), rows, bars, kinds)
    write_picture(text(headed((schedule.topology.name, title), drawn)), path)


def chart(schedule: SeriesSchedule) -> tuple[list[str], list[Bar]]:
    """Return the names of the rows, from top to bottom, and all bars."""
    topology = schedule.topology
    rows: dict[tuple[str, int, int], int] = {}
    used = {ends for tree in schedule.trees for ends in tree.edges}
    kinds = set(end_ports(topology))
    holders = {ends: link_ends(topology, topology.link_numbers[ends]) for ends in used}
    for node in topology.compute:
        if PortKind.SEND in kinds and any(one == node for one, _ in holders.values()):
            rows["sends", node, -1] = len(rows)
        if PortKind.RECEIVE in kinds and any(other == node for _, other in holders.values()):
            rows["receives", node, -1] = len(rows)
        if PortKind.BOTH in kinds:
            rows["is busy", node, -1] = len(rows)
    names = [f"{topology.nodes[node].id} {verb}" for verb, node, _ in rows]
    apart = [ends for ends in used if not _port_rows(*holders[ends]).keys() & rows.keys()]
    for one, other in sorted(apart):
        rows["link", one, other] = len(rows)
        names.append(f"{topology.nodes[one].id} → {topology.nodes[other].id}")
    return names, list(_bars(schedule, rows, holders))


Holders = tuple[int | None, int | None]
"""The nodes whose ports a link uses to send and to receive."""


def _port_rows(one: int | None, other: int | None) -> dict[tuple[str, int, int], bool]:
    """Return the rows that a link may have at the ports of its nodes, each with whether it is the end that sends."""
    sends = {} if one is None else {("sends", one, -1): True, ("is busy", one, -1): True}
    receives = {} if other is None else {("receives", other, -1): False, ("is busy", other, -1): False}
    return sends | receives


def _bars(
    schedule: SeriesSchedule, rows: dict[tuple[str, int, int], int], holders: Mapping[tuple[int, int], Holders]
) -> Iterator[Bar]:
    ids = [str(node.id) for node in schedule.topology.nodes]
    for transfer, begin, end in _intervals(schedule):
        one, other = schedule.trees[transfer.tree].edges[transfer.edge]
        labels = {True: f"→ {ids[other]}", False: f"{ids[one]} →"}
        for key, sends in _port_rows(*holders[one, other]).items():
            if key in rows:
                yield Bar(rows[key], begin, end, transfer.tree, labels[sends])
        if ("link", one, other) in rows:
            yield Bar(rows["link", one, other], begin, end, transfer.tree, f"tree {transfer.tree}")


def _intervals(schedule: SeriesSchedule) -> Iterator[tuple[Transfer, float, float]]:
    """Yield each transfer with the begin and the end of each run of rounds that contain the transfer."""
    begun: dict[Transfer, float] = {}
    now = 0.0
    for each in (*schedule.rounds, None):
        going = set() if each is None else set(each.transfers)
        for transfer in sorted(begun.keys() - going):
            yield transfer, begun.pop(transfer), now
        for transfer in going:
            begun.setdefault(transfer, now)
        now += 0.0 if each is None else float(each.duration / schedule.period)
