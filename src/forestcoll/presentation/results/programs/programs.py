"""Programs for runtimes as pages and as JSON: the result of an export, and the judgement of a program file."""

from collections.abc import Mapping
from pathlib import Path

from forestcoll.base.files import input_name, is_standard_stream
from forestcoll.base.units import size_name
from forestcoll.presentation.tables import Page, labelled
from forestcoll.presentation.text import path_text, stage_document, written_to
from forestcoll.programs.formats.judging import Judgement
from forestcoll.programs.model import Task, block_counts, instruction_count
from forestcoll.programs.targets.target import Export


def export_document(done: Export, output: Path | None, seconds: Mapping[str, float]) -> dict[str, object]:
    """Return the JSON object of an export.

    Args:
        done: the result of `export`.
        output: the file that was written; None if none was.
        seconds: the time of each stage of the run.
    """
    lowering, program = done.lowering, done.lowering.program
    return {
        "format": done.target.name,
        "dialect": done.dialect,
        "collective": program.task.value,
        "ranks": len(program.ranks),
        "chunks": done.chunks,
        "channels": len(program.channels),
        "blocks": max(block_counts(program)),
        "instructions": instruction_count(program),
        "algbw": str(lowering.algbw),
        "loss": str(lowering.loss),
        "trees_left_out": lowering.trees_left_out,
        "other_trees": lowering.other_trees,
        "other_flows": lowering.other_flows,
        "sizes": _sizes_document(done),
        "expected": [each._asdict() for each in done.expected],
        "schedule_algbw": str(lowering.schedule_algbw),
        "warning": done.slow,
        "remarks": list(done.remarks),
        "checked": True,
        "output": path_text(output),
        "seconds": stage_document(seconds),
    }


def export_page(done: Export, output: Path | None = None) -> Page:
    """Return the page of an export; the arguments are those of `export_document`."""
    lowering, program = done.lowering, done.lowering.program
    name = done.target.name if done.dialect is None else f"{done.target.name} for {done.dialect}"
    blocks = max(block_counts(program))
    rows = [
        ("chunks", str(done.chunks)),
        *_size_rows(done),
        ("thread blocks", f"at most {blocks} on a rank"),
        *_speed_rows(done),
        *(("remark", remark) for remark in done.remarks),
        ("checked", done.target.checked),
        ("written", _written(done, output)),
    ]
    if lowering.loss:
        lost = f"{100 * float(lowering.loss):.3g} %"
        unit = "flows" if program.task is Task.ALL_TO_ALL else "trees"
        is_other = lowering.other_flows or lowering.other_trees is not None
        left_out = f"other {unit}" if is_other else f"{lowering.trees_left_out} {unit} left out"
        rows.insert(0, ("lost", f"{lost} of the algbw: {left_out}, or shares rounded"))
    why = "which would be slower or match fewer sizes"
    if lowering.other_flows:
        rows.insert(0, ("flows", f"with one peer in each other box, not those of the file, {why}"))
    if lowering.other_trees is not None:
        rows.insert(0, ("trees", f"{lowering.other_trees} per root, not those of the file, {why}"))
    title = f"{program.name}: {program.task.value} on {len(program.ranks)} ranks as {name}"
    return Page(title, (labelled(rows),))


def _sizes_document(done: Export) -> dict[str, object] | None:
    if done.sizes is None:
        return None
    sizes = done.sizes
    return {"least": sizes.least, "granule": sizes.granule, "most": sizes.most, "otherwise": sizes.otherwise}


def _size_rows(done: Export) -> list[tuple[str, str]]:
    """Return the rows that state the sizes for which the runtime uses the program."""
    if done.sizes is None:
        return []
    most = "" if done.sizes.most is None else f", up to {size_name(done.sizes.most)}"
    return [
        ("sizes", f"multiples of {size_name(done.sizes.granule)}{most}, with elements of 2 or 4 bytes"),
        ("other sizes", done.sizes.otherwise),
    ]


def _speed_rows(done: Export) -> list[tuple[str, str]]:
    """Return the rows with the expected algbw of the program and of the schedule, and the warning if there is one."""
    if not done.expected:
        unknown = "not known: the program is too long to be simulated"
        return [] if done.sizes is None else [("expected algbw", unknown)]
    bound = float(done.lowering.schedule_algbw)
    program = [f"{each.algbw:.4g} at {size_name(each.size)}" for each in done.expected]
    schedule = [f"{each.schedule_algbw:.4g} at {size_name(each.size)}" for each in done.expected]
    rows = [
        ("expected algbw", ", ".join(program)),
        ("of the schedule", f"{', '.join(schedule)}, {bound:.4g} for large data"),
    ]
    if done.slow is not None:
        last = done.expected[-1]
        lost = 100 * (1 - last.algbw / bound)
        at = f"at {size_name(last.size)}, {lost:.0f} % below the schedule for large data"
        rows.append(("warning", f"{at}: {done.slow}"))
    return rows


def _written(done: Export, output: Path | None) -> str:
    if output is None or is_standard_stream(output):
        return written_to(output)
    return done.target.written_as.format(path=output)


def judgement_document(found: Judgement) -> dict[str, object]:
    """Return the JSON object of the judgement of a program."""
    fault = found.fault
    return {
        "valid": fault is None,
        "format": found.format,
        "collective": found.collective,
        "ranks": found.ranks,
        "instructions": found.instructions,
        "rule": None if fault is None else fault.rule,
        "message": None if fault is None else str(fault),
        "rank": None if fault is None else fault.rank,
        "block": None if fault is None else fault.block,
        "step": None if fault is None else fault.step,
        "placement": found.placement,
        "runtimes": dict(found.loads),
        "remarks": list(found.remarks),
    }


def unreadable_document(message: str) -> dict[str, object]:
    """Return the JSON object of a file that is not a program; `message` says why."""
    return {"valid": False, "rule": None, "message": message, "rank": None, "block": None, "step": None}


def fault_line(found: Judgement, file: Path) -> str | None:
    """Return the first fault of a program in one line, or None if there is none."""
    if found.fault is None:
        return None
    where = "" if found.placement is None else f" ({found.placement})"
    return f"{input_name(file)}: {found.fault}{where} [{found.fault.rule}]"


def judgement_page(found: Judgement, file: Path | None = None) -> Page:
    """Return the page of a program; `file` is where it was read from, if it is known."""
    rows = [("instructions", str(found.instructions))]
    for runtime, refusal in found.loads.items():
        rows.append((runtime, "loads it" if refusal is None else f"does not load it: {refusal}"))
    rows += [("remark", remark) for remark in found.remarks]
    where = "" if file is None else f"{input_name(file)}: "
    what = "valid" if found.fault is None else f"wrong: {found.fault}"
    title = f"{where}{what}: {found.collective} on {found.ranks} ranks, in {found.format}"
    return Page(title, (labelled(rows),), valid=found.fault is None)
