"""Puts results on standard output or standard error: colour and rich tables on a terminal, plain text elsewhere.

In a pipe the same result is the same bytes, without colour, and nothing is wrapped; rich is not even imported then.
JSON is never coloured. NO_COLOR (any value but an empty one) and TERM=dumb make a terminal be treated as a pipe.
"""

import json
import os
import sys
from typing import TextIO

import click

from forestcoll.presentation.tables import Page
from forestcoll.presentation.text import printable


def print_json(document: object, *, err: bool = False) -> None:
    """Print one JSON value.

    Args:
        document: what `json.dumps` takes.
        err: whether it goes to standard error, because standard output holds a file.
    """
    click.echo(json.dumps(document, indent=1), err=err)


def print_page(page: Page, *, err: bool = False) -> None:
    """Print what a result says.

    Args:
        page: what is printed.
        err: whether it goes to standard error, because standard output holds a file.
    """
    stream = sys.stderr if err else sys.stdout
    if not takes_colour(stream):
        click.echo("\n".join(page.lines()), err=err)
        return
    from forestcoll.presentation.terminal import draw

    draw(page, stream)


def print_complaint(message: str) -> None:
    """Print one line on standard error that says what is wrong, without control characters.

    The line begins with the program's name, in red on a terminal. Nothing happens where standard error is closed.
    """
    if sys.stderr is None:
        return
    name = click.style("forestcoll:", fg="red") if takes_colour(sys.stderr) else "forestcoll:"
    click.echo(f"{name} {printable(' '.join(message.split()))}", err=True, color=True)


def print_note(text: str) -> None:
    """Print one line on standard error that a user should know of; control characters are replaced."""
    click.echo(note_line(text), err=True)


def note_line(text: str) -> str:
    """Return the line of a note."""
    return f"forestcoll: note: {printable(text)}"


def takes_colour(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal whose user wants colour. A stream that is closed is None."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and stream is not None and stream.isatty()
