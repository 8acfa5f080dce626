"""`forestcoll export`: writes a schedule as a program for a runtime."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from forestcoll.base.files import is_standard_stream
from forestcoll.cli.options import dialect_option, file_argument, json_option, output_option_of
from forestcoll.cli.types import DataSize, IntegerFrom, OutputFile, OutputFolder

_COUNT = IntegerFrom(1)


class Chunks(IntegerFrom):
    """A number of chunks, or `exact`, which becomes 0."""

    name = "chunks"

    def __init__(self) -> None:
        """Allow 1 or more."""
        super().__init__(1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        return 0 if value == "exact" else super().convert(value, param, ctx)

    def expected(self) -> str:
        """Return what is valid, in words."""
        return f"'exact' or {super().expected()}"


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
        return ctx is not None and _OUTPUTS[ctx.params["target"]].is_folder

    def check(self, path: Path, values: Mapping[str, Any]) -> None:
        """Check the output as its format needs it."""
        _OUTPUTS[values["target"]].check(path, values)


@click.command("export")
@file_argument
@click.option(
    "--to",
    "target",
    type=click.Choice(list(_OUTPUTS)),
    required=True,
    is_eager=True,
    help="The format: MSCCL XML, an MSCCL++ execution plan, Chakra traces, a folder that ASTRA-sim runs, or a GOAL "
    "schedule for LogGOPSim and ATLAHS.",
)
@dialect_option("For msccl-xml: the runtime that loads the file.  [default: microsoft]")
@click.option(
    "--placement",
    type=click.Choice(["in-place", "out-of-place", "both"]),
    help="Whether the input and the output are the same buffer.  [default: both if the format supports it; else as "
    "frameworks call the collective: allreduce, broadcast and reduce in-place, others out-of-place]",
)
@click.option(
    "--protocol",
    type=click.Choice(["Simple", "LL", "LL128"]),
    default="Simple",
    show_default=True,
    help="The protocol of the runtime that transfers the data.",
)
@click.option(
    "--chunks",
    type=Chunks(),
    metavar="N",
    help="The most chunks that the data is divided into: the best power of two (times the number of ranks that it is "
    "divided among) up to N is used. 'exact' is the least number that makes all shares exact.",
)
@click.option(
    "--pieces", type=_COUNT, metavar="N", help="The number of pieces of a chunk, which follow each other along a tree."
)
@click.option(
    "--step-chunks",
    type=_COUNT,
    metavar="N",
    help="The most chunks that one step moves. The data of a tree is cut into parts of at most so many chunks. For "
    "msccl-xml, they follow each other along the tree; for mscclpp-json, they move at the same time, and parts of 32 "
    "chunks or more differ by up to 5 % from this mean.",
)
@click.option("--channels", type=_COUNT, metavar="N", help="The number of channels that the trees of a root share.")
@click.option(
    "--levels",
    type=click.IntRange(0),
    metavar="N",
    help="For msccl-xml and schedules of trees: the number of channels over which the hops of a tree are distributed "
    "by their depth. With 0, a rank receives and sends on in one step where it can.",
)
@click.option(
    "--lanes",
    type=_COUNT,
    metavar="N",
    help="For msccl-xml and schedules of trees: the number of blocks that send from one rank to another at the same "
    "time, in the order of a timetable. On fast links there are more. Pairs of ranks that share a link have numbers in "
    "proportion to their data.",
)
@click.option(
    "--instances",
    type=_COUNT,
    metavar="N",
    help="The number of copies of the program that run in parallel, each on a part of the data.",
)
@click.option(
    "--strands",
    type=_COUNT,
    metavar="N",
    help="For msccl-xml and schedules of trees: the number of parts of a tree that move at the same time, in blocks of "
    "their own. Unlike instances, they share the chunks of the tree.",
)
@click.option("--blocks", type=_COUNT, metavar="N", help="The maximum number of thread blocks per rank.")
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
def command(  # noqa: PLR0913 (one parameter per option)
    *,
    file: Path,
    target: str,
    dialect: str | None,
    snippet: Path | None,
    size: int | None,
    output: Path | None,
    as_json: bool,
    **lowering_options: Any,
) -> None:
    """Write a schedule as a program for a runtime.

    FILE is a schedule of trees, of steps, or of the flows of an all-to-all; - is standard input. Options that are not
    given are chosen by a simulation of the program, within the limits of the runtime. The report states the sizes for
    which the runtime uses the program, and the expected bandwidth. If not all trees or flows fit, those with the
    largest shares are kept, and the report states the loss of bandwidth. Before a program is written, it is read back
    and executed on symbolic data; of Chakra traces, only messages and dependencies are checked. If the program is long,
    a note first states the time, the memory and the size of the files that it will take.

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
    from forestcoll.verification.reading import read_verified

    _check_usage(target, output, dialect=dialect, snippet=snippet, size=size)
    _check_options_of_msccl(target, lowering_options)
    with TerminalProgress() as progress:
        schedule, _ = read_verified(file, progress=progress)
        given = {name: value for name, value in lowering_options.items() if value is not None}
        if "chunks" in given:
            given["chunks"] = given["chunks"] or None
        done = export_best(
            schedule,
            target,
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


def _check_options_of_msccl(target: str, given: Mapping[str, Any]) -> None:
    unused = next((name for name in ("levels", "lanes", "strands") if given[name] is not None), None)
    if target != "msccl-xml" and unused is not None:
        raise click.UsageError(f"--{unused} is only for msccl-xml; leave it out")
