"""Compare the best schedule for a size with all algorithms of `compare`: 20 networks, 4 collectives, 12 sizes.

`make bench SUBJECT=by_size`, with ARGS for some networks only. Goals: no algorithm is faster by more than 0.5 %; the
median of the lower bound over the time is at least 0.85; and to find, verify, write and simulate the schedule for one
size takes at most 3 s of CPU time for 32 compute nodes.
"""

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "common"))
from best_cells import LOSS, Cell, cells_of, seconds_for_one_size

NETWORKS = (
    "dgx-a100:boxes=2",
    "dgx-a100:boxes=3,gpus=5",
    "dgx-h100:boxes=4",
    "dgx-h100:boxes=2,nvls=true",
    "dgx-1:boxes=1",
    "dgx-1:boxes=2",
    "dgx-2:boxes=2,gpus=6",
    "mi250:boxes=1",
    "mi250:boxes=2",
    "mi250:boxes=2,gpus=8",
    "mi300x:boxes=1",
    "mi300x:boxes=3",
    "aws-p4d:boxes=2",
    "hgx-a100-4:boxes=4",
    "superpod-h100:boxes=2",
    "trainium2:boxes=1",
    "torus:dims=3x5",
    "kautz:degree=2,length=2",
    "rail:boxes=3,gpus=4",
    "fat-tree:levels=2,arity=4,oversubscription=2",
)

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "all-to-all")

SIZES = (
    3_000,
    2**14,
    100_000,
    2**19,
    1_500_000,
    2**22,
    10_000_000,
    2**25,
    100_000_000,
    300_000_000,
    2**30,
    4_000_000_000,
)


def main(networks: Sequence[str]) -> None:
    """Print the cells that miss a goal, and the medians."""
    found: list[Cell] = []
    slowest = 0.0
    for spec in networks or NETWORKS:
        for collective in COLLECTIVES:
            cells = list(cells_of(spec, collective, SIZES))
            slowest = max(slowest, seconds_for_one_size(spec, collective, 1_500_000))
            found += cells
            worst = max(cells, key=lambda cell: cell.ratio)
            share = statistics.median(cell.share for cell in cells)
            against = f"{worst.ratio:.4f} of the time of {worst.rival}" if worst.rival else "no algorithm applies"
            print(f"{spec} {collective}: median of the bound {share:.2f}, at most {against}", flush=True)
            for cell in cells:
                if cell.ratio > LOSS:
                    print(f"  SLOWER {cell.place}: {cell.method} / {cell.rival} = {cell.ratio:.4f}")
    shares = [cell.share for cell in found]
    print(f"{len(found)} cells: median of the bound {statistics.median(shares):.3f}, least {min(shares):.3f}")
    print(f"slower than an algorithm by more than 0.5 %: {sum(cell.ratio > LOSS for cell in found)}")
    print(f"most CPU time for one size: {slowest:.2f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
