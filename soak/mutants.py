"""Change each line of the verifier in small ways with mutmut, and look for changes that no test notices.

    .venv/bin/pip install $(.venv/bin/python tools/environment.py --requirements mutants)
    .venv/bin/python soak/mutants.py [--jobs 2] [trees flows ...]

Each change should make a test fail, or be listed in `mutants_explained.toml` with the reason why no test can fail.
Anything else is a failure, and so is an entry of that list for a change that a test notices or that no longer exists.
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from importlib import import_module
from inspect import getfile
from os.path import normpath
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERIFICATION = ROOT / "src/forestcoll/verification"
EXPLAINED = Path(__file__).with_name("mutants_explained.toml")

TESTS = {
    "bundle": "bundle",
    "flows": "flows",
    "series": "series ../oneport/platform/test_shared_bandwidth.py",
    "trees": "trees",
    "steps": "steps",
    "routes": "trees flows test_group.py steps/test_step_messages.py steps/test_step_symmetry.py",
    "proof_checks": "proof_checks ../oneport/platform/test_odd_sets.py ../oneport/platform/test_shared_bandwidth.py",
    "files": "test_arrays.py test_claims.py test_verifiers.py test_reading.py test_wording.py "
    "flows/test_flow_messages.py steps/test_step_messages.py trees/test_tree_messages.py",
}
"""For each part, a folder of `verification` or the files directly in it, the tests in tests/verification."""

LONG = "accepted_only_if_it_is_right refused_exactly_if of_its_expanded_form compute_the_same_bound with_a_plain"
"""Parts of names of tests that take longer than a hundred others: shorter tests must notice the changes."""

Change = tuple[str, str, str]
"""The function, such as `flows.context.FlowContext.loads`, its lines before the change, and those after it."""


def prepare(folder: Path, part: str) -> None:
    """Copy the checkout, with settings for `part` and with an environment that imports the package from the copy."""
    for name in ("src", "tests", "soak", "tools", "evidence", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for room, name in (("kernels", "_native"), ("schedule", "_schedules"), ("runtime", "_runtime")):
        shutil.copy(getfile(import_module(f"forestcoll.{room}.{name}")), folder / "src/forestcoll" / room)
    files = VERIFICATION.glob("*.py") if part == "files" else (VERIFICATION / part).rglob("*.py")
    settings = {
        "source_paths": ["src/forestcoll/"],
        "only_mutate": [path.relative_to(ROOT).as_posix() for path in files],
        "also_copy": ["tests", "soak", "tools", "evidence", "examples"],
        "pytest_add_cli_args": ["-k", f"not ({LONG.replace(' ', ' or ')})"],
        "pytest_add_cli_args_test_selection": [normpath(f"tests/verification/{each}") for each in TESTS[part].split()],
        "timeout_multiplier": 5.0,
        "timeout_constant": 2.0,
    }
    lines = ["[tool.mutmut]", *(f"{key} = {value!r}" for key, value in settings.items())]
    (folder / "pyproject.toml").write_text("\n".join([(ROOT / "pyproject.toml").read_text(), *lines, ""]))
    # The import hook of the editable installation would find the files of the checkout; a folder on the path does not.
    venv.create(folder / "venv", symlinks=True)
    (site,) = (folder / "venv/lib").glob("*/site-packages")
    (site / "all.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))


def mutmut(folder: Path, *words: str) -> str:
    """Run mutmut in `folder` and return what it prints."""
    code = "from mutmut.__main__ import cli; cli()"
    command = [str(folder / "venv/bin/python"), "-c", code, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"mutmut {words[0]} ends with status {done.returncode}:\n{done.stdout[-5000:]}\n{done.stderr[-5000:]}")
    return done.stdout


def change_of(folder: Path, mutant: str) -> Change:
    """Return what the mutant with this name changes."""
    module, _, function = mutant.partition("__mutmut_")[0].removeprefix("forestcoll.verification.").rpartition(".")
    lines = mutmut(folder, "show", mutant).partition("\n@@")[2].splitlines()[1:]
    before, after = ("\n".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+")
    return f"{module}.{re.sub('^x[_ǁ]', '', function).replace('ǁ', '.')}", before, after


def tried(part: str, jobs: int) -> tuple[int, list[Change]]:
    """Return the number of changes of `part`, and those that no test notices."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, part)
        mutmut(folder, "run", "--max-children", str(jobs))
        results = [line.strip().split(": ") for line in mutmut(folder, "results", "--all", "true").splitlines()]
        alive = [mutant for mutant, status in results if status in {"survived", "no tests", "not checked"}]
        return len(results), [change_of(folder, mutant) for mutant in alive]


def explained(part: str, alive: list[Change]) -> set[Change]:
    """Return the changes of `part` with an explanation: those of the list, and those of `strict`, an assertion."""
    found = {each for each in alive if len({re.sub(r"strict=\w+,?", "", text) for text in each[1:]}) == 1}
    for group in tomllib.loads(EXPLAINED.read_text())["explained"]:
        for function, before, *afters in group["changes"]:
            name = function.partition(".")[0]
            if (name if name in TESTS else "files") == part:
                found |= {(function, before, after) for after in afters}
    return found


def main() -> None:
    """Print the figures of each part, and the changes that are alive without an explanation."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(TESTS)}; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at the same time")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(TESTS):
        parser.error(f"no such part: {', '.join(unknown)}")
    resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33))  # some changes make arrays of any size
    os.environ |= {"FORESTCOLL_ALL_EXAMPLES": "1", "OPENBLAS_NUM_THREADS": "1"}
    failed = 0
    for part in given.parts or TESTS:
        began = os.times()
        count, alive = tried(part, given.jobs)
        ended, known = os.times(), explained(part, alive)
        seconds = sum(ended[2:4]) - sum(began[2:4])
        for function, before, after in sorted(known ^ set(alive)):
            title = "OUTDATED" if (function, before, after) in known else "ALIVE"
            print(f"{title}: {function}\n  - {before}\n  + {after}")
        noticed, left = count - len(alive), sum(change not in known for change in alive)
        figures = f"changes {count}, noticed {noticed}, explained {len(alive) - left}, alive {left}"
        print(f"{part}: {figures}, CPU seconds {seconds:.0f}", flush=True)
        failed |= set(alive) != known
    sys.exit(failed)


if __name__ == "__main__":
    main()
