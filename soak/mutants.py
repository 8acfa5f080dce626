"""Change each line of `verification` in all small ways, and look for changes that no test notices.

Each change should make a test fail, or be listed in `mutation/explained.toml` with the reason why no test can fail.
Anything else is a failure, and so is an entry of the list for a change that a test notices.
"""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import astuple
from pathlib import Path

import pytest

import forestcoll
from mutation.changes import Change
from mutation.explained import Key, key_of, read, stale
from mutation.importing import is_killed
from mutation.session import Result, Session

ROOT = Path(forestcoll.__file__).parent / "verification"
ALIVE = Path("build/mutants.json")
"""The changes that were alive in the last runs, for `--again`."""

EXPLAINED = Path(__file__).parent / "mutation" / "explained.toml"
NEAR = {
    "trees/": ["trees"],
    "routes/": ["trees", "flows", "test_group.py", "steps/test_step_messages.py", "steps/test_step_symmetry.py"],
    "flows/": ["flows"],
    "bundle/": ["bundle"],
    "steps/": ["steps"],
    "series/": ["series", "../oneport/platform/test_shared_bandwidth.py"],
    "proof_checks/": [
        "proof_checks",
        "../oneport/platform/test_odd_sets.py",
        "../oneport/platform/test_shared_bandwidth.py",
    ],
    "": [
        "test_arrays.py",
        "test_claims.py",
        "test_verifiers.py",
        "test_reading.py",
        "test_wording.py",
        "flows/test_flow_messages.py",
        "steps/test_step_messages.py",
        "trees/test_tree_messages.py",
    ],
}
"""For each part of `verification`, the folders and files of tests/verification whose tests are tried."""

LONG = [
    "test_the_report_of_a_changed_schedule_equals_that_of_its_expanded_form",
    "test_the_verifier_and_the_proof_compute_the_same_bound",
    "test_a_changed_schedule_is_accepted_only_if_it_is_right",
    "test_a_change_is_refused_exactly_if_a_route_is_wrong_or_data_is_missing",
    "test_a_mutation_is_refused_exactly_if_data_is_missing",
    "test_verify_agrees_with_a_plain_implementation_of_the_rules",
]
"""Tests that take longer than a hundred others. They are left out: shorter tests must notice the changes."""


def groups(parts: list[str]) -> dict[str, list[Path]]:
    """Return the files whose paths begin with one of `parts` (all without parts), by the key of `NEAR`."""
    found: dict[str, list[Path]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not parts or any(name.startswith(part) for part in parts):
            found.setdefault(next(key for key in NEAR if name.startswith(key)), []).append(path)
    return found


def every_part() -> list[list[str]]:
    """Return the files of each key of `NEAR`."""
    return [[path.relative_to(ROOT).as_posix() for path in paths] for paths in groups([]).values()]


def tried(files: list[Path], folders: list[str], jobs: int, only: set[Key] | None) -> list[Result]:
    """Return the results of the changes of `files`, and print each change that no test notices without an explanation.

    Args:
        files: the files to change.
        folders: the folders and files of tests/verification with the tests.
        jobs: the processes at the same time.
        only: the changes to try; all if None.
    """
    known, results = read(EXPLAINED), list[Result]()
    tests = ["-k", " and ".join(f"not {name}" for name in LONG)]
    tests += [str(Path("tests/verification") / folder) for folder in folders]

    def finish(result: Result) -> None:
        if result.outcome == "imported":
            killed = is_killed(result.path, result.change, tests)
            result = Result(result.path, result.change, "killed" if killed else "alive")
        results.append(result)
        key = key_of(result.path, ROOT, result.change)
        if result.outcome == "alive" and key not in known:
            place = f"{key.file}:{result.change.line} {key.function}"
            print(f"ALIVE: {place}\n  - {key.before}\n  + {key.after}", flush=True)

    def is_chosen(path: Path, change: Change) -> bool:
        return only is None or key_of(path, ROOT, change) in only

    session = Session(files, finish, is_chosen, jobs)
    status = pytest.main(["-q", "-p", "no:cacheprovider", "--timeout", "0", *tests], [session])
    if status not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        sys.exit(f"the tests fail without a change: pytest ends with status {status}")
    return results


def outdated(results: list[Result]) -> bool:
    """Print the explained changes that no longer exist or are noticed by a test; return whether there are any."""
    alive = {key_of(each.path, ROOT, each.change) for each in results if each.outcome == "alive"}
    files = {key_of(each.path, ROOT, each.change).file for each in results}
    found = stale(read(EXPLAINED), alive, files)
    for key in found:
        print(f"OUTDATED: {key.file} {key.function}\n  - {key.before}\n  + {key.after}")
    return bool(found)


def last_alive() -> set[Key]:
    """Return the changes that were alive in the last runs."""
    return {Key(*each) for each in json.loads(ALIVE.read_text())} if ALIVE.exists() else set()


def remember(results: list[Result]) -> None:
    """Write which changes are alive, with those of earlier runs that were not tried."""
    tried_now = {key_of(each.path, ROOT, each.change) for each in results}
    alive = {key_of(each.path, ROOT, each.change) for each in results if each.outcome == "alive"}
    ALIVE.parent.mkdir(parents=True, exist_ok=True)
    ALIVE.write_text(json.dumps(sorted(astuple(key) for key in alive | (last_alive() - tried_now)), indent=1))


def main() -> None:
    """Print the changes that are alive, and the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help="the files or folders of verification, such as trees/; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at the same time")
    parser.add_argument("--again", action="store_true", help="only the changes that were alive in the last runs")
    given = parser.parse_args()
    os.environ["FORESTCOLL_ALL_EXAMPLES"] = "1"
    if not given.parts:  # one process for all would need more and more time
        sys.exit(max(subprocess.call([sys.executable, __file__, *sys.argv[1:], *part]) for part in every_part()))
    only = last_alive() if given.again else None
    results = [each for key, files in groups(given.parts).items() for each in tried(files, NEAR[key], given.jobs, only)]
    remember(results)
    known = read(EXPLAINED)
    alive = [key_of(each.path, ROOT, each.change) for each in results if each.outcome == "alive"]
    left = [key for key in alive if key not in known]
    killed = len(results) - len(alive)
    times = os.times()
    seconds = times.user + times.system + times.children_user + times.children_system
    print(f"changes {len(results)}: noticed {killed}, explained {len(alive) - len(left)}, alive {len(left)}")
    print(f"CPU time {seconds:.0f} s")
    sys.exit(1 if left or (only is None and outdated(results)) else 0)


if __name__ == "__main__":
    main()
