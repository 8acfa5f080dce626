"""`forestcoll verify`: checks a schedule or a program from any source."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forestcoll.base.errors import InputError
from forestcoll.cli.numpy_start import import_numpy
from forestcoll.cli.options import dialect_option, file_argument, json_option
from forestcoll.cli.types import IntegerFrom

if TYPE_CHECKING:
    from forestcoll.base.progress import Progress
    from forestcoll.presentation.tables import Page


@click.command("verify")
@file_argument
@dialect_option("For MSCCL XML: the runtime that must load the file.  [default: any of them]")
@click.option("--root", type=IntegerFrom(0), metavar="RANK", help="For a program of a broadcast or a reduce: its root.")
@json_option
@click.pass_context
def command(context: click.Context, file: Path, *, dialect: str | None, root: int | None, as_json: bool) -> int:
    """Verify a schedule or a program.

    FILE is a schedule of any kind, or a program for a runtime (MSCCL XML, an MSCCL++ execution plan in JSON, or a GOAL
    schedule), written by any program; - is standard input.

    Of a schedule, the command checks that all data arrives, and that the claimed algbw and the proof of the optimum are
    correct. For steps, it also checks that each node has the data that it sends; for a series, that the ports of nodes
    are not used twice at the same time. A program is checked against the rules of its runtimes and executed on symbolic
    data: in every possible order of its steps, it must end with the correct data and must not deadlock. GOAL schedules
    of other programs do not say which data they move; only their messages and dependencies are checked.

    In Python, forestcoll.StepSchedule.of_sends makes a schedule of the sends of an algorithm of your own;
    docs/how-to/your-own-algorithm.md has an example.

    If FILE is wrong, the exit status is 1, and the message states the first rule that is broken, or the rank, the
    thread block and the step of the first fault. With --json, the output is one JSON object in all cases; "rule" is
    null if FILE does not contain a schedule.
    """
    import_numpy()
    from forestcoll.algorithms.verify import is_program
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_error, print_result
    from forestcoll.presentation.results.schedules.reports import refusal_page

    try:
        with TerminalProgress() as progress:
            progress.begin("reading")
            if is_program(file):
                fault, page = _program(file, dialect, root, progress)
            elif dialect is not None or root is not None:
                raise click.UsageError("--dialect and --root are for programs; leave them out for a schedule")
            else:
                fault, page = _schedule(file, progress)
    except InputError as error:
        if as_json:
            print_result(refusal_page(str(error)), as_json=True)
        raise
    if fault is not None and not as_json:
        print_error(fault)
    else:
        print_result(page, as_json=as_json)
    context.exit(0 if fault is None else 1)


def _schedule(file: Path, progress: "Progress") -> "tuple[str | None, Page]":
    """Return the fault and the page of a schedule."""
    from forestcoll.base.files import input_name
    from forestcoll.presentation.results.schedules.reports import refusal_page, verified_page
    from forestcoll.schedule.files import read_schedule
    from forestcoll.verification import verify

    schedule = read_schedule(file)
    progress.begin("verifying")
    report = verify(schedule)
    if (fault := report.fault) is not None:
        message = f"{input_name(file)}: {fault.message} [{fault.rule}]"
        return message, refusal_page(fault.message, fault.rule)
    return None, verified_page(schedule, report, file)


def _program(file: Path, dialect: str | None, root: int | None, progress: "Progress") -> "tuple[str | None, Page]":
    """Return the fault and the page of a program."""
    from forestcoll.presentation.results.programs.programs import fault_line, judgement_page
    from forestcoll.programs.formats.judging import judge_file

    progress.begin("checking")
    found = judge_file(file, dialect=dialect, root=root)
    return fault_line(found, file), judgement_page(found, file)
