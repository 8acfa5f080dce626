"""Pages on a terminal: styles, aligned columns, and the same text without colours elsewhere."""

import io
import os
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

import pytest

from forestcoll.presentation.printing import print_error, print_page, supports_colour
from forestcoll.presentation.tables import Column, Page, Table, labelled

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def on_terminal(show: Callable[[], None], **more: str) -> str:
    """Return what `show` prints to a terminal of 60 columns that is both standard output and standard error."""
    variables = {"NO_COLOR": "", "TERM": "xterm-256color", "COLUMNS": "60"} | more
    stream = Terminal()
    with mock.patch.dict(os.environ, variables), redirect_stdout(stream), redirect_stderr(stream):
        show()
    return stream.getvalue()


LINKS = Table(
    (Column("links", right=True), Column("kind")),
    ((8, "NVLink"), (16, "PCIe")),
    title="a box",
    notes=("per direction",),
)
PAGE = Page("two boxes", (LINKS, labelled([("algbw", "200 GB/s")]), "All links are equal."))


@pytest.mark.parametrize(("valid", "style"), [(None, "1"), (True, "1;32"), (False, "1;31")])
def test_the_title_has_the_colour_of_the_result(valid: bool | None, style: str) -> None:  # noqa: FBT001
    written = on_terminal(lambda: print_page(Page("ring", valid=valid)))
    assert written == f"\x1b[{style}mring\x1b[0m\n"


def test_a_terminal_shows_the_cells_in_columns() -> None:
    written = on_terminal(lambda: print_page(PAGE))
    assert [line.rstrip() for line in ESCAPE.sub("", written).splitlines()] == [
        "two boxes",
        "a box",
        "  links   kind",
        "  ──────────────",
        "      8   NVLink",
        "     16   PCIe",
        "  per direction",
        "  algbw  200 GB/s",
        "All links are equal.",
    ]
    assert "\x1b[1ma box\x1b[0m" in written
    assert "\x1b[2m  per direction\x1b[0m" in written
    assert "\x1b[2malgbw" in written


def test_a_long_cell_is_wrapped_within_its_column() -> None:
    written = on_terminal(lambda: print_page(Page("x", (labelled([("fault", "word " * 30)]),))))
    lines = ESCAPE.sub("", written).splitlines()
    assert len(lines) > 2
    assert max(map(len, lines)) <= 60
    assert all(line.startswith(" " * 9) for line in lines[2:])


@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_without_colours_a_terminal_shows_the_plain_lines(more: dict[str, str]) -> None:
    assert on_terminal(lambda: print_page(PAGE, err=True), **more).splitlines() == PAGE.lines()


def test_an_error_begins_with_the_name_of_the_program_in_red() -> None:
    written = on_terminal(lambda: print_error("x.json:\n wrong"))
    assert written == "\x1b[31mforestcoll:\x1b[0m x.json: wrong\n"


def test_a_closed_standard_error_gets_no_message() -> None:
    with mock.patch.object(sys, "stderr", None):
        print_error("x.json: wrong")
    assert not supports_colour(None)
