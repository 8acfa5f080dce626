"""Record about 5,300 outputs of the installed build, and compare two records: no output may change by a byte.

    python tools/same_bytes.py record before.json --keep before
    python tools/same_bytes.py record after.json --keep after
    python tools/same_bytes.py compare before.json after.json
    python tools/same_bytes.py record tune.json --only "lines tune"

Run it with the Python of a checkout's .venv, in any folder. A record takes two to four minutes on two processes. It
uses only names that stay when modules are moved: the public names of `forestcoll` and `forestcoll.runtime`, and `main`
of `forestcoll.cli`. `recording/jobs.py` lists what is recorded. A record is a JSON file with the SHA-256 of each output
by its name; a name begins with a subject, such as `lines tune`, `collective ring allreduce` or `wrong usage`. `compare`
prints the name of each output that differs, is missing or is new, and the name of its file in the folder of --keep. Its
exit status is 1 if there are any.

Before an output is hashed, what differs between two runs of one build is masked: the seconds that the stages of a run
took, the figures that `bench` measured, the folder of the job, and addresses in memory. The modules of names are left
out, because they are what may change: `forestcoll.a.b.C` is `C`. `same_bytes.py masks` prints the table with reasons.
"""

import argparse
import contextlib
import hashlib
import json
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from recording.jobs import all_jobs
from recording.masks import MASKS, masked
from recording.processes import environment
from recording.running import PREFIX, Job, set_environment

PROCESSES = 2
FORMAT = "forestcoll.same-bytes/1"


@contextlib.contextmanager
def empty_folder() -> Iterator[None]:
    """Work in an empty folder."""
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    (folder := home / "folder").mkdir()
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        shutil.rmtree(home, ignore_errors=True)


def done(job: Job, only: str, keep: Path | None) -> tuple[str, float, dict[str, str]]:
    """Run a job; return its name, its CPU time in seconds, and the hash of each output."""
    began = time.process_time()
    hashes: dict[str, str] = {}
    with empty_folder():
        for name, content in job.outputs():
            if name in hashes:
                raise ValueError(f"two outputs are called {name!r}")
            if name.startswith(only):
                data = masked(content)
                hashes[name] = hashlib.sha256(data).hexdigest()
                write_kept(keep, name, data)
    return job.name, time.process_time() - began, hashes


def write_kept(keep: Path | None, name: str, data: bytes) -> None:
    """Write an output to the folder of `--keep`, if there is one."""
    if keep is not None:
        path = keep / kept_name(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def kept_name(name: str) -> str:
    """Return the file name of an output in the folder of `--keep`: each subject has a folder."""
    subject, _, rest = name.partition(" ")
    readable = re.sub(r"[^\w.=,-]+", "_", rest)[:120].strip("_")
    return f"{subject}/{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def record(path: Path, only: str, keep: Path | None) -> None:
    """Run all jobs on two processes, and write the record."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise SystemExit(f"{keep}: is not empty; name a new folder")
    set_environment()
    jobs = [job for job in all_jobs() if job.name.startswith(only) or only.startswith(job.name)]
    outputs: dict[str, str] = {}
    seconds: dict[str, float] = {}
    began = time.monotonic()
    pools = ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn"), initializer=set_environment)
    with pools as pool:
        for each in as_completed([pool.submit(done, job, only, keep) for job in jobs]):
            name, seconds[name], hashes = each.result()
            outputs |= hashes
            if len(seconds) % 50 == 0 or len(seconds) == len(jobs):
                passed = f"{time.monotonic() - began:.0f} s"
                print(f"{len(seconds):,} of {len(jobs):,} jobs, {len(outputs):,} outputs, {passed}", file=sys.stderr)
    document = {"format": FORMAT, "only": only, "environment": environment(), "outputs": dict(sorted(outputs.items()))}
    path.write_text(json.dumps(document, indent=1) + "\n")
    print_summary(outputs, seconds)


def print_summary(outputs: dict[str, str], seconds: dict[str, float]) -> None:
    """Print the number of outputs by subject, and the jobs that took longest."""
    used: Counter[str] = Counter()
    for name, each in seconds.items():
        used[name.partition(" ")[0]] += round(1000 * each)
    for subject, count in sorted(Counter(name.partition(" ")[0] for name in outputs).items()):
        print(f"  {subject:12} {count:6,} outputs {used[subject] / 1000:7.1f} s")
    longest = sorted(seconds, key=lambda name: -seconds[name])[:5]
    print(f"the longest: {', '.join(f'{name} {seconds[name]:.0f} s' for name in longest)}", file=sys.stderr)
    print(f"{len(outputs):,} outputs, {sum(used.values()) / 1000:.0f} s of CPU time, without processes that jobs start")


def compare(before: Path, after: Path) -> int:
    """Print the differences of two records, and return the exit status."""
    one, other = read_record(before), read_record(after)
    for name, version in one["environment"].items():
        if other["environment"].get(name) != version:
            print(f"note: {name} was {version} and is {other['environment'].get(name)}")
    only = max(one["only"], other["only"], key=len)
    old, new = (
        {name: each for name, each in part["outputs"].items() if name.startswith(only)} for part in (one, other)
    )
    lines = [
        *(f"differs: {name}  ({kept_name(name)})" for name in old if new.get(name, old[name]) != old[name]),
        *(f"missing: {name}" for name in old.keys() - new.keys()),
        *(f"new: {name}" for name in new.keys() - old.keys()),
    ]
    print("\n".join([*sorted(lines), f"{len(old.keys() | new.keys()):,} outputs, {len(lines):,} differences"]))
    return 1 if lines else 0


def read_record(path: Path) -> dict[str, Any]:
    """Return a record."""
    document: dict[str, Any] = json.loads(path.read_text())
    if document.get("format") != FORMAT:
        raise SystemExit(f"{path}: is no record of same_bytes.py")
    return document


def print_masks() -> None:
    """Print the table of masks."""
    for mask in MASKS:
        place = "" if mask.within is None else f", within {mask.within.pattern}"
        print(f"{mask.text.strip() or '(left out)'}: {mask.why}\n    {mask.pattern.pattern}{place}")


def options(words: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="run everything, and write the hashes of all outputs")
    recording.add_argument("file", type=Path)
    recording.add_argument("--only", default="", metavar="PREFIX", help="only outputs whose names begin so")
    recording.add_argument("--keep", type=Path, metavar="DIR", help="also write the masked outputs, for diff -r")
    comparing = commands.add_parser("compare", help="print the differences of two records; exit status 1 if any")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    commands.add_parser("masks", help="list what is masked, and why")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line."""
    given = options(words)
    if given.command == "record":
        record(given.file, given.only, None if given.keep is None else given.keep.resolve())
    elif given.command == "compare":
        return compare(given.before, given.after)
    else:
        print_masks()
    return 0


if __name__ == "__main__":
    sys.exit(main())
