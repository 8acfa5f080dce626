"""Read mutated files with every reader, for a given time or number.

Goal: each file is read, or refused by an error of one line; no other exception, no reader beyond its time limit. A file
with a fault is written to build/fuzz; moved to tests/fuzz/regressions, it is a test.
"""

import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from fuzz.mutations import mutated
from fuzz.readers import READERS, fault_of
from fuzz.seeds import write_seeds


def fuzz(*, seconds: float, most: int, seed: int, failures: Path) -> tuple[Counter[str], int]:
    """Read files until the time or the number is reached; return how many were accepted or refused, and the failures.

    Each mutated file is read by one reader: mostly one that accepts its seed.
    """
    counts: Counter[str] = Counter()
    failed = number = 0
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        seeds = write_seeds(folder / "seeds")
        accepting = {path: [name for name in READERS if fault_of(name, path) == (None, True)] for path in seeds}
        end = time.monotonic() + seconds
        while number < most and time.monotonic() < end:
            random = Random(f"{seed}/{number}")  # noqa: S311 (not for security)
            path = random.choice(seeds)
            names = accepting[path] if accepting[path] and random.random() < 0.9 else list(READERS)
            reader = random.choice(names)
            place = folder / path.name
            place.write_bytes(mutated(path.read_bytes(), random))
            fault, accepted = fault_of(reader, place)
            counts["accepted" if accepted else "refused"] += 1
            if fault is not None:
                failed += 1
                _keep(failures / f"reader-{seed}-{number}.json", reader, place, fault)
            place.unlink()
            number += 1
    return counts, failed


def _keep(report: Path, reader: str, file: Path, fault: str) -> None:
    report.parent.mkdir(parents=True, exist_ok=True)
    document = {"fault": fault, "reader": reader, "files": {file.name: file.read_bytes().hex()}}
    report.write_text(json.dumps(document, indent=1) + "\n")
    print(f"FAILED: {reader} on {file.name}: {fault[:200]}; {report}", file=sys.stderr, flush=True)
