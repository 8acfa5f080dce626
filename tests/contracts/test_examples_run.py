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
PUBLIC = {
    name: value
    for name in dir(forestcoll)
    if inspect.isclass(value := getattr(forestcoll, name)) or inspect.isfunction(value)
}


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    if name.startswith("forestcoll.torch."):
        pytest.importorskip("torch")
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_an_example(name: str) -> None:
    assert ">>>" in (PUBLIC[name].__doc__ or "")
