"""Run all machines that look for faults, and write the figures: `make soak` (12 minutes), `make soak-long` (4 hours).

Goal: no failure. The time is divided among random networks (`soak.py`), random command lines (`fuzz_commands.py`) and
mutated files (`fuzz_readers.py`). `--document` replaces the table of figures in docs/reliability.md.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import fuzz_commands
import fuzz_readers
import soak

from forestcoll.version import __version__

BEGIN, END = "<!-- figures: begin -->\n", "<!-- figures: end -->\n"
"""The lines of the document around the table."""


@dataclass(frozen=True)
class Figures:
    """What one machine did.

    Attributes:
        what: what was tried.
        count: how often.
        details: how the attempts divide.
        failures: how many failed.
        seconds: the CPU time of this process and its children.
    """

    what: str
    count: int
    details: str
    failures: int
    seconds: float


def networks(seconds: float, seed: int, folder: Path) -> Figures:
    """Compare all methods on random networks."""
    tally = soak.soak(seconds=seconds, seed=seed, largest=96, limit=60.0, folder=folder)
    details = ", ".join(f"{kind} {count}" for kind, count in sorted(tally.networks.items()))
    count = tally.networks.total() + len(tally.failures)
    return Figures("random networks, all methods compared", count, details, len(tally.failures), 0.0)


def command_lines(seconds: float, seed: int, folder: Path) -> Figures:
    """Run random command lines."""
    counts, failed = fuzz_commands.fuzz(seconds=seconds, most=10**9, seed=seed, limit=120.0, failures=folder)
    details = ", ".join(f"exit status {status}: {count}" for status, count in sorted(counts.items(), key=str))
    return Figures("random command lines", counts.total(), details, failed, 0.0)


def files(seconds: float, seed: int, folder: Path) -> Figures:
    """Read mutated files."""
    counts, failed = fuzz_readers.fuzz(seconds=seconds, most=10**9, seed=seed, failures=folder)
    details = f"accepted {counts['accepted']}, refused {counts['refused']}"
    return Figures("mutated files, all readers", counts.total(), details, failed, 0.0)


PARTS: dict[str, tuple[Callable[[float, int, Path], Figures], float]] = {
    "networks": (networks, 0.4),
    "commands": (command_lines, 0.35),
    "files": (files, 0.25),
}
"""The machines, and the share of the time of each."""


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def table_of(found: list[Figures], minutes: float, seed: int) -> str:
    """Return the figures as a Markdown table."""
    kind = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    lines = [
        f"forestcoll {__version__}, {kind}, seed {seed}, {minutes:g} minutes by the clock in total:",
        "",
        "| tried | number | of these | failures | CPU seconds |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {each.what} | {each.count:,} | {each.details} | {each.failures} | {each.seconds:.0f} |" for each in found
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the machines and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=12.0, help="duration in minutes (12)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="seed; by default the present time")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"the machines, of {', '.join(PARTS)}")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="folder for failures and figures")
    parser.add_argument("--document", type=Path, help="a document whose table of figures is replaced")
    given = parser.parse_args()
    chosen = [PARTS[name] for name in given.parts.split(",")]
    total = sum(share for _, share in chosen)
    found = []
    for machine, share in chosen:
        began = cpu_seconds()
        each = machine(given.minutes * 60 * share / total, given.seed, given.folder)
        found.append(Figures(each.what, each.count, each.details, each.failures, cpu_seconds() - began))
    table = table_of(found, given.minutes, given.seed)
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "figures.md").write_text(table)
    print(table, end="")
    if given.document is not None:
        before, _, rest = given.document.read_text().partition(BEGIN)
        given.document.write_text(f"{before}{BEGIN}{table}{END}{rest.partition(END)[2]}")
    sys.exit(1 if any(each.failures for each in found) else 0)


if __name__ == "__main__":
    main()
