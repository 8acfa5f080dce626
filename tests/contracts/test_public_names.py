"""The public names: `__init__.pyi` declares each once, and `__init__.py` imports it on first use."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import forestcoll

STUB = Path(forestcoll.__file__).with_suffix(".pyi")


def declared() -> list[str]:
    """Return the names that the stub declares, in its order."""
    tree = ast.parse(STUB.read_text())
    return [
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]


def test_the_stub_and_the_package_have_the_same_names() -> None:
    names = declared()
    assert len(names) == len(set(names))
    assert sorted(names) == sorted(vars(forestcoll)["__all__"])
    assert set(names) <= set(dir(forestcoll))


def test_public_names_are_the_objects_that_the_stub_declares() -> None:
    for name in declared():
        value = getattr(forestcoll, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name
            assert value.__name__ == name


def test_importing_the_package_imports_no_heavy_modules() -> None:
    code = "import sys, forestcoll; print(*({'numpy', 'rich', 'networkx', 'click'} & sys.modules.keys()))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout  # noqa: S603
    assert output.split() == []


def test_an_unknown_name_raises_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = forestcoll.no_such_name  # type: ignore[attr-defined]


def test_the_version_equals_that_of_the_installed_package() -> None:
    assert forestcoll.__version__[0].isdigit()


TAKES_A_TOPOLOGY = {
    "allreduce_optimum": (),
    "atomic_broadcast": (0, 1000),
    "bounds_of": (),
    "broadcast_bound": (0,),
    "compare_series": (0,),
    "generate": (),
    "load_topology": (),
    "optimum": (),
    "pipelined_broadcast": (0, 1000),
    "reduce_bound": (0,),
    "without_relays": ("0-2",),
}
"""Public functions whose first argument is a topology, and further arguments for a ring of four nodes."""


def test_a_spec_string_is_taken_as_a_topology() -> None:
    topology = forestcoll.load_topology("ring:nodes=4")
    for name, arguments in TAKES_A_TOPOLOGY.items():
        function = getattr(forestcoll, name)
        assert function("ring:nodes=4", *arguments) == function(topology, *arguments), name
