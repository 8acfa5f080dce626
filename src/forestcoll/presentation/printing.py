"""Printing of results to standard output or standard error: colours and tables on a terminal, plain text elsewhere.

Output to a pipe or a file has no colours and no wrapped lines, and the same result gives the same bytes; rich is not
imported. JSON is never coloured. If NO_COLOR is set and not empty, or if TERM is `dumb`, output to a terminal is the
same as to a pipe.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import TextIO

import click

from forestcoll.base.display import printable
from forestcoll.base.progress import Progress
from forestcoll.presentation.tables import Page


def print_result(
    document: Callable[..., object], page: Callable[..., Page], *result: object, as_json: bool, err: bool = False
) -> None:
    """Print a result as JSON or as a page, by the function that describes it so.

    Args:
        document: makes the JSON value of a result.
        page: makes the page of a result.
        result: the arguments of both.
        as_json: whether JSON is asked for.
        err: as for `print_json`.
    """
    if as_json:
        print_json(document(*result), err=err)
    else:
        print_page(page(*result), err=err)


def print_json(document: object, *, err: bool = False) -> None:
    """Print one JSON value.

    Args:
        document: a value that `json.dumps` accepts.
        err: whether to print to standard error, because a file is written to standard output.
    """
    click.echo(json.dumps(document, indent=1), err=err)


def print_page(page: Page, *, err: bool = False) -> None:
    """Print a page.

    Args:
        page: the page.
        err: whether to print to standard error, because a file is written to standard output.
    """
    stream = sys.stderr if err else sys.stdout
    if not supports_colour(stream):
        click.echo("\n".join(page.lines()), err=err)
        return
    from forestcoll.presentation.terminal import draw

    draw(page, stream)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines to standard output; control characters are replaced."""
    click.echo("\n".join(map(printable, lines)))


def print_error(message: str) -> None:
    """Print an error message as one line to standard error, without control characters.

    The line begins with the name of the program, in red on a terminal. If standard error is closed, nothing is printed.
    """
    if sys.stderr is None:
        return
    name = click.style("forestcoll:", fg="red") if supports_colour(sys.stderr) else "forestcoll:"
    click.echo(f"{name} {printable(' '.join(message.split()))}", err=True, color=True)


def print_note(text: str) -> None:
    """Print one line for the user on standard error; control characters are replaced."""
    click.echo(note_line(text), err=True)


class Notes(Progress):
    """Prints each remark as a note."""

    def remark(self, text: str) -> None:
        """See `Progress.remark`."""
        print_note(text)


def note_line(text: str) -> str:
    """Return the line of a note."""
    return f"forestcoll: note: {printable(text)}"


def supports_colour(stream: TextIO | None) -> bool:
    """Return whether to print colours to `stream`: it is a terminal, and the user has not disabled colours.

    A closed standard stream is None.
    """
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and stream is not None and stream.isatty()
