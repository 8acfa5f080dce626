"""`forestcoll check-program`: checks a program for a runtime that anyone wrote."""

from pathlib import Path

import click

from forestcoll.cli.options import dialect_option, file_argument, json_option
from forestcoll.errors import InputError


@click.command("check-program")
@file_argument
@dialect_option("For MSCCL's XML: the runtime that must load the file.  [default: any of them]")
@click.option("--root", type=click.IntRange(0), metavar="RANK", help="For broadcast and reduce: the rank of the root.")
@json_option
@click.pass_context
def command(context: click.Context, file: Path, *, dialect: str | None, root: int | None, as_json: bool) -> int:
    """Check a program for a runtime that anyone wrote.

    FILE is MSCCL's XML or an execution plan of MSCCL++ in JSON; - is standard input. The program is checked against
    the rules of its runtimes, then run on data: every possible order of its steps must leave the right data, and none
    may hang. FILE may also be one of Chakra's traces, PREFIX.0.et; then the traces of all ranks must fit together.

    If the program is wrong, the exit status is 1 and the message names the rank, block and step of the first fault.
    With --json the answer is one JSON object whatever FILE holds.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.presentation import programs
    from forestcoll.presentation.printing import print_complaint, print_json, print_page
    from forestcoll.targets.judging import judge_file

    try:
        with Watch() as watch:
            watch.begin("checking")
            found = judge_file(file, dialect=dialect, root=root)
    except InputError as error:
        if as_json:
            print_json(programs.unreadable_document(str(error)))
        raise
    fault = programs.fault_line(found, file)
    if as_json:
        print_json(programs.judgement_document(found))
    elif fault is not None:
        print_complaint(fault)
    else:
        print_page(programs.judgement_page(found, file))
    context.exit(0 if fault is None else 1)
