"""Table 1 of *ForestColl*: the algbw of an allgather on two MI250 boxes for a fixed number of trees per root."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from forestcoll.solver.optimum import optima_by_trees, optimum

PRINTED = {1: 320, 2: 341, 3: 343, 4: 341, 5: 348, 83: 354}
"""GB/s by number of trees per root; 83 trees reach the optimum."""


def made(_folder: Path, _largest: int) -> tuple[Figure | None, Sequence[str]]:
    """Return the table; it has no picture."""
    best = optimum("mi250:boxes=2")
    ours = {each.trees_per_root: each.algbw for each in optima_by_trees("mi250:boxes=2", most=5)}
    ours[best.trees_per_root] = best.algbw
    lines = ["| trees per root | exact algbw here (GB/s) | here | printed |", "| ---: | ---: | ---: | ---: |"]
    lines += [f"| {count} | {ours[count]} | {float(ours[count]):.1f} | {algbw} |" for count, algbw in PRINTED.items()]
    return None, lines
