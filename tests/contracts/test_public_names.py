"""The public names: `__init__.pyi` declares each once, and `__init__.py` imports it on first use."""

import ast
import importlib
import inspect
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

import forestcoll

MOST_NAMES = 70
"""The most names at the top of the package."""

ROOT = Path(forestcoll.__file__).parent
STUBS = sorted(ROOT.rglob("__init__.pyi"))
"""The public names: those of the package, and those of its namespaces."""


def declared(stub: Path) -> list[str]:
    """Return the names that a stub declares, in its order."""
    tree = ast.parse(stub.read_text())
    return [
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]


def package_of(stub: Path) -> ModuleType:
    """Return the package of a stub."""
    return importlib.import_module(".".join(["forestcoll", *stub.parent.relative_to(ROOT).parts]))


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_public_names_are_the_objects_that_the_stub_declares(stub: Path) -> None:
    names, package = declared(stub), package_of(stub)
    assert len(names) == len(set(names))
    assert sorted(names) == sorted(vars(package)["__all__"])
    for name in names:
        value = getattr(package, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name
            assert value.__name__ == name


def test_the_package_has_few_names() -> None:
    assert len(declared(ROOT / "__init__.pyi")) <= MOST_NAMES


def test_importing_the_package_imports_no_heavy_modules() -> None:
    code = "import sys, forestcoll; print(*({'numpy', 'rich', 'networkx', 'click'} & sys.modules.keys()))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout  # noqa: S603
    assert output.split() == []


def test_an_unknown_name_raises_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = forestcoll.no_such_name  # type: ignore[attr-defined]


def test_the_version_equals_that_of_the_installed_package() -> None:
    assert forestcoll.__version__ == metadata.version("forestcoll")


TAKES_A_TOPOLOGY = {
    "solver.allreduce_optimum": (),
    "oneport.atomic_broadcast": (0, 1000),
    "bounds": (),
    "solver.broadcast_bound": (0,),
    "oneport.collective_series": ("scatter", 0),
    "oneport.compare_series": (0,),
    "generate": (),
    "load_topology": (),
    "optimum": (),
    "oneport.pipelined_broadcast": (0, 1000),
    "solver.reduce_bound": (0,),
    "demand.without_relays": ("0-2",),
}
"""Public functions whose first argument is a topology, and further arguments for a ring of four nodes."""


def test_a_spec_string_is_taken_as_a_topology() -> None:
    topology = forestcoll.load_topology("ring:nodes=4")
    for name, arguments in TAKES_A_TOPOLOGY.items():
        room, _, last = f"forestcoll.{name}".rpartition(".")
        function = getattr(importlib.import_module(room), last)
        assert function("ring:nodes=4", *arguments) == function(topology, *arguments), name
