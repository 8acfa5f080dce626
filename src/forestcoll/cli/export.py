"""`forestcoll export`: writes a schedule as a program for a runtime."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.cli.options import file_argument, json_option, output_option
from forestcoll.files import is_standard_stream

if TYPE_CHECKING:
    from forestcoll.cli.watching import Watch
    from forestcoll.lowering import Options
    from forestcoll.schedule.schedule import Schedule
    from forestcoll.targets.exporting import Export, Target

_COUNT = click.IntRange(1)


@click.command("export")
@file_argument
@click.option(
    "--to",
    "target",
    type=click.Choice(["msccl-xml", "mscclpp-json", "chakra"]),
    required=True,
    help="The format: MSCCL's XML, a plan of MSCCL++, or traces of Chakra for ASTRA-sim.",
)
@click.option(
    "--dialect",
    type=click.Choice(["microsoft", "azure", "rccl"]),
    help="Of MSCCL's XML: the runtime that it is for.  [default: microsoft]",
)
@click.option(
    "--placement",
    type=click.Choice(["in-place", "out-of-place", "both"]),
    help="Where input and output may lie.  [default: both if one file can say so, else out-of-place]",
)
@click.option("--protocol", type=click.Choice(["Simple", "LL", "LL128"]), default="Simple", show_default=True)
@click.option("--chunks", type=_COUNT, metavar="N", help="How many chunks the data is cut into.")
@click.option("--pieces", type=_COUNT, metavar="N", help="How many pieces of each chunk follow each other.")
@click.option("--channels", type=_COUNT, metavar="N", help="Over how many channels the trees of a root are spread.")
@click.option("--instances", type=_COUNT, metavar="N", help="How often the program stands side by side.")
@click.option("--blocks", type=_COUNT, metavar="N", help="How many thread blocks a rank may use.")
@click.option("--snippet", metavar="PYTHON", help="Of a plan of MSCCL++: also write the Python code that registers it.")
@click.option("--bytes", "size", metavar="SIZE", help="Of traces: the data M, such as 64KiB or 1GB.  [default: 1GB]")
@output_option
@json_option
def command(  # noqa: PLR0913 (one parameter an option)
    *,
    file: Path,
    target: str,
    dialect: str | None,
    snippet: str | None,
    size: str | None,
    output: Path | None,
    as_json: bool,
    **knobs: Any,
) -> None:
    """Write a schedule as a program for a runtime.

    FILE is a schedule of trees or of steps; - is standard input. It is lowered within the runtime's figures; if not
    all of its trees fit, the greatest do, and what that costs is said. What is written was read back and run on data
    before.

    Traces are one file a rank: with -o PREFIX they are PREFIX.0.et, PREFIX.1.et, and so on.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.files import write_text
    from forestcoll.targets.exporting import Target, export
    from forestcoll.verification.reading import read_verified

    _check_usage(Target(target), output, dialect=dialect, snippet=snippet, size=size)
    with Watch() as watch:
        schedule, _ = read_verified(file, progress=watch)
        watch.begin("lowering and checking")
        name = dialect or "microsoft"
        options = _options(schedule, Target(target), name, knobs)
        done = export(schedule, target, dialect=name, size=_bytes(size or "1GB"), options=options)
        if output is not None:
            watch.begin("writing")
            done.write(output)
        if snippet is not None and output is not None:
            write_text(Path(snippet), [done.snippet(output.name)])
    _report(done, output, watch, as_json=as_json)


def _check_usage(
    target: "Target", output: Path | None, *, dialect: str | None, snippet: str | None, size: str | None
) -> None:
    if dialect is not None and target != "msccl-xml":
        raise click.UsageError("only msccl-xml has dialects; leave --dialect out")
    if snippet is not None and target != "mscclpp-json":
        raise click.UsageError("only plans of MSCCL++ are registered by Python code; leave --snippet out")
    if snippet is not None and (output is None or is_standard_stream(output)):
        raise click.UsageError("--snippet names the plan's file; give -o FILE too")
    if size is not None and target != "chakra":
        raise click.UsageError("only traces are of one size; leave --bytes out")
    if target == "chakra" and is_standard_stream(output):
        raise click.UsageError("traces are one file a rank; give -o PREFIX")


def _bytes(text: str) -> int:
    from forestcoll.errors import InputError
    from forestcoll.units import data_size

    try:
        return data_size(text)
    except InputError as error:
        raise click.UsageError(f"--bytes {error}") from None


def _options(schedule: "Schedule", target: "Target", dialect: str, knobs: dict[str, Any]) -> "Options":
    """Return the knobs of the lowering: what the format usually has, and what was asked for."""
    from dataclasses import replace

    from forestcoll.lowering import Placement
    from forestcoll.program import Protocol
    from forestcoll.targets.exporting import usual_options

    usual = usual_options(schedule, target, dialect)
    asked = {
        name: value for name, value in knobs.items() if value is not None and name not in {"placement", "protocol"}
    }
    protocol = Protocol(knobs["protocol"])
    if protocol is Protocol.LL and target == "mscclpp-json":
        usual = replace(usual, pieces=1)
    if knobs["placement"] is not None:
        usual = replace(usual, placement=Placement(knobs["placement"]))
    return replace(usual, protocol=protocol, **asked)


def _report(done: "Export", output: Path | None, watch: "Watch", *, as_json: bool) -> None:
    from forestcoll.presentation import text

    err = is_standard_stream(output)
    if as_json:
        text.print_json(_document(done, output, watch), err=err)
        return
    program = done.lowering.program
    name = done.target.value if done.dialect is None else f"{done.target.value} for {done.dialect}"
    title = f"{text.printable(program.name)}: {program.task.value} on {len(program.ranks)} ranks as {name}"
    text.print_lines([title, *text.table(_rows(done, output))], err=err)


def _rows(done: "Export", output: Path | None) -> list[tuple[str, str]]:
    lowering, program = done.lowering, done.lowering.program
    blocks = max(len(rank.blocks) for rank in program.ranks)
    rows = [
        ("chunks", str(program.chunks)),
        ("thread blocks", f"{blocks} on a rank at most"),
        ("checked", "read back" if done.traces else "read back and run on data"),
    ]
    if lowering.loss:
        lost = f"{100 * float(lowering.loss):.3g} %"
        rows.insert(0, ("lost", f"{lost} of the algbw: {lowering.trees_left_out} trees left out, or shares rounded"))
    where = "nowhere; -o FILE writes it" if output is None else f"{output}.*.et" if done.traces else str(output)
    return [*rows, ("written", "to standard output" if is_standard_stream(output) else where)]


def _document(done: "Export", output: Path | None, watch: "Watch") -> dict[str, object]:
    lowering, program = done.lowering, done.lowering.program
    return {
        "format": done.target.value,
        "dialect": done.dialect,
        "collective": program.task.value,
        "ranks": len(program.ranks),
        "chunks": program.chunks,
        "channels": len(program.channels),
        "blocks": max(len(rank.blocks) for rank in program.ranks),
        "instructions": sum(1 for _ in program.instructions()),
        "algbw": str(lowering.algbw),
        "loss": str(lowering.loss),
        "trees_left_out": lowering.trees_left_out,
        "checked": True,
        "output": None if output is None else str(output),
        "seconds": {stage: round(passed, 6) for stage, passed in watch.seconds.items()},
    }
