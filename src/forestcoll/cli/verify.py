"""`forestcoll verify`: checks a schedule file from any source."""

from pathlib import Path

import click

from forestcoll.base.errors import InputError
from forestcoll.cli.numpy_start import import_numpy
from forestcoll.cli.options import file_argument, json_option


@click.command("verify")
@file_argument
@json_option
@click.pass_context
def command(context: click.Context, file: Path, *, as_json: bool) -> int:
    """Verify a schedule file.

    FILE is a schedule of trees, of steps or of a series of broadcasts, written by any program; - is standard input. The
    command checks that all data arrives, and that the claimed algbw and the proof of the optimum are correct. For
    steps, it also checks that each node has the data that it sends; for a series, that the ports of nodes are not
    used twice at the same time.

    If the schedule breaks a rule, the exit status is 1, and the message states the first rule that is broken. With
    --json, the output is one JSON object in all cases; "rule" is null if FILE does not contain a schedule.
    """
    import_numpy()
    from forestcoll.base.files import input_name
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_error, print_json, print_page
    from forestcoll.presentation.results.schedules.reports import refusal_document, verified_document, verified_page
    from forestcoll.schedule.files import read_schedule
    from forestcoll.verification import verify

    try:
        with TerminalProgress() as progress:
            progress.begin("reading")
            schedule = read_schedule(file)
            progress.begin("verifying")
            report = verify(schedule)
    except InputError as error:
        if as_json:
            print_json(refusal_document(None, str(error)))
        raise
    fault = report.fault
    if fault is None and as_json:
        print_json(verified_document(schedule, report))
    elif fault is None:
        print_page(verified_page(schedule, report, file))
    elif as_json:
        print_json(refusal_document(fault, fault.message))
    else:
        print_error(f"{input_name(file)}: {fault.message} [{fault.rule}]")
    context.exit(0 if fault is None else 1)
