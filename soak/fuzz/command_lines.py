"""Run random command lines, for a given time or number.

Goal: no traceback, no defect, no exit status other than 0, 1, 2 and 130, no run beyond its time limit, no file that
was not requested. A command line with a fault is written to build/fuzz; moved to tests/fuzz/regressions, it is a test.
"""

import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from fuzz.random_commands import Case, CommandLines, document_of
from fuzz.running import fault_of, run
from fuzz.seeds import write_seeds


def attempt(case: Case, folder: Path, *, seconds: float) -> tuple[str | None, int | None]:
    """Run a case in an empty folder below `folder`; return its fault, or None, and the exit status."""
    place = folder / "run"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name, data in case.files.items():
        (place / name).write_bytes(data)
    done = run(case.words, place, seconds=seconds)
    changed = [name for name, data in case.files.items() if not _holds(place / name, data)]
    for name in case.files:
        (place / name).unlink(missing_ok=True)
    fault = f"the input {changed[0]} was changed" if changed else fault_of(done, place, case.outputs)
    return fault, done.status


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


def fuzz(*, seconds: float, most: int, seed: int, limit: float, failures: Path) -> tuple[Counter[object], int]:
    """Run command lines until the time or the number is reached; return the runs by exit status, and the failures."""
    counts: Counter[object] = Counter()
    failed = number = 0
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        lines = CommandLines(write_seeds(folder / "seeds"))
        end = time.monotonic() + seconds
        while number < most and time.monotonic() < end:
            case = lines.case(Random(f"{seed}/{number}"))  # noqa: S311 (not for security)
            fault, status = attempt(case, folder, seconds=limit)
            counts[status] += 1
            if fault is not None:
                failed += 1
                failures.mkdir(parents=True, exist_ok=True)
                path = failures / f"command-{seed}-{number}.json"
                path.write_text(json.dumps(document_of(case, fault), indent=1) + "\n")
                print(f"FAILED: {fault}: forestcoll {' '.join(case.words)}; {path}", file=sys.stderr, flush=True)
            number += 1
    return counts, failed
