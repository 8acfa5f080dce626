"""Every public class and function has an example in its docstring, and all examples print the output shown."""

import doctest
import inspect
from importlib import import_module
from pathlib import Path

import pytest

import forestcoll

SOURCE = Path(forestcoll.__file__).parent
MODULES = sorted(
    ".".join(("forestcoll", *path.relative_to(SOURCE).with_suffix("").parts))
    for path in SOURCE.rglob("*.py")
    if ">>>" in path.read_text(encoding="utf-8")
)
ROOMS = sorted({name.split(".")[1] for name in MODULES})


@pytest.mark.parametrize("room", ROOMS)
def test_the_examples_of_a_room_run(room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where they write their files
    if room == "torch":
        pytest.importorskip("torch")
    for name in MODULES:
        if name.split(".")[1] == room:
            result = doctest.testmod(import_module(name))
            assert result.attempted > 0, name
            assert result.failed == 0, name


def test_public_names_have_examples() -> None:
    public = {name: getattr(forestcoll, name) for name in dir(forestcoll)}
    functions = {name: value for name, value in public.items() if inspect.isclass(value) or inspect.isfunction(value)}
    assert [name for name, value in functions.items() if ">>>" not in (value.__doc__ or "")] == []
