"""`forestcoll export`: writes a schedule as a program for a runtime."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.base.errors import InputError
from forestcoll.base.files import is_standard_stream
from forestcoll.cli.options import (
    HelpLaterOption,
    dialect_option,
    json_option,
    outputs_option,
    schedule_of_source,
    source_options,
    usage_of,
)
from forestcoll.cli.types import DataSize, OutputFile, SpecText, check_ending

if TYPE_CHECKING:
    from forestcoll.base.registry import Registry
    from forestcoll.programs.targets.target import Target


def _targets() -> "Registry":
    from forestcoll.programs.targets.target import targets

    return targets


def _targets_help() -> str:
    """Return all formats and their options."""
    specs = _targets().all()
    having = {each.name: _targets().having(each.name) for spec in specs for each in spec.parameters}
    options = [key if len(of) == len(specs) else f"{key} (of {', '.join(of)})" for key, of in having.items()]
    formats = [f"{spec.name} ({spec.facts['summary']})" for spec in specs]
    return (
        f"The format: {', '.join(formats)}; with options such as msccl-xml:channels=2,chunks=64. Options of the "
        f"program that are not given are chosen, for runtimes by a simulation: {', '.join(options)}."
    )


class _ProgramFile(OutputFile):
    """The file or folder that -o names. `--to`, which is read first, decides which of them."""

    def is_folder_of(self, ctx: click.Context | None) -> bool:
        """Return whether the format is a folder."""
        return ctx is not None and ctx.params["target"].is_folder

    def check(self, path: Path, values: Mapping[str, Any]) -> None:
        """Check the output as its format needs it."""
        check_ending(path, values["target"].endings)
        values["target"].check_output(path)


@click.command("export")
@source_options
@click.option(
    "--to",
    "target",
    cls=HelpLaterOption,
    make_help=_targets_help,
    type=SpecText("format", _targets),
    metavar="NAME[:KEY=VALUE…]",
    required=True,
    is_eager=True,
)
@dialect_option("For msccl-xml: the runtime that loads the file.  [default: microsoft]")
@click.option(
    "--bytes",
    type=DataSize(),
    metavar="SIZE",
    help="For formats of simulators: the data size M, such as 64KiB.  [default: 1GB]",
)
@outputs_option(
    "A file to write: program or, for mscclpp-json, snippet (Python code that registers the plan).",
    program=_ProgramFile(),
    snippet=OutputFile(".py"),
)
@json_option
def command(*, target: "Target", output: Mapping[str, Path], as_json: bool, **options: Any) -> None:
    """Write a schedule as a program for a runtime.

    FILE is a schedule of trees, of steps, or of the flows of an all-to-all; - is standard input. For TOPOLOGY, a
    schedule is generated first. Options of the program that --to does not give are chosen by a simulation, within the
    limits of the runtime. The report states the sizes for which the runtime uses the program, and the expected
    bandwidth. If not all trees or flows fit, those with the largest shares are kept, and the report states the loss of
    bandwidth. Before a program is written, it is read back and executed on symbolic data; of Chakra traces, only
    messages and dependencies are checked. If the program is long, a note first states the time, the memory and the size
    of the files that it will take.

    Chakra traces are one file per rank: with -o PREFIX, the files are PREFIX.0.et, PREFIX.1.et, and so on. For
    astra-sim, -o names a folder; it gets the traces, a workload, and all settings of a simulation.
    """
    from forestcoll.base.files import write_text
    from forestcoll.base.together import written_together
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.programs.programs import export_page
    from forestcoll.tuning.programs.export import export

    target = _with_options(target, {name: options.pop(name) for name in ("dialect", "bytes")})
    usage_of(target.check_outputs, output)
    program = output.get("program")
    with TerminalProgress() as progress:
        schedule, _ = schedule_of_source(options, progress)
        done = export(schedule, target, progress=progress)
        if program is not None:
            progress.begin("writing")
            with written_together():
                done.write(program)
                if "snippet" in output:
                    write_text(output["snippet"], [done.snippet(program.name)])
    err = is_standard_stream(program)
    print_result(export_page(done, program, progress.seconds), as_json=as_json, err=err)


def _with_options(target: "Target", options: Mapping[str, Any]) -> "Target":
    """Return a format with the options of the command line that set one of its own; None is not given."""
    targets = _targets()
    given = {name: value for name, value in options.items() if value is not None}
    try:
        targets.require(targets.named(target.name), given, {})
    except InputError as error:
        raise click.UsageError(str(error)) from None
    return replace(target, **given)
