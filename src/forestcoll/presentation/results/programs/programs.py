"""Programs for runtimes as pages: the result of an export, and the judgement of a program file."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from forestcoll.base.files import input_name, is_standard_stream
from forestcoll.base.units import size_name
from forestcoll.presentation.tables import Page, Row, row
from forestcoll.presentation.text import times, written
from forestcoll.programs.model import Task, block_counts, instruction_count

if TYPE_CHECKING:
    from forestcoll.programs.formats.judging import Judgement
    from forestcoll.programs.targets.target import Export


def export_page(done: "Export", output: Path | None = None, seconds: Mapping[str, float] | None = None) -> Page:
    """Return the page of an export.

    Args:
        done: the result of `export`.
        output: the file that was written; None if none was.
        seconds: the time of each stage of the run, for JSON.
    """
    program = done.lowering.program
    name = done.target.name if done.dialect is None else f"{done.target.name} for {done.dialect}"
    blocks = max(block_counts(program))
    rows = (
        row(format=done.target.name, dialect=done.dialect, collective=program.task, ranks=len(program.ranks)),
        *(row("warning", warning) for warning in done.warnings),
        *_loss_rows(done),
        row("chunks", done.chunks, chunks=done.chunks, channels=len(program.channels)),
        *_size_rows(done),
        row("thread blocks", f"at most {blocks} on a rank", blocks=blocks, instructions=instruction_count(program)),
        *_speed_rows(done),
        *(row("remark", remark) for remark in done.remarks),
        row("checked", done.target.checked, checked=True, remarks=(*done.warnings, *done.remarks)),
        row("written", _written(done, output), output=output),
        row(seconds=times(seconds or {}).values["seconds"]),
    )
    return Page(f"{program.name}: {program.task.value} on {len(program.ranks)} ranks as {name}", rows)


def _loss_rows(done: "Export") -> Iterator[Row]:
    """Yield the rows about trees or flows that are made for the runtime, and about lost bandwidth."""
    lowering, why = done.lowering, "made for the runtime; those of the optimum would be slower or match fewer sizes"
    if lowering.other_trees is not None:
        yield row("trees", f"{lowering.other_trees} per root, {why}")
    if lowering.other_flows:
        yield row("flows", f"with one peer in each other box, {why}")
    if lowering.loss:
        unit = "flows" if lowering.program.task is Task.ALL_TO_ALL else "trees"
        is_other = lowering.other_flows or lowering.other_trees is not None
        left_out = f"other {unit}" if is_other else f"{lowering.trees_left_out} {unit} left out"
        yield row("lost", f"{100 * float(lowering.loss):.3g} % of the algbw: {left_out}, or shares rounded")
    yield row(algbw=lowering.algbw, loss=lowering.loss, trees_left_out=lowering.trees_left_out)
    yield row(other_trees=lowering.other_trees, other_flows=lowering.other_flows)


def _size_rows(done: "Export") -> list[Row]:
    """Return the rows that state the sizes for which the runtime uses the program."""
    if (sizes := done.sizes) is None:
        return [row(sizes=None)]
    most = "" if sizes.most is None else f", up to {size_name(sizes.most)}"
    multiples = f"multiples of {size_name(sizes.granule)}{most}, with elements of 2 or 4 bytes"
    values = {"least": sizes.least, "granule": sizes.granule, "most": sizes.most, "otherwise": sizes.otherwise}
    return [row("sizes", multiples, sizes=values), row("other sizes", sizes.otherwise)]


def _speed_rows(done: "Export") -> list[Row]:
    """Return the rows with the expected algbw of the program and of the schedule, and the warning if there is one."""
    bound, expected = done.lowering.schedule_algbw, done.expected
    values = row(expected=[each._asdict() for each in expected], schedule_algbw=bound, warning=done.slow)
    if not expected:
        label = "expected algbw" * (done.sizes is not None)
        return [values, row(label, "not known: the program is too long to be simulated")]
    program = [f"{each.algbw:.4g} at {size_name(each.size)}" for each in expected]
    schedule = [f"{each.schedule_algbw:.4g} at {size_name(each.size)}" for each in expected]
    rows = [
        values,
        row("expected algbw", ", ".join(program)),
        row("of the schedule", f"{', '.join(schedule)}, {float(bound):.4g} for large data"),
    ]
    if done.slow is not None:
        lost = 100 * (1 - expected[-1].algbw / float(bound))
        at = f"at {size_name(expected[-1].size)}, {lost:.0f} % below the schedule for large data"
        rows.append(row("warning", f"{at}: {done.slow}"))
    return rows


def _written(done: "Export", output: Path | None) -> str:
    if output is None or is_standard_stream(output):
        return written(output).text
    return done.target.written_as.format(path=output)


def fault_line(found: "Judgement", file: Path) -> str | None:
    """Return the first fault of a program in one line, or None if there is none."""
    if found.fault is None:
        return None
    where = "" if found.placement is None else f" ({found.placement})"
    return f"{input_name(file)}: {found.fault}{where} [{found.fault.rule}]{_right_up_to(found)}"


def _right_up_to(found: "Judgement") -> str:
    if found.right_up_to is None:
        return ""
    return f"; up to {found.right_up_to} bytes ({size_name(found.right_up_to)}) it is right: set maxBytes to that"


def judgement_page(found: "Judgement", file: Path | None = None) -> Page:
    """Return the page of a program; `file` is where it was read from, if it is known."""
    fault = found.fault
    place = {name: None if fault is None else getattr(fault, name) for name in ("rule", "rank", "block", "step")}
    size_text = "" if found.right_up_to is None else f"{size_name(found.right_up_to)}, as maxBytes"
    rows = [
        row(valid=fault is None, message=None if fault is None else str(fault), **place, placement=found.placement),
        row("right up to" * (found.right_up_to is not None), size_text, right_up_to=found.right_up_to),
        row(format=found.format, collective=found.collective, ranks=found.ranks),
        *(row("warning", remark) for remark in found.remarks),
        row("instructions", found.instructions, instructions=found.instructions),
        row(runtimes=found.loads, remarks=found.remarks),
    ]
    for runtime, refusal in found.loads.items():
        rows.append(row(runtime, "loads it" if refusal is None else f"does not load it: {refusal}"))
    where = "" if file is None else f"{input_name(file)}: "
    what = "valid" if fault is None else f"wrong: {fault}"
    title = f"{where}{what}: {found.collective} on {found.ranks} ranks, in {found.format}"
    return Page(title, tuple(rows), valid=fault is None)
