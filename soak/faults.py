"""Random faults of the runtime: see --runs.

    .venv/bin/python soak/faults.py [--runs 300] [--seed 0] [--only kill,stop]
    .venv/bin/python soak/faults.py --seed 123 --runs 1     # repeats one run

Goal: every fault ends in an error on all ranks within its limit, which names the rank at fault; nothing hangs, no rank
gets wrong data, no group leaves threads or descriptors behind. Each run forks 2 to 16 processes, which run random
operations until one of them fails. Failures are printed with the seed of their run; the exit status is then 1.
"""

import argparse
import os
import re
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from json import loads
from pathlib import Path
from typing import Any
from unittest.mock import patch

from forestcoll.demand.demand import Demand

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # a fork of several threads is no copy

from fault_group import COLLECTIVES, Player, Run, described, disturb, drawing
from forestcoll.algorithms.generate import generate
from forestcoll.runtime.engine.execution import new_engine
from forestcoll.runtime.engine.plan import Plan, plan_of
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology.registry import build_topology

LIMIT = 20.0
"""The most seconds of a run; what takes longer is a hang."""

LONG_TIMEOUT = 15.0
"""The limit of groups in which all ranks answer."""


@dataclass(frozen=True)
class Kind:
    """What is expected of a fault.

    Attributes:
        within: seconds from the fault to the last error; None if there must be no error.
        named: a pattern of the message, with the rank at fault as `{}`.
        waits: whether the error comes only after the group's limit; `within` is counted from there.
    """

    within: float | None
    named: str = r"rank {}\b"
    waits: bool = False


KINDS: dict[str, Kind] = {
    "none": Kind(None),
    "slow": Kind(None),
    "stranger": Kind(None),
    "kill": Kind(1.0, r"process of rank {} ended or was killed"),
    "kill-reading": Kind(1.0, r"process of rank {} ended or was killed"),  # while large data are read
    "exit": Kind(1.0, r"process of rank {} ended or was killed"),
    "stop": Kind(1.0, r"rank {} does not answer", waits=True),
    "late": Kind(1.0, r"rank {} (has not called it|closed)", waits=True),
    "close": Kind(1.0, r"rank {} closed the group"),
    "link": Kind(1.0, r"rank {}\b|rank \d+ (broke|ended)"),
    "noise": Kind(1.0, r"rank {}\b|rank \d+"),
    "size": Kind(1.0),
    "dtype": Kind(1.0),
    "op": Kind(1.0),
    "collective": Kind(1.0),
    "root": Kind(1.0),
    "order": Kind(1.0),
    "skip": Kind(1.0),
    "schedule": Kind(1.0, r"rank \d+ has other schedules or options than rank \d+"),
    # A rank whose own connections stand may begin. If it gives up first, it names the neighbour that still waits.
    "secret": Kind(1.0, r"rank \d+ (refused|did not|does not answer)|process of rank \d+ ended", waits=True),
    "absent": Kind(1.0, r"rank {} did not come", waits=True),
}


DIFFERENT = ("size", "dtype", "op", "collective", "root", "order", "skip")
"""Faults that can be seen when another rank calls the operation too."""

MAY_COME_LATE = ("kill", "kill-reading", "stop", "exit", "close", "link", "noise")
"""Faults without effect on a rank that has received everything, with right data, and has left."""


