"""Documents have no hard line wraps, and neither they nor the help has words that only this project knows."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from site_pages.project import commands_page

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(path for path in (ROOT / "docs").rglob("*.md") if "evidence" not in path.parts)]
PRIVATE = re.compile(
    r"\b(strands?|lanes?|stolen hops?|seats?|cells?|greetings?|oddity|oddities|inflow|feeds?)\b", re.IGNORECASE
)
"""Names of parts of the code whose standard names stand in the glossary."""
ALLOWED = re.compile(r"16 lanes|lanes times 25|speed of a lane|four lanes")
"""Lanes of PCIe and InfiniBand."""
_OWN_LINE = re.compile(r"\s*(#|\||[-*] |\d+\. |>|<!--|!\[.*\]\(.*\)$|---|\[[^\]]+\]\([^)]+\.csv\)$|\*\*[^*]+\*\*$)")


def prose(path: Path) -> Iterator[str]:
    """Yield the lines of a page that are not code; a line of code is empty."""
    inside = False
    for line in path.read_text(encoding="utf-8").splitlines():
        fence = line.lstrip().startswith("```")
        inside ^= fence
        yield "" if inside or fence or line.startswith("    ") else line


def is_wrapped(before: str, line: str) -> bool:
    ended = not before.strip() or re.match(r"\s*(#|\||>|<!--)", before)
    return not ended and bool(line.strip()) and not _OWN_LINE.match(line)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_paragraph_is_one_line(path: Path) -> None:
    lines = list(prose(path))
    wrapped = [line for before, line in pairwise(lines) if is_wrapped(before, line)]
    assert not wrapped


def test_no_page_and_no_help_has_a_private_word() -> None:
    texts = {path.name: re.sub(r"`[^`]*`", "", "\n".join(prose(path))) for path in PAGES}
    texts["--help"] = commands_page()
    found = {(name, word[0]) for name, text in texts.items() for word in PRIVATE.finditer(ALLOWED.sub("", text))}
    assert not found
