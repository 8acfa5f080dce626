"""`forestcoll verify`: checks a schedule file that anyone wrote."""

from pathlib import Path

import click

from forestcoll.cli.options import file_argument, json_option
from forestcoll.errors import InputError


@click.command("verify")
@file_argument
@json_option
@click.pass_context
def command(context: click.Context, file: Path, *, as_json: bool) -> int:
    """Check a schedule that anyone wrote.

    FILE is a schedule of trees or of steps, or a periodic one; - is standard input. Of trees are judged delivery,
    loads, what they claim to achieve, and the proof of the optimum; of steps, that what is sent is held, that all
    arrives, and loads; of a series of broadcasts, ports, trees, whole messages and the proof of the optimum.

    Exit status 1 and the first broken rule if it is not right. With --json the answer is one JSON object whatever FILE
    holds; "rule" is null where it is no schedule at all.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.presentation.printing import print_complaint, print_json, print_page
    from forestcoll.presentation.reports import refusal_document, verified_document, verified_page
    from forestcoll.schedule.files import read_schedule
    from forestcoll.verification import verify

    try:
        with Watch() as watch:
            watch.begin("reading")
            schedule = read_schedule(file)
            watch.begin("verifying")
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
        print_complaint(f"{file}: {fault.message} [{fault.rule}]")
    context.exit(0 if fault is None else 1)
