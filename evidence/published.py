"""Published figures: the tables of measured bandwidths in `evidence/published`, and numbers that the papers state.

The tables are Tables 2 and 3 of arXiv:2402.06787v1, the first version of *ForestColl* (NSDI 2026). They print the
bandwidths of Figures 10 and 11 of the later version, which prints no numbers.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

from forestcoll.measurement.fit import MeasuredTimes, read_times
from forestcoll.simulation.sizes import size_of

FOLDER = Path(__file__).parent / "published"

TABLES = {"a100": "2 DGX A100", "mi250": "2 MI250, 16+16", "mi250-8-gpus": "2 MI250, 8+8"}
"""The testbed of each table with schedules that forestcoll makes."""

SIZES = {"1M": 2**20, "16M": 2**24, "128M": 2**27, "1G": 2**30}


@dataclass(frozen=True)
class Curve:
    """The published bandwidths of one implementation.

    Attributes:
        implementation: its name in the paper.
        topology: the network, as a spec.
        algorithm: the algorithm of forestcoll that makes the same schedule; "" if there is none.
        collective: the collective.
        algbw: GB/s by size in bytes.
    """

    implementation: str
    topology: str
    algorithm: str
    collective: str
    algbw: dict[int, float]


def curves() -> list[Curve]:
    """Return all published curves, in the order of the tables."""
    found: dict[tuple[str, str, str, str], Curve] = {}
    for name in (*TABLES, "without-schedules"):
        lines = (FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            key = row["implementation"], row["schedule"], row["algorithm"], row["collective"]
            curve = found.setdefault(key, Curve(*key, {}))
            curve.algbw[size_of(row["size"])] = float(row["algbw"])
    return list(found.values())


def measured(table: str) -> list[MeasuredTimes]:
    """Return the published times of a table, with the schedules that forestcoll makes."""
    return read_times([FOLDER / f"{table}.csv"], [])
