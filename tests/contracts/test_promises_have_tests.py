"""Each promise in `promises.md` names a page and tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {"SECURITY": "SECURITY.md", "reliability": "docs/reliability.md"}
PAGES |= {"formats": "docs/formats/index.md", "command-line": "docs/command-line.md"}
LINES = Path(__file__).with_name("promises.md").read_text().partition("| --- |")[2].splitlines()[1:]


@pytest.mark.parametrize("page", PAGES)
def test_each_page_has_promises(page: str) -> None:
    assert (ROOT / PAGES[page]).is_file()
    assert any(line.split(" | ")[1] == page for line in LINES)


def test_the_tests_of_all_promises_exist() -> None:
    missing = []
    for line in LINES:
        promise, page, tests = line.strip("| ").split(" | ")
        named = re.findall(r"`(tests/[^`]+)::(\w+)`", tests)
        assert page in PAGES, line
        assert named, line
        files = {name: (ROOT / path).read_text() for path, name in named}
        missing += [f"{promise} {name}" for name, text in files.items() if f"def {name}(" not in text]
    assert LINES
    assert not missing
