"""Linear programs and searches make floats of exact numbers in one function, `base.exact.as_float`."""

import ast
from pathlib import Path

import pytest

import forestcoll

PACKAGE = Path(str(forestcoll.__file__)).parent
ROOMS = ("solver", "oneport", "algorithms", "what_if")


def floats_in(source: str) -> list[int]:
    """Return the lines that call `float` with anything but a text."""
    calls = (each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.Call))
    return [
        each.lineno
        for each in calls
        if isinstance(each.func, ast.Name)
        and each.func.id == "float"
        and not (isinstance(each.args[0], ast.Constant) and isinstance(each.args[0].value, str))
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_no_other_function_makes_floats(room: str) -> None:
    found = {path: floats_in(path.read_text()) for path in sorted((PACKAGE / room).rglob("*.py"))}
    assert found
    assert not {path: lines for path, lines in found.items() if lines}


def test_the_search_finds_floats() -> None:
    assert floats_in('least = float("inf")\nnear = [\n    float(each) for each in exact\n]\n') == [3]
