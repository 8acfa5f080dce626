"""The package is a house of a few rooms: what a newcomer sees of it, and which room may import which.

A room is a folder of `src/forestcoll/`. import-linter has the contracts inside rooms (pyproject.toml). Imports under
TYPE_CHECKING do not count, because they never run.
"""

import ast
import inspect
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import forestcoll

PACKAGE = Path(__file__).parents[2] / "src" / "forestcoll"
FOLDERS = sorted({path.parent for path in PACKAGE.rglob("*.py")})

ARROWS = {
    "cli": "presentation comparison what_if measurement nccl tuning design oneport runtime algorithms simulation "
    "verification programs solver schedule demand topology base",
    "presentation": "comparison what_if measurement nccl tuning design oneport runtime algorithms simulation "
    "verification programs solver schedule demand topology base",
    # time slots are expected to take what the table of a machine says; programs of others run in rounds
    "comparison": "nccl tuning runtime algorithms simulation verification programs schedule demand topology base",
    # the cause of a measurement is a change after which it would be normal for NCCL
    "what_if": "nccl verification solver schedule demand topology kernels base",
    # ways of CUDA tensors are measured by the torch backend
    "measurement": "nccl torch runtime algorithms simulation verification schedule demand topology base",
    "tuning": "runtime algorithms simulation verification programs solver schedule demand topology base",
    "design": "algorithms verification solver schedule demand topology base",
    "torch": "runtime algorithms verification schedule demand topology base",
    # the rings and trees of a log become schedules, which are verified
    "nccl": "algorithms verification solver schedule demand topology base",
    # the front doors of the verifiers, of schedules and of programs, and of the simulation, which generates a schedule;
    # greedy searches over all pairs of nodes are native
    "algorithms": "simulation verification programs solver schedule demand topology kernels base",
    "runtime": "verification schedule demand topology base",
    # an answer is verified, and a series of messages can be simulated
    "oneport": "simulation verification solver schedule demand topology kernels base",
    "simulation": "programs solver schedule demand topology kernels base",
    "solver": "schedule demand topology kernels base",
    "programs": "schedule demand topology kernels base",
    "verification": "schedule demand topology base",
    "schedule": "demand topology base",
    "demand": "topology base",
    "topology": "base",
    "kernels": "base",
    "base": "",
}
"""The rooms that each room imports, all of them; the reason for a new arrow stands beside it."""

MOST_FILES = 15
"""In a folder, besides its `__init__.py`."""

COLLECTIONS = {"families", "machines", "clusters", "importers", "cli", "algorithms", "lowering"}
"""Folders of any number of files, which are alike: a newcomer looks for one of them by its name."""


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the full names of all modules that the code can import, and of the names imported from them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)
        else:
            yield from imported(node)


@cache
def imports_of(path: Path) -> frozenset[str]:
    return frozenset(imported(ast.parse(path.read_text())))


def graph_of(folder: Path) -> dict[str, set[str]]:
    """Return, for each module or subfolder of a folder, the others in the folder that it imports."""
    prefix = ".".join(["forestcoll", *folder.relative_to(PACKAGE).parts, ""])
    members = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    members -= {"__init__", "__main__"}
    graph: dict[str, set[str]] = {}
    for member in sorted(members):
        paths = sorted((folder / member).rglob("*.py")) or [folder / f"{member}.py"]
        names = {name for path in paths for name in imports_of(path)}
        inside = {name.removeprefix(prefix).partition(".")[0] for name in names if name.startswith(prefix)}
        graph[member] = (inside & members) - {member}
    return graph


def circle_of(graph: dict[str, set[str]]) -> set[str]:
    """Return the modules of one circle, or an empty set."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return set(error.args[1])
    return set()


def first_line(room: str) -> str:
    return (ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text())) or "").partition("\n")[0]


def test_the_house_is_small() -> None:
    assert len(ARROWS) <= 21
    others = {"__init__.py", "__init__.pyi", "__main__.py", "py.typed", "__pycache__"}
    assert {path.name for path in PACKAGE.iterdir()} - others == set(ARROWS)


def test_rooms_import_only_the_listed_rooms() -> None:
    assert graph_of(PACKAGE) == {room: set(rooms.split()) for room, rooms in ARROWS.items()}


def test_no_folder_has_an_import_circle() -> None:
    circles = {str(folder.relative_to(PACKAGE)): circle_of(graph_of(folder)) for folder in FOLDERS}
    assert not {folder: circle for folder, circle in circles.items() if circle}


def test_an_import_circle_is_found() -> None:
    assert circle_of({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == {"b", "c"}


def test_folders_are_not_deep_and_not_full() -> None:
    depths = Counter(len(folder.relative_to(PACKAGE).parts) for folder in FOLDERS)
    assert max(depths) <= 4
    plain = [folder for folder in FOLDERS if not COLLECTIONS & set(folder.relative_to(PACKAGE).parts)]
    counts = {folder: sum(path.name != "__init__.py" for path in folder.glob("*.py")) for folder in plain}
    assert not {folder: count for folder, count in counts.items() if count > MOST_FILES}


def test_no_room_has_the_name_of_a_public_function() -> None:
    public = {name for name in dir(forestcoll) if not inspect.ismodule(getattr(forestcoll, name))}
    assert not set(ARROWS) & public


@pytest.mark.parametrize("room", ARROWS)
def test_a_room_says_in_one_line_what_is_in_it(room: str) -> None:
    assert 0 < len(first_line(room).split()) <= 25


def test_the_lines_of_all_rooms_are_a_short_map() -> None:
    assert sum(len(first_line(room).split()) for room in ARROWS) <= 400
