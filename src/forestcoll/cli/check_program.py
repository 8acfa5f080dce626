"""`forestcoll check-program`: checks a program for a runtime that anyone wrote."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forestcoll.cli.options import file_argument, json_option
from forestcoll.errors import InputError

if TYPE_CHECKING:
    from forestcoll.targets.judging import Judgement


@click.command("check-program")
@file_argument
@click.option(
    "--dialect",
    type=click.Choice(["microsoft", "azure", "rccl"]),
    help="Of MSCCL's XML: the runtime that must load it; without it, one of them must.",
)
@click.option("--root", type=click.IntRange(0), metavar="RANK", help="Of a broadcast or a reduce, which is its root.")
@json_option
@click.pass_context
def command(context: click.Context, file: Path, *, dialect: str | None, root: int | None, as_json: bool) -> int:
    """Check a program for a runtime that anyone wrote.

    FILE is MSCCL's XML or an execution plan of MSCCL++ in JSON; - is standard input. It is held against the rules of
    its runtimes, then run on data: every order of its steps that can happen leaves the right data, and none hangs. Or
    it is one of Chakra's traces, PREFIX.0.et: then those of all ranks must fit together.

    Exit status 1 and the rank, block and step of the first fault if it is not right. With --json the answer is one JSON
    object whatever FILE holds.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.presentation import text
    from forestcoll.targets.judging import judge_file

    try:
        with Watch() as watch:
            watch.begin("checking")
            found = judge_file(file, dialect=dialect, root=root)
    except InputError as error:
        if as_json:
            text.print_json(_refusal(str(error)))
        raise
    if as_json:
        text.print_json(_document(found))
    elif found.fault is not None:
        where = "" if found.placement is None else f" ({found.placement})"
        click.echo(f"forestcoll: {file}: {found.fault}{where} [{found.fault.rule}]", err=True)
    else:
        _print(file, found)
    context.exit(0 if found.fault is None else 1)


def _refusal(message: str) -> dict[str, object]:
    return {"valid": False, "rule": None, "message": message, "rank": None, "block": None, "step": None}


def _document(found: "Judgement") -> dict[str, object]:
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


def _print(file: Path, found: "Judgement") -> None:
    from forestcoll.presentation import text

    rows = [("instructions", str(found.instructions))]
    for runtime, refusal in found.loads.items():
        rows.append((runtime, "loads it" if refusal is None else f"does not load it: {refusal}"))
    rows += [("remark", remark) for remark in found.remarks]
    title = f"{file}: right: {found.collective} on {found.ranks} ranks, in {found.format}"
    text.print_lines([title, *text.table(rows)])
