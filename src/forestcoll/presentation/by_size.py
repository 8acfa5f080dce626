"""The best schedule for a size in rows and sentences, and from which size on the optimum for large data is the best."""

from collections.abc import Iterator, Sequence

from forestcoll.algorithms.best_schedule import BestOverSizes, BestSchedule, OptimumFrom, SizeRange
from forestcoll.base.units import size_name
from forestcoll.presentation.tables import Column, Row, Table, row
from forestcoll.presentation.text import bandwidth, duration, percent
from forestcoll.schedule.flows.shape import FlowShape
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.steps.shape import StepShape
from forestcoll.schedule.trees.shape import TreeShape


def sends_of(schedule: Schedule) -> int:
    """Return the most sends one after another, or the number of steps."""
    shape = shape_of(schedule)
    if isinstance(shape, TreeShape):
        return shape.phases * shape.greatest_height
    if isinstance(shape, FlowShape):
        return shape.greatest_height
    return shape.steps if isinstance(shape, StepShape) else shape.hops


def choice_rows(choice: BestOverSizes) -> list[Row]:
    """Return the rows about the choice for a size, or for several."""
    best, first, last = choice.best, choice.ranges[0], choice.ranges[-1]
    point, unit = best.point, best.schedule.topology.bandwidth_unit
    is_one = first.least == last.most
    sizes = size_name(last.most) if is_one else f"{size_name(first.least)} to {size_name(last.most)}"
    takes = f"{duration(point.seconds * 1e6)}, {point.algbw:.4g} {unit}"
    bound = f"{best.share:.0%} of the time is the lower bound, {duration(best.bound_us)}"
    rows = [
        row("best for", f"{sizes}: {best.method}", method=best.method, size=last.most if is_one else None),
        row("sends", sends_of(best.schedule), sends=sends_of(best.schedule)),
        row(f"{size_name(point.size)} takes", takes, time_us=point.seconds * 1e6, algbw_at_size=point.algbw),
        row("lower bound", bound, lower_bound_us=best.bound_us, share=best.share),
        row(overtaken_from=choice.overtaken, optimum_algbw=choice.optimum.algbw),
    ]
    if is_one:
        return rows
    loss = f"{choice.loss:.1%} slower than the best schedule for each of the sizes, on average"
    return [*rows, row("loss", loss, loss=choice.loss)]


def choice_below(choice: BestOverSizes) -> Iterator[Table | str]:
    """Yield what stands below the rows: the best schedules of a range, and where the optimum is faster."""
    if choice.ranges[0].least < choice.ranges[-1].most:
        yield _table(choice.ranges)
    best = choice.best
    algbw = best.schedule.algbw
    if best.method not in {"trees", "flows"} and algbw is not None:
        unit = best.schedule.topology.bandwidth_unit
        rate = f"{percent(algbw / choice.optimum.algbw)} of the optimum, {bandwidth(choice.optimum.algbw, unit)}"
        faster = (
            "the optimum is never faster"
            if choice.overtaken is None
            else f"below {size_name(choice.overtaken)}, it is faster than the schedule of the optimum"
        )
        yield f"For large data, it reaches {rate}; {faster}."


def _table(ranges: tuple[SizeRange, ...]) -> Table:
    columns = (
        Column("from", size_name, right=True, key="from"),
        Column("to", size_name, right=True, key="to"),
        Column("best schedule", key="method"),
        Column("sends", right=True, key="sends"),
        Column("time at the end", duration, right=True, key="time_us"),
        Column("lower bound", duration, right=True, key="lower_bound_us"),
    )
    rows = tuple((each.least, each.most, *_cells(each.best)) for each in ranges)
    return Table(columns, rows, "The best schedule for each size:", key="ranges")


def _cells(best: BestSchedule) -> tuple[object, ...]:
    return best.method, sends_of(best.schedule), best.point.seconds * 1e6, best.bound_us


def best_table(best: Sequence[BestSchedule]) -> Table:
    """Return the table of the best schedule for each of several sizes."""
    columns = (
        Column("size", size_name, right=True),
        Column("best schedule"),
        Column("sends", right=True),
        Column("time", duration, right=True),
        Column("lower bound", duration, right=True),
        Column("of the time", "{:.0%}".format, right=True),
    )
    rows = tuple((each.point.size, *_cells(each), each.share) for each in best)
    return Table(columns, rows, "The best schedule of forestcoll for each size, and the lower bound of the time:")


def best_document(best: BestSchedule) -> dict[str, object]:
    """Return what JSON says of the best schedule for a size, next to its time."""
    return {"schedule": best.method, "lower_bound_us": best.bound_us, "share": best.share}


def from_row(found: OptimumFrom) -> Row:
    """Return what JSON says of the size from which on the optimum is the best."""
    return row(best_from=found.size, best_below=None if found.below is None else found.below.method)


def from_sentence(found: OptimumFrom) -> str:
    """Return the sentence that says from which size on the optimum is the best.

    Example:
        >>> from forestcoll.algorithms.by_size import BySize
        >>> from forestcoll.algorithms.generate import problem_of
        >>> from_sentence(BySize(problem_of("dgx-a100:boxes=2")).optimum_from())[:47]
        'From 32MiB on, no schedule that is known is fas'
    """
    if found.below is None:
        return "No schedule that is known is faster by more than 0.5% for any size."
    below = found.below
    gain = f"{found.point.seconds / below.point.seconds - 1:.1%}"
    faster = f"for {size_name(below.point.size)}, {below.method} is {gain} faster"
    if found.size is None:
        return f"Other schedules are faster for all sizes: {faster}. Give --size for the best one."
    on = f"From {size_name(found.size)} on, no schedule that is known is faster by more than 0.5%"
    return f"{on}; {faster}. For less data, give --size."
