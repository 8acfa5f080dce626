"""Only the modules listed here may read a schedule from a file without verifying it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import forestcoll

SOURCE = Path(forestcoll.__file__).parent

READERS = {"read_schedule", "schedule_from_document", "from_document", "scanned", "FORMATS"}
"""The names in `forestcoll.schedule` that make a schedule of a file or a document."""

MAY_READ = {"verification/reading.py", "algorithms/verify.py", "cli/verify.py"}
"""`read_verified` verifies the schedule. The function and the command report the fault."""

NAMES_ONLY = {"measurement/fit/sources.py": {"FORMATS"}, "design/workloads/network.py": {"FORMATS"}}
"""Modules that need only the names of formats."""

SHOWS_FAULTS = {"comparison/against/files.py": {"read_schedule"}}
"""Modules that verify a schedule themselves, because they show its fault as a result."""


def imported_readers(path: Path) -> Iterator[str]:
    """Yield the readers of schedules that a module imports, or reaches through a module that it imports."""
    tree = ast.parse(path.read_text())
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("forestcoll.schedule"):
            names = {alias.name for alias in node.names}
            yield from names & READERS
            modules |= {alias.asname or alias.name for alias in node.names if alias.name in {"files", "document"}}
        if isinstance(node, ast.Import) and any(each.name.startswith("forestcoll.schedule") for each in node.names):
            yield "import forestcoll.schedule"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield node.attr


def test_only_listed_modules_read_unverified_schedules() -> None:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if place.startswith("schedule/") or place in MAY_READ:
            continue
        readers = set(imported_readers(path)) - NAMES_ONLY.get(place, set()) - SHOWS_FAULTS.get(place, set())
        if readers:
            found[place] = readers
    assert not found, "go through forestcoll.verification.reading.read_verified"


def test_the_scan_finds_readers() -> None:
    reading = set(imported_readers(SOURCE / "verification" / "reading.py"))
    assert reading == {"read_schedule", "schedule_from_document"}
    assert set(imported_readers(SOURCE / "cli" / "verify.py")) == {"read_schedule"}
