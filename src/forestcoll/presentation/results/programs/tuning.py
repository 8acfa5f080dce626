"""A tuning as a table and sentences."""

from pathlib import Path

from forestcoll.base.units import size_name
from forestcoll.presentation.names import counted
from forestcoll.presentation.tables import Column, Page, Row, Table, row
from forestcoll.presentation.text import bandwidth, duration
from forestcoll.programs.model import Protocol
from forestcoll.tuning import Tuning
from forestcoll.tuning.costs import ProgramCosts


def tuning_page(found: Tuning, folder: Path | None = None) -> Page:
    """Return what a person reads of a tuning; `folder` is where it was written, or None."""
    topology = found.topology
    title = f"{topology.name}: {found.collective}, {counted(topology, found.demand.ranks)}"
    place = max(range(len(found.sizes)), key=found.ratio)
    worst = f"{found.ratio(place):.3g} times the lower bound (at {size_name(found.sizes[place])})"
    blocks: tuple[Row | Table | str, ...] = (
        f"For large data, the bound is {bandwidth(found.algbw, topology.bandwidth_unit)}.",
        _costs(found.costs),
        _ranges(found),
        f"At the compared sizes, the times are at most {worst}.",
        f"{len(found.curves)} candidates were compared: {', '.join(curve.name for curve in found.curves)}.",
        *((f"written: {folder}",) if folder is not None else ()),
        row(topology=topology.name, collective=found.collective, folder=folder),
        row(optimal_algbw=found.algbw, unit=topology.bandwidth_unit, costs=found.costs.document()),
        row(sizes=times_of(found), skipped=[{"name": name, "reason": reason} for name, reason in found.skipped]),
        row(candidates=[{"name": curve.name, "time_us": curve.microseconds} for curve in found.curves]),
    )
    return Page(title, blocks)


def _costs(costs: ProgramCosts) -> str:
    simple = costs.protocols[Protocol.SIMPLE]
    parts = [f"a send takes {simple.overhead_us:g} us of overhead and {simple.alpha_us:g} us of latency"]
    if costs.network_us:
        parts.append(f"{costs.network_us:g} us more between boxes")
    if simple.block_gbps is not None:
        parts.append(f"a block moves at most {simple.block_gbps:g} GB/s")
    return f"Costs ({costs.source}): {', '.join(parts)}."


def times_of(found: Tuning) -> list[dict[str, object]]:
    """Return the time and the lower bound for each compared size."""
    return [
        {"size": size, "time_us": time, "lower_bound_us": bound}
        for size, time, bound in zip(found.sizes, found.microseconds, found.bounds, strict=True)
    ]


def _ranges(found: Tuning) -> Table:
    froms = {each.least: size_name(each.least) for each in found.ranges}
    froms |= {each.most + 1: f"> {size_name(each.most)}" for each in found.ranges}
    columns = (
        Column("no.", right=True),
        Column("from", froms.__getitem__, right=True, key="from"),
        Column("to", size_name, right=True, key="to"),
        Column("fastest program"),
        Column("time", duration, right=True, key="time_us"),
        Column("lower bound", duration, right=True, key="lower_bound_us"),
        Column("ratio", "{:.3f}".format, right=True),
        Column("schedule", key="schedule"),
        Column("chunks", right=True, key="chunks"),
        *(Column(None, key=key) for key in ("candidate", "variant", "program_time_us")),
    )
    rows = tuple(
        (
            number,
            each.least,
            each.most,
            f"{each.candidate}, {each.variant}",
            each.microseconds,
            each.bound_microseconds,
            each.ratio,
            each.schedule_name,
            each.chunks,
            each.candidate,
            each.variant,
            each.program_microseconds,
        )
        for number, each in enumerate(found.ranges, start=1)
    )
    notes = (
        "Times are those at the upper end of each range, in the program model.",
        "The number of a range is that of its files, such as 1.xml.",
    )
    return Table(columns, rows, notes=notes, key="ranges")
