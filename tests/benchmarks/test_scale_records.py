"""The figures of `benchmarks/scale.py` in a document and in their history."""

from pathlib import Path

from scale_records import BEGIN, COLUMNS, END

ROOT = Path(__file__).parents[2]


def test_the_document_has_the_marks_and_the_history_has_the_columns() -> None:
    text = (ROOT / "docs" / "evidence" / "scale.md").read_text()
    assert text.index(BEGIN) < text.index(END)
    assert (ROOT / "benchmarks" / "scale_history.csv").read_text().splitlines()[0] == ",".join(COLUMNS)
