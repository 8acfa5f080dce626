"""Print the figures that a change of the whole project is judged by: lines, options, public names, and CPU times.

The times are the medians of five runs of a new process each. Compare two versions on the same machine, one after the
other: `tools/ratios.py` in each checkout.
"""

import ast
import importlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import click

import forestcoll
from forestcoll.cli.main import _COMMANDS, module_of

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "forestcoll"
RUNS = 5


def code_lines(text: str) -> int:
    """Return the number of lines without docstrings of definitions, blanks, comments and imports."""
    lines = {number for number, line in enumerate(text.splitlines(), 1) if line.strip() and line.strip()[0] != "#"}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(node, clean=False) is not None:
                lines -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            lines -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(lines)


def classes_in_two_rooms(files: Iterable[Path]) -> int:
    """Return the number of public class names that stand in two rooms or more."""
    rooms = defaultdict(set)
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                rooms[node.name].add(file.relative_to(SOURCE).parts[0])
    return sum(len(each) > 1 for each in rooms.values())


def options() -> int:
    """Return the number of options that the commands declare."""
    commands = (importlib.import_module(f"forestcoll.cli.{module_of(name)}").command for name in _COMMANDS)
    return sum(isinstance(each, click.Option) for command in commands for each in command.params)


def cpu_seconds(*words: str) -> float:
    """Return the median of the CPU time of a command in a new process."""
    times = []
    for _ in range(RUNS):
        before = os.times()
        subprocess.run([sys.executable, "-m", "forestcoll", *words], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return statistics.median(times)


def main() -> None:
    """Print one figure a line."""
    files = sorted(SOURCE.rglob("*.py"))
    texts = [file.read_text() for file in files]
    tests = sum(len(file.read_text().splitlines()) for file in (ROOT / "tests").rglob("*.py"))
    with tempfile.TemporaryDirectory() as folder:
        ring = str(Path(folder) / "ring.json")
        cpu_seconds("generate", "ring:nodes=4", "-o", ring)
        rows = {
            "code lines of src": sum(map(code_lines, texts)),
            "lines of tests": tests,
            "functions with more than 5 parameters, silenced one by one": sum(
                len(re.findall(r"noqa:.*PLR0913", text)) for text in texts
            ),
            "options of the commands": options(),
            "public names": len(vars(forestcoll)["__all__"]),
            "class names in two rooms or more": classes_in_two_rooms(files),
            "CPU seconds of --version": cpu_seconds("--version"),
            "CPU seconds of optimum ring:nodes=4": cpu_seconds("optimum", "ring:nodes=4"),
            "CPU seconds of verify of a ring": cpu_seconds("verify", ring),
        }
    for name, value in rows.items():
        print(f"{value:>10,}  {name}" if isinstance(value, int) else f"{value:>10.3f}  {name}")


if __name__ == "__main__":
    main()
