"""The notebooks in examples: each cell runs and prints what the notebook shows, and the last one shows a picture."""

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_is_a_notebook_for_each_reader() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["operator", "researcher", "trainer"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_its_cells_print_and_ends_in_a_picture(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER)
    names: dict[str, Any] = {}
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    last = cells[-1]["outputs"].pop()["data"]
    for cell in cells:
        assert run("".join(cell["source"]), names) == "".join("".join(each["text"]) for each in cell["outputs"])
    picture = names["last"]._repr_html_()
    assert "<svg" in picture
    assert picture == "".join(last["text/html"])
    assert len(cells) >= 3


def run(source: str, names: dict[str, Any]) -> str:
    """Run a cell, with the value of its last expression under the name `last`, and return what it prints."""
    tree = ast.parse(source)
    if isinstance(tree.body[-1], ast.Expr):
        tree.body[-1] = ast.Assign([ast.Name("last", ast.Store())], tree.body[-1].value)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.fix_missing_locations(tree), "cell", "exec"), names)  # noqa: S102 (our own example)
    return printed.getvalue()
