"""`forestcoll export`: writes a schedule as a program for a runtime."""

from pathlib import Path
from typing import Any

import click

from forestcoll.cli.options import dialect_option, file_argument, json_option, output_option
from forestcoll.cli.types import DataSize, FileName
from forestcoll.files import is_standard_stream

_COUNT = click.IntRange(1)


@click.command("export")
@file_argument
@click.option(
    "--to",
    "target",
    type=click.Choice(["msccl-xml", "mscclpp-json", "chakra"]),
    required=True,
    help="The format: MSCCL's XML, an execution plan of MSCCL++, or traces of Chakra for ASTRA-sim.",
)
@dialect_option("For MSCCL's XML: the runtime that loads the file.  [default: microsoft]")
@click.option(
    "--placement",
    type=click.Choice(["in-place", "out-of-place", "both"]),
    help="Where input and output may lie.  [default: both if one file can say so, else out-of-place]",
)
@click.option("--protocol", type=click.Choice(["Simple", "LL", "LL128"]), default="Simple", show_default=True)
@click.option("--chunks", type=_COUNT, metavar="N", help="The number of chunks that the data is cut into.")
@click.option("--pieces", type=_COUNT, metavar="N", help="The number of pieces of a chunk that follow each other.")
@click.option("--channels", type=_COUNT, metavar="N", help="The number of channels that the trees of a root share.")
@click.option("--instances", type=_COUNT, metavar="N", help="The number of copies of the program that run in parallel.")
@click.option("--blocks", type=_COUNT, metavar="N", help="The most thread blocks of a rank.")
@click.option(
    "--snippet",
    type=FileName(),
    metavar="PYTHON",
    help="For a plan of MSCCL++: also write the Python code that registers it.",
)
@click.option(
    "--bytes", "size", type=DataSize(), metavar="SIZE", help="For traces: the data M, such as 64KiB.  [default: 1GB]"
)
@output_option
@json_option
def command(  # noqa: PLR0913 (one parameter an option)
    *,
    file: Path,
    target: str,
    dialect: str | None,
    snippet: Path | None,
    size: int | None,
    output: Path | None,
    as_json: bool,
    **knobs: Any,
) -> None:
    """Write a schedule as a program for a runtime.

    FILE is a schedule of trees or of steps; - is standard input. The program stays within the limits of the runtime.
    If not all trees fit, the largest are kept and the report says what bandwidth is lost. Before a program is written,
    it is read back and run on data.

    Traces are one file per rank: with -o PREFIX they are PREFIX.0.et, PREFIX.1.et, and so on.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.files import write_text
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.programs import export_document, export_page
    from forestcoll.targets.exporting import DEFAULT_BYTES, DEFAULT_DIALECT, chosen_options, export
    from forestcoll.verification.reading import read_verified

    _check_usage(target, output, dialect=dialect, snippet=snippet, size=size)
    with Watch() as watch:
        schedule, _ = read_verified(file, progress=watch)
        watch.begin("lowering and checking")
        dialect = dialect or DEFAULT_DIALECT
        options = chosen_options(schedule, target, dialect, **knobs)
        done = export(schedule, target, dialect=dialect, size=size or DEFAULT_BYTES, options=options)
        if output is not None:
            watch.begin("writing")
            done.write(output)
        if snippet is not None and output is not None:
            write_text(snippet, [done.snippet(output.name)])
    err = is_standard_stream(output)
    if as_json:
        print_json(export_document(done, output, watch.seconds), err=err)
    else:
        print_page(export_page(done, output), err=err)


def _check_usage(
    target: str, output: Path | None, *, dialect: str | None, snippet: Path | None, size: int | None
) -> None:
    if dialect is not None and target != "msccl-xml":
        raise click.UsageError("only msccl-xml has dialects; leave --dialect out")
    if snippet is not None and target != "mscclpp-json":
        raise click.UsageError("only plans of MSCCL++ are registered by Python code; leave --snippet out")
    if snippet is not None and (output is None or is_standard_stream(output)):
        raise click.UsageError("--snippet contains the name of the plan's file; give -o FILE too")
    if size is not None and target != "chakra":
        raise click.UsageError("only traces have a size; leave --bytes out")
    if target == "chakra" and is_standard_stream(output):
        raise click.UsageError("traces are one file per rank; give -o PREFIX")
