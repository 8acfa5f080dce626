"""The figures of `scale.py` in a document, and their history in a CSV file, one row for each case of each release."""

import csv
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from generate_runs import Run, processor, version

BEGIN, END = "<!-- scale: begin -->\n", "<!-- scale: end -->\n"

COLUMNS = ["date", "version", "commit", "processor", "family", "nodes"]
COLUMNS += ["trees_per_root", "seconds", "cpu_seconds", "peak_mb", "greatest_height", "mean_height"]


def replace_table(document: Path, table: str) -> None:
    """Replace the text between the two marks of a document."""
    before, begin, rest = document.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{document}: has no lines {BEGIN.strip()} and {END.strip()}; add them around the table")
    document.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")


def record(history: Path, runs: Iterable[tuple[str, int, Run]]) -> None:
    """Add a row for each run of a family to the CSV file `history`."""
    is_new = not history.exists()
    with history.open("a", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        if is_new:
            rows.writerow(COLUMNS)
        for family, nodes, run in runs:
            rows.writerow(_row(family, nodes, run))


def _row(family: str, nodes: int, run: Run) -> list[object]:
    document = run.document
    head = [f"{datetime.now(tz=UTC):%Y-%m-%d}", version(), _commit(), processor(), family, nodes]
    figures = [f"{run.seconds:.2f}", f"{run.cpu_seconds:.2f}", f"{run.peak_bytes / 1e6:.0f}"]
    return [*head, document["trees_per_root"], *figures, document["greatest_height"], f"{document['mean_height']:.1f}"]


def _commit() -> str:
    """Return the commit of this checkout, with a mark if files differ from it."""
    words = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
