"""Run all machines that look for faults, and write the figures: `make soak HOURS=0.2`.

Goal: no failure. The time is divided among random networks (`soak.py`), networks with odd numbers
(`odd_networks.py`), and changed schedules, random command lines and mutated files (`fuzz/`). `--fixed` takes a fixed
number of each instead, as for a release. `--document` replaces the table of figures in docs/reliability.md.
"""

import argparse
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path

import fuzz.command_lines
import fuzz.files
import fuzz.schedules
import odd_networks
import soak
from forestcoll.base.version import __version__

BEGIN, END = "<!-- figures: begin -->\n", "<!-- figures: end -->\n"
"""The lines of the document around the table."""


@dataclass(frozen=True)
class Figures:
    """What one machine did.

    Attributes:
        what: what was tried.
        counts: the attempts, by their kind or their result.
        failures: how many failed.
        seconds: the CPU time of the processes and their children.
    """

    what: str
    counts: Counter[str]
    failures: int
    seconds: float = 0.0


def networks(seconds: float, most: int, seed: int, folder: Path) -> Figures:
    """Compare all methods on random networks."""
    tally = soak.soak(seconds=seconds, most=most, seed=seed, largest=96, folder=folder)
    failed = Counter({"failed": len(tally.failures)}) if tally.failures else Counter[str]()
    return Figures("random networks, all methods compared", tally.networks + failed, len(tally.failures))


def numbers(seconds: float, most: int, seed: int, folder: Path) -> Figures:  # noqa: ARG001 (failures are printed)
    """Check networks with odd numbers."""
    return Figures("networks with odd numbers", *odd_networks.fuzz(seconds=seconds, most=most, seed=seed))


def schedules(seconds: float, most: int, seed: int, folder: Path) -> Figures:
    """Verify changed schedules."""
    return Figures(
        "changed schedules, compared with the plain rules",
        *fuzz.schedules.fuzz(seconds=seconds, most=most, seed=seed, failures=folder),
    )


def command_lines(seconds: float, most: int, seed: int, folder: Path) -> Figures:
    """Run random command lines."""
    counts, failed = fuzz.command_lines.fuzz(seconds=seconds, most=most, seed=seed, limit=600.0, failures=folder)
    by_status = Counter({f"exit status {status}": count for status, count in counts.items()})
    return Figures("random command lines", by_status, failed)


def files(seconds: float, most: int, seed: int, folder: Path) -> Figures:
    """Read mutated files."""
    counts, failed = fuzz.files.fuzz(seconds=seconds, most=most, seed=seed, failures=folder)
    return Figures("mutated files, all readers", counts, failed)


@dataclass(frozen=True)
class Machine:
    """One kind of search for faults.

    Attributes:
        run: takes the seconds, the greatest number of attempts, the seed, and the folder for failures.
        share: its share of the time.
        hour: the number of attempts of `--hour`.
    """

    run: Callable[[float, int, int, Path], Figures]
    share: float
    hour: int


PARTS = {
    "networks": Machine(networks, 0.35, 10**5),
    "numbers": Machine(numbers, 0.1, 10**4),
    "schedules": Machine(schedules, 0.05, 10**5),
    "commands": Machine(command_lines, 0.25, 10**4),
    "files": Machine(files, 0.25, 10**6),
}
"""The machines by their names."""


def searched(name: str, given: argparse.Namespace, worker: int) -> Figures:
    """Return the figures of one machine in one of the processes, each with a seed and a part of the attempts."""
    machine = PARTS[name]
    total = sum(PARTS[each].share for each in given.parts.split(","))
    most = machine.hour if given.fixed else 10**9
    most = most // given.jobs + (worker < most % given.jobs)
    seconds = given.hours * 3600 * (1.0 if given.fixed else machine.share / total)
    began = cpu_seconds()
    found = machine.run(seconds, most, given.seed * given.jobs + worker, given.folder)
    return replace(found, seconds=cpu_seconds() - began)


def together(found: list[Figures]) -> Figures:
    """Return the sum of the figures of one machine in several processes."""
    counts = sum((each.counts for each in found), Counter[str]())
    failures, seconds = sum(each.failures for each in found), sum(each.seconds for each in found)
    return Figures(found[0].what, counts, failures, seconds)


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def table_of(found: list[Figures], minutes: float, seed: int) -> str:
    """Return the figures as a Markdown table."""
    kind = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    lines = [
        f"forestcoll {__version__}, {kind}, seed {seed}, {minutes:.3g} minutes by the clock in total:",
        "",
        "| tried | number | of these | failures | CPU seconds |",
        "| --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*lines, *map(_row, found)]) + "\n"


def _row(found: Figures) -> str:
    details = ", ".join(f"{name}: {count:,}" for name, count in sorted(found.counts.items()))
    return f"| {found.what} | {found.counts.total():,} | {details} | {found.failures} | {found.seconds:.0f} |"


def options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--hours", type=float, default=0.2, help="duration; with --fixed, the limit")
    parser.add_argument("--fixed", action="store_true", help="a fixed number of attempts: about an hour of CPU time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at the same time")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="seed; by default the present time")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"the machines, of {', '.join(PARTS)}")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="folder for failures and figures")
    parser.add_argument("--document", type=Path, help="a document whose table of figures is replaced")
    return parser.parse_args()


def main() -> None:
    """Run the machines and print the figures."""
    given = options()
    began = time.monotonic()
    with ProcessPoolExecutor(given.jobs) as pool:
        parts = [
            list(pool.map(searched, repeat(name), repeat(given), range(given.jobs))) for name in given.parts.split(",")
        ]
    found = [together(part) for part in parts]
    table = table_of(found, (time.monotonic() - began) / 60, given.seed)
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "figures.md").write_text(table)
    print(table, end="")
    if given.document is not None:
        before, _, rest = given.document.read_text().partition(BEGIN)
        given.document.write_text(f"{before}{BEGIN}{table}{END}{rest.partition(END)[2]}")
    sys.exit(1 if any(each.failures for each in found) else 0)


if __name__ == "__main__":
    main()
