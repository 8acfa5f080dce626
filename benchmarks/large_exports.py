"""Exports for large networks: instructions, files, CPU time and memory of each format.

    python benchmarks/large_exports.py [--boxes 8,32,128] [--machine dgx-a100] [--collectives allgather]

Prints docs/tables/large-exports.csv. Each export runs in its own process, from the schedule file to the checked files.
A format whose limits the program exceeds has a row with the time until it is refused.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FORMATS = ("chakra", "msccl-xml --dialect microsoft", "msccl-xml --dialect rccl", "mscclpp-json", "goal")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boxes", default="8,32,128", help="numbers of boxes")
    parser.add_argument("--machine", default="dgx-a100", help="the builder of the machine")
    parser.add_argument("--collectives", default="allgather", help="collectives")
    options = parser.parse_args()
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["network", "collective", "format", "instructions", "files (MB)", "CPU time (s)", "memory (MB)"])
    with tempfile.TemporaryDirectory() as folder:
        for boxes in options.boxes.split(","):
            for collective in options.collectives.split(","):
                spec = f"{options.machine}:boxes={boxes}"
                schedule = Path(folder) / "schedule.json"
                _run(["generate", spec, "--collective", collective, "--compact", "-o", str(schedule)])
                for form in FORMATS:
                    table.writerow([spec, collective, *_row(schedule, form)])
                    sys.stdout.flush()
                    _remove(Path(folder))


def _row(schedule: Path, form: str) -> list[str]:
    output = schedule.with_name("program")
    text, seconds, memory = _run(["export", str(schedule), "--to", *form.split(), "-o", str(output), "--json"])
    files = sum(each.stat().st_size for each in schedule.parent.glob("program*"))
    name = form.replace(" --dialect ", ", ")
    found = json.loads(text) if text else None
    cells = (f"{found['instructions']:,}", f"{files / 1e6:.1f}") if found else ("refused", "-")
    return [name, *cells, f"{seconds:.1f}", f"{memory:,.0f}"]


def _run(arguments: list[str]) -> tuple[str, float, float]:
    """Run a command; return its standard output, its CPU time in seconds, and its peak memory in MB."""
    command = [sys.executable, "-m", "forestcoll", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        text = process.stdout.read() if process.stdout else ""
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    return text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def _remove(folder: Path) -> None:
    for each in folder.glob("program*"):
        each.unlink()


if __name__ == "__main__":
    main()
