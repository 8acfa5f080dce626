"""The notebooks in examples: each cell runs, and prints what the notebook shows."""

import contextlib
import io
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_is_a_notebook_for_each_audience() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["architect", "operator", "researcher"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path: Path) -> None:
    names: dict[str, object] = {}
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec("".join(cell["source"]), names)  # noqa: S102 (our own example)
        shown = "".join("".join(output["text"]) for output in cell["outputs"])
        assert printed.getvalue() == shown, cell["source"]
    assert len(cells) >= 3
