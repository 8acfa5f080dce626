"""Table 1 of *ForestColl*: the algbw of an allgather on two MI250 boxes for a fixed number of trees per root."""

from exhibits.exhibit import Result, Settings, table, verdict_of
from forestcoll.algorithms.generate import optimum

PRINTED = {1: 320, 2: 341, 3: 343, 4: 341, 5: 348, 83: 354}
"""GB/s by number of trees per root; 83 trees reach the optimum."""


def made(_settings: Settings) -> Result:
    """Return the table; it has no picture."""
    best = optimum("mi250:boxes=2")
    ours = {each.trees_per_root: each.algbw for each in optimum("mi250:boxes=2", method="trees:most=5").by_trees}
    ours[best.trees_per_root] = best.algbw
    rows = [(count, ours[count], f"{float(ours[count]):.1f}", printed) for count, printed in PRINTED.items()]
    equal = sum(round(ours[count]) == printed for count, printed in PRINTED.items())
    summary = (
        f"{equal} of {len(PRINTED)} values are equal after rounding; {best.trees_per_root} trees reach the optimum."
    )
    lines = table(["trees per root", "exact algbw here (GB/s)", "here", "printed"], rows)
    return Result(verdict_of(same=equal == len(PRINTED)), summary, lines)
