"""Print docs/tables/tuning.csv: how far `tune` is from the lower bound, for each machine and collective.

Goal: at most twice the lower bound below 64 MiB, and at most 1.1 times from there on. `benchmarks/tuning.py` prints all
rows, and `benchmarks/tuning.py dgx-a100:boxes=2` those of some networks. Times are processor seconds.
"""

import csv
import sys
import time
from collections.abc import Iterable

from forestcoll.base.units import size_name
from forestcoll.tuning import SIZES, Tuning
from forestcoll.tuning.tune import tune

NETWORKS = tuple(
    f"{machine}:boxes={boxes}" for machine in ("dgx-a100", "dgx-h100", "mi250", "mi300x") for boxes in (1, 2)
)
COLUMNS = "network,collective,ranges,below 64 MiB,from 64 MiB on,at 4 GiB,processor seconds"
COLLECTIVES = ("allgather", "reduce-scatter", "allreduce")

LARGE = 2**26
"""The least large size, in bytes."""


def worst(found: Tuning, places: Iterable[int]) -> str:
    """Return the greatest ratio at some sizes, with its size."""
    place = max(places, key=found.ratio)
    return f"{found.ratio(place):.2f} ({size_name(found.sizes[place])})"


def main() -> None:
    """Print one line for each network and collective."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(COLUMNS.split(","))
    for spec in sys.argv[1:] or NETWORKS:
        for collective in COLLECTIVES:
            started = time.process_time()
            found = tune(spec, collective)
            taken = time.process_time() - started
            first = next(place for place, size in enumerate(SIZES) if size >= LARGE)
            ratios = worst(found, range(first)), worst(found, range(first, len(SIZES))), f"{found.ratio(-1):.2f}"
            table.writerow([spec, collective, len(found.ranges), *ratios, f"{taken:.0f}"])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
