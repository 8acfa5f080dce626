"""The figures of `benchmarks/scale.py` in a document and in their history."""

import csv
from pathlib import Path

import pytest

from generate_runs import Run
from scale_records import BEGIN, COLUMNS, END, record, replace_table

RUN = Run({"trees_per_root": 1, "greatest_height": 2, "mean_height": 1.5}, 0.46, 0.42, 103_400_000)
ROOT = Path(__file__).parents[2]


def test_only_the_table_between_the_marks_is_replaced(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(f"before\n{BEGIN}old\n{END}after\n")
    for table in ("| one |", "| two |"):
        replace_table(document, table)
        assert document.read_text() == f"before\n{BEGIN}\n{table}\n{END}after\n"


def test_a_document_without_marks_is_refused(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text("no marks\n")
    with pytest.raises(SystemExit, match="has no lines"):
        replace_table(document, "| table |")
    assert document.read_text() == "no marks\n"


def test_each_record_adds_rows_to_the_history(tmp_path: Path) -> None:
    history = tmp_path / "history.csv"
    for nodes in (64, 128):
        record(history, [("DGX A100", nodes, RUN)])
    with history.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["nodes"] for row in rows] == ["64", "128"]
    assert (rows[0]["seconds"], rows[0]["cpu_seconds"], rows[0]["peak_mb"]) == ("0.46", "0.42", "103")


def test_the_document_has_the_marks_and_the_history_has_the_columns() -> None:
    text = (ROOT / "docs" / "benchmarks.md").read_text()
    assert text.index(BEGIN) < text.index(END)
    assert (ROOT / "benchmarks" / "scale_history.csv").read_text().splitlines()[0] == ",".join(COLUMNS)
