"""Iterations of training side by side as a page, as bars, and as lines over the values of a sweep."""

from collections.abc import Callable, Sequence
from itertools import groupby
from math import inf, isclose

from forestcoll.base.errors import plural
from forestcoll.base.units import size_name
from forestcoll.design.workloads.asked import Compared
from forestcoll.design.workloads.cases import Case, Sweep
from forestcoll.design.workloads.iteration import Activity
from forestcoll.presentation.pictures.charts.bars import Bar, bar_chart
from forestcoll.presentation.pictures.charts.lines import Axes, Line, line_chart
from forestcoll.presentation.pictures.charts.scales import round_ticks
from forestcoll.presentation.pictures.svg import Element
from forestcoll.presentation.tables import Column, Page, Table, row
from forestcoll.presentation.text import duration, time_unit

_NOTES = (
    "  batches: how many are trained at the same time, one in each tp group; a batch: the iteration divided by them",
    "  not hidden: the time in which nothing is computed; the columns after it: all of the collective, hidden or not",
)

_Valued = tuple[Column, Callable[[Case], object]]
"""A column, and the value that a case has in it."""


def compared_page(answer: Compared) -> Page:
    """Return the page of iterations side by side."""
    first, networks = answer.cases[0], answer.networks
    columns = _columns(answer.cases, several=len(networks) > 1)
    table = Table(
        tuple(column for column, _ in columns),
        tuple(tuple(value(case) for _, value in columns) for case in answer.cases),
        notes=_NOTES,
        key="iterations" if first.layout is None else "layouts",
    )
    if len(networks) > 1:
        return Page(f"{answer.name} on {plural(len(networks), 'network')}", (row(profile=answer.name), table))
    whole = row(profile=answer.name, network=first.network, nodes=first.nodes)
    return Page(f"{answer.name} on {first.network}, {first.nodes} nodes", (whole, table))


def _columns(cases: Sequence[Case], *, several: bool) -> list[_Valued]:
    first = cases[0]
    kinds = [kind for kind in Activity if not kind.is_computing and any(case.iteration.time_us(kind) for case in cases)]
    places: list[_Valued] = [
        (Column("network", key="network"), lambda case: case.network),
        (Column("nodes", right=True, key="nodes"), lambda case: case.nodes),
    ]
    shares: list[_Valued] = [
        (Column("layout", key="layout"), lambda case: str(case.layout)),
        (Column("method", key="method"), _method),
    ]
    buckets: _Valued = (Column("buckets", size_name, True, "bucket_bytes"), lambda case: case.iteration.bucket_bytes)  # noqa: FBT003 (right)
    amount = str(first.sweep.amount)
    return [
        *(places if several else []),
        *([buckets] if first.layout is None else shares),
        *([(Column(amount, right=True, key=amount), lambda case: case.value)] if first.sweep != Sweep() else []),
        (Column("batches", right=True, key="batches"), lambda case: case.batches),
        _time("iteration", "iteration_us", lambda case: case.iteration.total_us),
        _time("a batch", "batch_us", lambda case: case.batch_us),
        _time("computing", "computing_us", lambda case: case.iteration.computing_us),
        _time("not hidden", "exposed_us", lambda case: case.iteration.exposed_us),
        *(_time(kind, f"{kind.replace('-', '_')}_us", _time_of(kind)) for kind in kinds),
    ]


def _time(title: str, key: str, value: Callable[[Case], float]) -> _Valued:
    return Column(title, duration, right=True, key=key), value


def _time_of(kind: Activity) -> Callable[[Case], float]:
    return lambda case: case.iteration.time_us(kind)


def _method(case: Case) -> str:
    return case.method or "forestcoll"


def cases_chart(cases: Sequence[Case]) -> Element:
    """Return the time of a batch as lines over the values of a sweep, or as bars."""
    return _lines(cases) if len(cases[0].sweep.values) > 1 else _bars(cases)


def _bars(cases: Sequence[Case]) -> Element:
    unit, size = _unit(cases)
    bars = [
        Bar(label, case.batch_us / size, duration(case.batch_us), is_own=case.method is None)
        for label, case in zip(_labels(cases), cases, strict=True)
    ]
    computing = min(map(_computing_us, cases)) / size, "computing alone"
    return bar_chart("Bars: the time of a batch", f"time of a batch ({unit})", bars, computing, longest=inf)


def _lines(cases: Sequence[Case]) -> Element:
    sweep, (unit, size) = cases[0].sweep, _unit(cases)
    lines = [
        Line(label, tuple(sorted((float(case.value), case.batch_us / size) for _, case in found)), marks, place)
        for marks in [tuple(map(float, sweep.values))]
        for place, (label, found) in enumerate(
            groupby(zip(_labels(cases), cases, strict=True), key=lambda each: each[0])
        )
    ]
    alone = _computing_us(cases[0])
    same = all(isclose(_computing_us(case), alone) for case in cases)
    ticks = [(tick, f"{tick:g}") for tick in round_ticks(max(case.batch_us for case in cases) / size)]
    axes = Axes(
        f"{sweep.amount}, relative to that of the {'profile' if sweep.amount == 'batch' else 'network'}",
        f"time of a batch ({unit})",
        [(float(value), str(value)) for value in sweep.values],
        ticks,
    )
    title = f"Lines: the time of a batch over the {sweep.amount}"
    return line_chart(title, axes, lines, (alone / size, "computing alone") if same else None)


def _unit(cases: Sequence[Case]) -> tuple[str, float]:
    return time_unit(max(case.batch_us for case in cases))


def _computing_us(case: Case) -> float:
    return case.iteration.computing_us / case.batches


def _labels(cases: Sequence[Case]) -> list[str]:
    """Return the names of bars or lines: what differs among them, or else the layout or the network."""
    parts = [
        (*(("", "") if case.layout is None else (str(case.layout), _method(case))), case.network) for case in cases
    ]
    differing = [place for place in range(3) if len({each[place] for each in parts}) > 1]
    return [" ".join(each[place] for place in differing) or each[0] or each[2] for each in parts]
