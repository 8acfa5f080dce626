"""A Gantt chart of one period: one row for each port or link, one bar for each transfer of a tree."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from forestcoll.base.errors import InputError
from forestcoll.presentation.pictures.canvas import check_name, label, new_figure, save
from forestcoll.schedule.proof.prices import PortKind, end_ports
from forestcoll.schedule.series.value import SeriesSchedule, Transfer
from forestcoll.topology.graph.node_ports import link_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_ROWS = 400
"""The maximum number of rows in a chart."""

_MAX_LABELS = 400
"""The maximum number of bars for which a chart labels each bar with the name of the other end."""

_MAX_NAMED_TREES = 20
_MAX_DIGITS = 12


class Bar(NamedTuple):
    """A time interval in which a port or link serves a tree, as fractions of the period."""

    row: int
    begin: float
    length: float
    tree: int
    label: str


def draw_period(schedule: SeriesSchedule, path: Path) -> None:
    """Draw one period of `schedule` in steady state into the file at `path`: .png, .svg or .pdf.

    Each port of a node has a row, and each bar names the other end. Each link without ports of nodes has a row. All
    bars of a tree have the same colour.

    Raises:
        InputError: matplotlib is not installed, the file cannot be written, or there are more than `MAX_ROWS` rows.
    """
    check_name(path)
    names, bars = chart(schedule)
    if len(names) > MAX_ROWS:
        raise InputError(
            f"{schedule.topology.name}: the chart would have {len(names)} rows, and {MAX_ROWS} is the maximum; "
            "leave the picture out"
        )
    figure = new_figure(11, 1.4 + 0.28 * len(names))
    axes = figure.add_subplot()
    _draw_bars(axes, bars, len(schedule.trees))
    _label_axes(axes, schedule, names)
    save(figure, path)


def chart(schedule: SeriesSchedule) -> tuple[list[str], list[Bar]]:
    """Return the names of the rows, from top to bottom, and all bars."""
    topology = schedule.topology
    rows: dict[tuple[str, int, int], int] = {}
    used = {ends for tree in schedule.trees for ends in tree.edges}
    kinds = set(end_ports(topology))
    places = {(link.source, link.target): place for place, link in enumerate(topology.links)}
    holders = {ends: link_ends(topology, places[ends]) for ends in used}
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
    for transfer, begin, length in _intervals(schedule):
        one, other = schedule.trees[transfer.tree].edges[transfer.edge]
        labels = {True: f"→ {ids[other]}", False: f"{ids[one]} →"}
        for key, sends in _port_rows(*holders[one, other]).items():
            if key in rows:
                yield Bar(rows[key], begin, length, transfer.tree, labels[sends])
        if ("link", one, other) in rows:
            yield Bar(rows["link", one, other], begin, length, transfer.tree, f"tree {transfer.tree}")


def _intervals(schedule: SeriesSchedule) -> Iterator[tuple[Transfer, float, float]]:
    """Yield each transfer with the start and the length of each run of rounds that contain the transfer."""
    begun: dict[Transfer, float] = {}
    now = 0.0
    for each in (*schedule.rounds, None):
        going = set() if each is None else set(each.transfers)
        for transfer in sorted(begun.keys() - going):
            begin = begun.pop(transfer)
            yield transfer, begin, now - begin
        for transfer in going:
            begun.setdefault(transfer, now)
        now += 0.0 if each is None else float(each.duration / schedule.period)


def _colour(tree: int, trees: int) -> tuple[float, float, float, float]:
    from matplotlib import colormaps

    return colormaps["tab10"](tree) if trees <= 10 else colormaps["tab20"](tree % 20)


def _draw_bars(axes: "Axes", bars: list[Bar], trees: int) -> None:
    for bar in bars:
        axes.barh(
            bar.row,
            bar.length,
            left=bar.begin,
            height=0.8,
            color=_colour(bar.tree, trees),
            alpha=0.75,
            edgecolor="white",
            linewidth=0.5,
        )
    if len(bars) <= _MAX_LABELS:
        for bar in bars:
            if bar.length > 0.012 * len(bar.label):
                axes.text(bar.begin + bar.length / 2, bar.row, label(bar.label), ha="center", va="center", fontsize=7)


def _label_axes(axes: "Axes", schedule: SeriesSchedule, names: list[str]) -> None:
    from matplotlib.patches import Patch

    trees = len(schedule.trees)
    axes.set_yticks(range(len(names)), list(map(label, names)), fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.set_xlabel(f"part of the period{_length(schedule)}")
    axes.set_title(
        f"{label(schedule.topology.name)}\none period, {float(schedule.throughput):.6g} messages per unit of time",
        fontsize=10,
    )
    axes.grid(axis="x", linewidth=0.3)
    axes.set_axisbelow(True)
    if trees <= _MAX_NAMED_TREES:
        patches = [Patch(color=_colour(number, trees), alpha=0.75, label=f"tree {number}") for number in range(trees)]
        axes.legend(handles=patches, loc="upper left", bbox_to_anchor=(1, 1), fontsize=7, frameon=False)


def _length(schedule: SeriesSchedule) -> str:
    period = schedule.period
    return f", which is {period} units of time" if len(str(period)) <= _MAX_DIGITS else ""
