"""`forestcoll export`: writes a schedule as a program for a runtime."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from forestcoll.base.files import is_standard_stream
from forestcoll.cli.options import dialect_option, json_option, output_option_of, schedule_of_source, source_options
from forestcoll.cli.types import DataSize, OutputFile, OutputFolder, TargetText


class _SimulationFolder(OutputFolder):
    """The folder that ASTRA-sim runs."""

    def check(self, path: Path, values: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Check that the folder is new, or has an older simulation."""
        from forestcoll.programs.formats.chakra import check_astra_sim_folder

        check_astra_sim_folder(path)


_OUTPUTS = {
    "msccl-xml": OutputFile(".xml"),
    "mscclpp-json": OutputFile(".json"),
    "chakra": OutputFile(),
    "astra-sim": _SimulationFolder(),
    "goal": OutputFile(".goal"),
}
"""What -o names, by the format."""


class _ProgramFile(OutputFile):
    """The file or folder that -o names. `--to`, which is read first, decides which of them."""

    def is_folder_of(self, ctx: click.Context | None) -> bool:
        """Return whether the format is a folder."""
        return ctx is not None and _OUTPUTS[ctx.params["target"][0]].is_folder

    def check(self, path: Path, values: Mapping[str, Any]) -> None:
        """Check the output as its format needs it."""
        _OUTPUTS[values["target"][0]].check(path, values)


@click.command("export")
@source_options
@click.option(
    "--to",
    "target",
    type=TargetText(tuple(_OUTPUTS)),
    metavar="NAME[:KEY=VALUE…]",
    required=True,
    is_eager=True,
    help="The format: msccl-xml, mscclpp-json (an execution plan of MSCCL++), chakra (traces), astra-sim (a folder "
    "that ASTRA-sim runs) or goal (a schedule for LogGOPSim and ATLAHS); with options of the program, such as "
    "msccl-xml:channels=2,chunks=64, which are chosen by a simulation otherwise: placement, protocol, chunks, pieces, "
    "step_chunks, channels, instances, blocks and, for msccl-xml, levels, lanes, strands.",
)
@dialect_option("For msccl-xml: the runtime that loads the file.  [default: microsoft]")
@click.option(
    "--snippet",
    type=OutputFile(".py"),
    metavar="PYTHON",
    help="For mscclpp-json: also write a Python file that registers the plan.",
)
@click.option(
    "--bytes",
    "size",
    type=DataSize(),
    metavar="SIZE",
    help="For chakra, astra-sim and goal: the data size M, such as 64KiB.  [default: 1GB]",
)
@output_option_of(_ProgramFile())
@json_option
def command(
    *,
    target: tuple[str, dict[str, Any]],
    dialect: str | None,
    snippet: Path | None,
    size: int | None,
    output: Path | None,
    as_json: bool,
    **source: Any,
) -> None:
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
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.programs.programs import export_document, export_page
    from forestcoll.programs.formats.exporting import DEFAULT_BYTES, DEFAULT_DIALECT
    from forestcoll.tuning.programs.export import export_best

    name, given = target
    _check_usage(name, output, dialect=dialect, snippet=snippet, size=size)
    with TerminalProgress() as progress:
        schedule, _ = schedule_of_source(source, progress)
        done = export_best(
            schedule,
            name,
            dialect=dialect or DEFAULT_DIALECT,
            size=size or DEFAULT_BYTES,
            given=given,
            progress=progress,
        )
        if output is not None:
            progress.begin("writing")
            with written_together():
                done.write(output)
                if snippet is not None:
                    write_text(snippet, [done.snippet(output.name)])
    err = is_standard_stream(output)
    if as_json:
        print_json(export_document(done, output, progress.seconds), err=err)
    else:
        print_page(export_page(done, output), err=err)


def _check_usage(
    target: str, output: Path | None, *, dialect: str | None, snippet: Path | None, size: int | None
) -> None:
    if dialect is not None and target != "msccl-xml":
        raise click.UsageError("--dialect is only for msccl-xml; leave it out")
    if snippet is not None and target != "mscclpp-json":
        raise click.UsageError("--snippet is only for mscclpp-json; leave it out")
    if snippet is not None and (output is None or is_standard_stream(output)):
        raise click.UsageError("--snippet needs the file name of the plan; also give -o FILE")
    if size is not None and target not in {"chakra", "astra-sim", "goal"}:
        raise click.UsageError("--bytes is only for chakra, astra-sim and goal; leave it out")
    if target == "astra-sim" and is_standard_stream(output):
        raise click.UsageError("the files for ASTRA-sim are a folder, which standard output cannot take; give -o DIR")
    if target == "chakra" and is_standard_stream(output):
        raise click.UsageError("Chakra traces are one file per rank, which standard output cannot take; give -o PREFIX")