@dataclass
class Tally:
    """The results so far."""

    runs: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return the table."""
        found = [f"{'fault':<12}{'runs':>6}{'limit, s':>10}{'median, s':>11}{'worst, s':>10}{'later':>7}"]
        for name, count in sorted(self.runs.items()):
            within, times = KINDS[name].within, self.times[name]
            if within is None or not times:
                found.append(f"{name:<12}{count:>6}{'no error':>10}")
                continue
            late = sum(each > within for each in times)
            found.append(
                f"{name:<12}{count:>6}{within:>10.1f}{statistics.median(times):>11.3f}{max(times):>10.3f}{late:>7}"
            )
        return [*found, f"{sum(self.runs.values())} runs, {len(self.failures)} failed"]


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0, help="of the first run; the next ones have the next numbers")
    parser.add_argument("--only", default=",".join(KINDS), help="the faults to draw from")
    parser.add_argument("--most-ranks", type=int, default=16)
    parser.add_argument("--slack", type=float, default=0.0, help="seconds added to all limits, for a busy machine")
    options = parser.parse_args()
    patch("forestcoll.runtime.group_plans.plan_of", known_plan).start()
    new_engine(0, 1.0, "", "")  # loads the engine before the forks
    tally = Tally()
    for seed in range(options.seed, options.seed + options.runs):
        run = drawn(seed, options.only.split(","), options.most_ranks)
        run = replace(run, timeout=run.timeout + options.slack)
        if failures := judged(run, tally, options.slack):
            tally.failures.append(failures[0])
            print(f"FAILED: {failures[0]}, and {len(failures) - 1} more\n  {described(run)}", flush=True)
        tally.runs[run.fault] += 1
    print("\n".join(tally.lines()))
    return 1 if tally.failures else 0


def drawn(seed: int, faults: Sequence[str], most: int) -> Run:
    """Return the run of a seed."""
    draw = drawing(seed)
    fault, ranks = draw.choice(faults), draw.randint(2, most)
    networks = [f"ring:nodes={ranks}", f"complete:nodes={ranks}", f"steps {ranks}"]
    operations = draw.randint(6, 20)
    return Run(
        seed=seed,
        network=draw.choice(networks),
        ranks=ranks,
        fault=fault,
        culprit=draw.randrange(ranks),
        moment=draw.randrange(operations - 2),
        delay=draw.choice([0.0, draw.random() * 0.02, draw.random() * 0.2]),
        window=draw.choice([1, 1, 2, 5]),
        operations=operations,
        timeout=1.5 + ranks / 8 if KINDS[fault].waits else LONG_TIMEOUT,
    )


@cache
def schedules_of(network: str) -> tuple[Schedule, ...]:
    """Return a schedule for each collective, broadcasts with two roots."""
    name, _, ranks = network.partition(" ")
    topology = build_topology(f"complete:nodes={ranks}" if name == "steps" else network)
    last = len(topology.compute) - 1
    rooted = [("broadcast", 0), ("broadcast", last), ("reduce", last)]
    made: list[Schedule] = [generate(topology, Demand(collective, root=root)) for collective, root in rooted]
    method = "bfb" if name == "steps" else None
    others = (each for each in COLLECTIVES if each not in ("broadcast", "reduce"))
    return (*made, *(generate(topology, each, method) for each in others))


PLANS: dict[int, Plan] = {}


def known_plan(schedule: Schedule) -> Plan:
    """Return the plan of a schedule of this process, which was verified before the fork."""
    if id(schedule) not in PLANS:
        PLANS[id(schedule)] = plan_of(schedule)
    return PLANS[id(schedule)]


def judged(run: Run, tally: Tally, slack: float) -> list[str]:
    """Run everything, and return what is wrong."""
    schedules = schedules_of(run.network)
    for schedule in schedules:
        known_plan(schedule)
    folder = Path(tempfile.mkdtemp(prefix="forestcoll-faults-"))
    try:
        hung = [f"rank {rank} hangs" for rank in played(run, schedules, folder)]
        return hung + [text for rank in range(run.ranks) for text in of_rank(run, rank, folder, tally, slack)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def played(run: Run, schedules: Sequence[Schedule], folder: Path) -> list[int]:
    """Fork all ranks, and return those that did not end within the limit."""
    players = [Player(run, rank, folder) for rank in range(run.ranks)]
    processes = {forked(partial(each.play, schedules, schedules[:-1])): each.rank for each in players}
    if run.fault == "stranger":
        processes[forked(partial(disturb, run, folder))] = -1
    end = time.monotonic() + LIMIT
    while processes and time.monotonic() < end and set(processes.values()) != stopped(run):
        done, _ = os.waitpid(-1, os.WNOHANG)
        processes.pop(done, None)
        if not done:
            time.sleep(0.003)
    for process in processes:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return [rank for rank in processes.values() if rank not in stopped(run)]


def stopped(run: Run) -> set[int]:
    """Return the ranks that never end."""
    return {run.culprit} if run.fault == "stop" else set()


def forked(body: Callable[[], None]) -> int:
    """Run `body` in a new process, and return its number."""
    process = os.fork()
    if process:
        return process
    try:
        body()
    except BaseException as error:  # noqa: BLE001 (nothing may go on here)
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        os._exit(9)
    os._exit(0)


def of_rank(run: Run, rank: int, folder: Path, tally: Tally, slack: float) -> list[str]:
    """Return what is wrong with the outcome of one rank."""
    path, kind = folder / f"result-{rank}", KINDS[run.fault]
    if not path.exists():
        is_gone = rank == run.culprit and run.fault in ("kill", "kill-reading", "exit", "stop", "absent")
        return [] if is_gone else [f"rank {rank} has no result"]
    result: dict[str, Any] = loads(path.read_text())
    wrong = [f"rank {rank}: {result['wrong']}"] if result["wrong"] else []
    has_sleeper = rank == run.culprit and run.fault in (
        "kill",
        "kill-reading",
        "stop",
    )  # the thread that sends the signal
    is_left = any(each > 0 for each in result.get("left", [])) and not has_sleeper
    if result.get("closing", 0) > 6 or result.get("pending", 0) or is_left:
        wrong.append(f"rank {rank}: the group left something behind: {result}")
    if kind.within is None:
        return wrong + ([f"rank {rank} failed: {result['error']}"] if result["error"] else [])
    return wrong + of_error(run, kind, rank, result, folder, tally, slack)


def of_error(  # noqa: PLR0913, PLR0917 (a rank's outcome, and where it is counted)
    run: Run, kind: Kind, rank: int, result: dict[str, Any], folder: Path, tally: Tally, slack: float
) -> list[str]:
    """Return what is wrong with the error of one rank."""
    error = result["error"]
    if error is None:
        return [] if run.fault in MAY_COME_LATE else [f"rank {rank} saw no error"]
    if not re.search(kind.named.format(run.culprit), error):
        return [f"rank {rank} has another message: {error}"]
    since = result["time"] - begin_of(run, folder) - (run.timeout if kind.waits else 0)
    if rank == run.culprit and run.fault == "late":
        return []  # it slept
    tally.times[run.fault].append(since)
    if kind.within is not None and since > kind.within + slack:
        return [f"rank {rank} saw the fault after {since:.2f} s: {error}"]
    return []


def begin_of(run: Run, folder: Path) -> float:
    """Return when the fault could be seen for the first time."""
    begin = float((folder / "fault-time").read_text())
    if run.fault not in DIFFERENT:
        return begin
    others = [path for path in folder.glob("result-*") if path.name != f"result-{run.culprit}"]
    called = [loads(path.read_text())["called"] for path in others]
    return max(begin, min((each for each in called if each is not None), default=begin))


if __name__ == "__main__":
    sys.exit(main())
