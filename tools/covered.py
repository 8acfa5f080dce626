"""Run the tests, and show what they execute of the Python code (`covered.py python`) or of the native code (`native`).

`python` prints the lines and branches by package, and fails if less than 97 % of them are executed. `native` builds the
modules with the counters of gcov, prints the lines by folder, and lists each line that no test executes.
`native_lines.toml` explains those that no test can reach, for example because memory must run out. A line that is
neither executed nor explained is a failure, and so is an explanation of a line that is executed, unless it is marked
with `sometimes`.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from native_builds import CORE_TESTS, SCHEDULE_TESTS, build, test

LEAST = 97
"""The least share of lines and branches of Python in percent."""

EXPLAINED = Path(__file__).with_name("native_lines.toml")
NATIVE = Path("native").absolute()
WITHOUT_CODE = re.compile(r"[^a-z]*|(class|struct) .*\{|.* = default;")
"""Lines for which gcov counts what the compiler adds: a closing brace destroys values after an exception."""


def python(report: Path) -> int:
    """Print the table of a report that `coverage json` wrote, and return the exit status."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for name, entry in json.loads(report.read_text())["files"].items():
        inside = Path(name).parts[Path(name).parts.index("forestcoll") + 1 :]
        summary = entry["summary"]
        row = [summary[key] for key in ("num_statements", "missing_lines", "num_branches", "missing_branches")]
        for key in (inside[0].removesuffix(".py"), "all"):
            counts[key] = [one + more for one, more in zip(counts[key], row, strict=True)]
    whole = counts.pop("all")
    print("| package | lines | not executed | branches | not taken | executed |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, found in [*sorted(counts.items()), ("all", whole)]:
        cells = [*(f"{count:,}" for count in found), f"{percent(found):.2f} %"]
        print(f"| {name} | {' | '.join(cells)} |")
    return int(percent(whole) < LEAST)


def percent(row: list[int]) -> float:
    """Return the share of lines and branches that were executed."""
    lines, missing, branches, untaken = row
    return 100 * (1 - (missing + untaken) / max(1, lines + branches))


def native(build: Path) -> int:
    """Print the table of the counts in a build, and the lines without a test; return the exit status."""
    lines = executed_lines(build)
    print("| folder | lines | not executed |")
    print("| --- | ---: | ---: |")
    for folder in sorted({file.parent for file in lines}):
        states = [state for file, found in lines.items() if file.parent == folder for state in found.values()]
        print(f"| {folder} | {len(states):,} | {states.count(False):,} |")
    missing = {(str(file), text_of(file, number)) for file, number in unexecuted(lines)}
    known = {(entry["file"], line) for entry in explanations() for line in entry["lines"]}
    never = {(entry["file"], line) for entry in explanations() for line in entry["lines"] if not entry.get("sometimes")}
    for file, number in unexecuted(lines):
        if (str(file), text_of(file, number)) not in known:
            print(f"no test executes native/{file}:{number}: {text_of(file, number)}")
    for name, text in sorted(never - missing):
        print(f"{EXPLAINED.name} explains a line that is executed, or that is gone: {name}: {text}")
    return int(not never <= missing <= known)


def executed_lines(build: Path) -> Mapping[Path, Mapping[int, bool]]:
    """Return whether each line with code was executed in any of its instances, by file under native/."""
    lines: dict[Path, dict[int, bool]] = defaultdict(dict)
    for notes in sorted(build.rglob("*.gcno")):
        if "nanobind" in str(notes):
            continue
        words = ["gcov", "--json-format", "--stdout", str(notes.relative_to(build))]
        done = subprocess.run(words, cwd=build, stdout=subprocess.PIPE, check=True)
        for entry in json.loads(done.stdout)["files"]:
            file = (build / entry["file"]).resolve()
            if file.is_relative_to(NATIVE):
                found = lines[file.relative_to(NATIVE)]
                for line in entry["lines"]:
                    found[line["line_number"]] = found.get(line["line_number"], False) or line["count"] > 0
    return {file: with_code(file, found) for file, found in lines.items()}


def with_code(file: Path, found: Mapping[int, bool]) -> dict[int, bool]:
    """Return the lines of `found` that have code of their own."""
    return {number: state for number, state in found.items() if not WITHOUT_CODE.fullmatch(text_of(file, number))}


def unexecuted(lines: Mapping[Path, Mapping[int, bool]]) -> Iterable[tuple[Path, int]]:
    """Return the lines that no test executes, in order."""
    return sorted((file, number) for file, found in lines.items() for number, state in found.items() if not state)


def text_of(file: Path, number: int) -> str:
    """Return a line of a file under native/."""
    return (NATIVE / file).read_text().splitlines()[number - 1].strip()


def explanations() -> list[dict[str, Any]]:
    """Return the entries of the explanations."""
    entries: list[dict[str, Any]] = tomllib.loads(EXPLAINED.read_text())["explained"]
    return entries


def run_python() -> Path:
    """Run the fast tests with all examples under coverage.py, and return its report."""
    report = Path("build/coverage/report.json").absolute()
    shutil.rmtree(report.parent, ignore_errors=True)
    environment = os.environ | {"FORESTCOLL_ALL_EXAMPLES": "1"}
    for words in (["run", "-m", "pytest", "-q", "-n", "auto"], ["combine", "-q"], ["json", "-q", "-o", str(report)]):
        subprocess.run([sys.executable, "-m", "coverage", *words], check=True, env=environment)
    return report


def run_native() -> Path:
    """Run the tests of the native code with modules that count, hardly optimised, and return the build."""
    folder = Path("build/coverage-native").absolute()
    for old in folder.rglob("*.gcda"):
        old.unlink()
    options = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-g -O1"]
    variables = build(folder.name, *options, "-DCMAKE_CXX_FLAGS=--coverage -fprofile-update=atomic")
    suite = [*CORE_TESTS, *SCHEDULE_TESTS, "solver/bounds", "solver/flows", "runtime"]
    if test(suite, variables | {"FORESTCOLL_ALL_EXAMPLES": "1"}, "-n", "auto") != 0:
        sys.exit("the tests fail")
    return folder


def main() -> None:
    """Run the tests and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", choices=["python", "native"])
    parser.add_argument("--read", type=Path, help="a report of coverage.py, or a build for gcov, of an earlier run")
    options = parser.parse_args()
    show, run = {"python": (python, run_python), "native": (native, run_native)}[options.language]
    sys.exit(show((options.read or run()).absolute()))


if __name__ == "__main__":
    main()
