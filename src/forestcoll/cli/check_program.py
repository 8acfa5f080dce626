"""`forestcoll check-program`: checks a program for a runtime, from any source."""

from pathlib import Path

import click

from forestcoll.base.errors import InputError
from forestcoll.cli.options import dialect_option, file_argument, json_option
from forestcoll.cli.types import IntegerFrom


@click.command("check-program")
@file_argument
@dialect_option("For MSCCL XML: the runtime that must load the file.  [default: any of them]")
@click.option("--root", type=IntegerFrom(0), metavar="RANK", help="For broadcast and reduce: the rank of the root.")
@json_option
@click.pass_context
def command(context: click.Context, file: Path, *, dialect: str | None, root: int | None, as_json: bool) -> int:
    """Check a program for a runtime.

    FILE is MSCCL XML, an MSCCL++ execution plan in JSON, or a GOAL schedule, written by any program; - is standard
    input. The program is checked against the rules of its runtimes and executed on symbolic data. In every possible
    order of its steps, it must end with the correct data and must not deadlock. GOAL schedules of other programs do not
    say which data they move; only their messages and dependencies are checked.

    If the program is invalid, the exit status is 1, and the message names the rank, the thread block and the step of
    the first fault. With --json, the output is one JSON object in all cases.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_error, print_json, print_page
    from forestcoll.presentation.results.programs import programs
    from forestcoll.programs.formats.judging import judge_file

    try:
        with TerminalProgress() as progress:
            progress.begin("checking")
            found = judge_file(file, dialect=dialect, root=root)
    except InputError as error:
        if as_json:
            print_json(programs.unreadable_document(str(error)))
        raise
    fault = programs.fault_line(found, file)
    if as_json:
        print_json(programs.judgement_document(found))
    elif fault is not None:
        print_error(fault)
    else:
        print_page(programs.judgement_page(found, file))
    context.exit(0 if fault is None else 1)
