from pathlib import Path

from paper_tables import renewed

PAGE = Path(__file__).parents[2] / "docs" / "finder.md"


def test_the_tables_in_the_document_equal_the_finders_results() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert renewed(text) == text
