"""Mixed operations in flight for a long time: see --minutes.

    .venv/bin/python soak/runtime_soak.py [--minutes 2] [--ranks 8]

Goal: no wrong data, and no growth of memory, threads or descriptors. Each rank is a process that runs random operations
of one group without a pause, and joins and leaves short groups from time to time. After a first part, which fills
caches, every rank must keep its threads and descriptors, and grow by less than 16 MiB. `--minutes 60` is the full test.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # a fork of several threads is no copy

from fault_group import Call, FolderStore, Player, Run, counts, drawing, random_call
from faults import forked, schedules_of
from forestcoll.runtime import Communicator, Work
from forestcoll.schedule.schedule import Schedule

MOST_GROWTH = 16 << 20
"""Bytes that a rank may grow after the first part."""

OF_A_GROUP = 200
"""Operations between two short groups."""


def main() -> int:
    """Run all ranks, and print what each has used."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--network", default="ring:nodes={ranks}", help="the topology; {ranks} is replaced")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    network = options.network.format(ranks=options.ranks)
    schedules = schedules_of(network)
    run = Run(options.seed, network, options.ranks, "none", -1, 0, 0.0, 6, 0, 60.0)
    print(f"{options.minutes:g} minutes, {options.ranks} ranks on {network}", flush=True)
    with tempfile.TemporaryDirectory(prefix="forestcoll-soak-") as folder:
        ranks = [
            forked(partial(soak, Player(run, rank, Path(folder)), schedules, options.minutes * 60))
            for rank in range(options.ranks)
        ]
        failed = [rank for rank, process in enumerate(ranks) if os.waitpid(process, 0)[1] != 0]
    print(f"{len(failed)} of {options.ranks} ranks failed{': ' if failed else ''}{', '.join(map(str, failed))}")
    return 1 if failed else 0


def soak(player: Player, schedules: Sequence[Schedule], seconds: float) -> None:
    """Run one rank; raises if something is wrong or grows."""
    store, draw = FolderStore(player.folder), drawing(player.run.seed)
    with Communicator(schedules, rank=player.rank, store=store, timeout=player.run.timeout) as group:
        begin, number, first = time.monotonic(), 0, (0, (0, 0))
        while goes_on(group, time.monotonic() < begin + seconds):
            if time.monotonic() < begin + seconds / 4 or number == 0:
                first = resident(), counts()
            busy(player, group, draw, number)
            short(player, schedules, store, number)
            number += 1
        last = resident(), counts()
    said = f"rank {player.rank:>2}: {number * OF_A_GROUP} operations, {last[0] >> 20} MiB, "
    said += f"grown by {(last[0] - first[0]) / 2**20:+.1f} MiB, threads and descriptors {first[1]} -> {last[1]}"
    print(said, flush=True)
    if player.wrong or last[0] - first[0] > MOST_GROWTH or last[1] != first[1]:
        raise RuntimeError(f"rank {player.rank}: {player.wrong or 'something grows'}")


def goes_on(group: Communicator, wish: bool) -> bool:  # noqa: FBT001 (what the rank wishes)
    """Return whether rank 0 wishes to go on, so that all ranks end after the same operation."""
    import numpy as np

    found = group.broadcast(np.array([wish], dtype=np.uint8)).wait()
    return found is not None and bool(found[0])


def busy(player: Player, group: Communicator, draw: Random, number: int) -> None:
    """Run a number of operations, several of them in flight, and compare their results."""
    waiting: deque[tuple[Call, Work]] = deque()
    for index in range(OF_A_GROUP):
        call = random_call(draw, number * OF_A_GROUP + index)
        waiting.append((call, player.call(group, call)))
        while len(waiting) > draw.randint(0, 8):
            player.check(*waiting.popleft())
    while waiting:
        player.check(*waiting.popleft())


def short(player: Player, schedules: Sequence[Schedule], store: FolderStore, number: int) -> None:
    """Join another group, run some operations, and leave it."""
    draw = drawing(number)
    with Communicator(schedules[:2], rank=player.rank, store=store, name=f"short-{number}", timeout=60) as group:
        for index in range(5):
            call = Call(index, "broadcast", draw.randint(1, 5000), "int32", "sum")
            player.check(call, player.call(group, call))


def resident() -> int:
    """Return how many bytes of memory this process uses."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    sys.exit(main())
