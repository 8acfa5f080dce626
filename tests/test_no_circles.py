"""No folder of the package has an import circle, not even through imports inside functions.

Imports under TYPE_CHECKING do not count, because they never run.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "forestcoll"
FOLDERS = sorted({path.parent for path in PACKAGE.rglob("*.py")})


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


def graph_of(folder: Path) -> dict[str, set[str]]:
    """Return, for each module or subfolder of a folder, the others in the folder that it imports."""
    prefix = ".".join(["forestcoll", *folder.relative_to(PACKAGE).parts, ""])
    members = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    members.discard("__init__")
    graph: dict[str, set[str]] = {}
    for member in sorted(members):
        paths = sorted((folder / member).rglob("*.py")) or [folder / f"{member}.py"]
        names = {name for path in paths for name in imported(ast.parse(path.read_text()))}
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


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_folder_has_an_import_circle(folder: Path) -> None:
    assert circle_of(graph_of(folder)) == set()


def test_an_import_circle_is_found() -> None:
    assert circle_of({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == {"b", "c"}
