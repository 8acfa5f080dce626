"""Whole runs of `forestcoll generate`, each in its own process, and the tables that benchmarks print of them."""

import json
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import cast

COLUMNS = {"reading": "read", "finding": "optimum", "verifying": "verify", "writing": "write"}
"""The column of each stage, by the first word of its name. All other stages count as making trees."""


@dataclass(frozen=True)
class Run:
    """One run of the command: its output, the time of the process, its CPU time in seconds, and its peak memory."""

    document: dict[str, object]
    seconds: float
    cpu_seconds: float
    peak_bytes: int

    def stage_seconds(self) -> dict[str, float]:
        """The time of each table column, in seconds."""
        columns = dict.fromkeys(("optimum", "trees", "verify", "write"), 0.0)
        for stage, seconds in cast("dict[str, float]", self.document["seconds"]).items():
            column = COLUMNS.get(stage.split()[0], "trees")
            if column in columns:
                columns[column] += seconds
        return columns


class RunFailed(SystemExit):
    """A run without a result. `why` says in a few words what happened."""

    def __init__(self, words: Sequence[str], why: str) -> None:
        super().__init__(f"{' '.join(words)}: {why}")
        self.why = why


def run_generate(
    words: Sequence[str], folder: Path, *, python: Sequence[str] = (sys.executable,), limit: float | None = None
) -> Run:
    """Run `forestcoll generate` with these arguments in a process of `python`, for at most `limit` seconds."""
    words = [*python, "-m", "forestcoll", "generate", *words, "--json"]
    answer = folder / "answer.json"
    began = time.perf_counter()
    with answer.open("wb") as out, subprocess.Popen(words, stdout=out) as process:
        timer = threading.Timer(threading.TIMEOUT_MAX if limit is None else limit, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    if process.returncode != 0:
        is_late = limit is not None and seconds >= limit
        raise RunFailed(words, "over the limit" if is_late else f"FAILED: exit status {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return Run(json.loads(answer.read_bytes()), seconds, cpu_seconds, usage.ru_maxrss * unit)


def seconds_of(work: Callable[[], object]) -> float:
    """Return the time of `work` in seconds. Short work is repeated, and the median of five runs is returned."""
    measured: list[float] = []
    while len(measured) < 5 and sum(measured) < 1:
        began = time.perf_counter()
        work()
        measured.append(time.perf_counter() - began)
    return statistics.median(measured)


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a Markdown table. Each row is printed as soon as it is available."""
    for line in table_lines(head, rows):
        print(line, flush=True)


def table_lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join('---' if place == 0 else '---:' for place in range(len(head)))} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def processor() -> str:
    """Return the name of the processor if the system provides it."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text().splitlines() if listed.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def version() -> str:
    """Return the installed version."""
    try:
        return metadata.version("forestcoll")
    except metadata.PackageNotFoundError:
        return "(from source)"
