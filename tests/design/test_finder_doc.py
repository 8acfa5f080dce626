from pathlib import Path

from paper_tables import renewed

PAGE = Path(__file__).parents[2] / "docs" / "finder.md"


def test_the_tables_of_the_page_are_what_the_finder_finds() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert renewed(text) == text
