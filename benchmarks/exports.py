"""Default exports: the sizes that they match, and their speed in the program model next to the schedule's.

    python benchmarks/exports.py [--to TARGET] [--boxes 1,2,4] [--collectives C,...] [--machines M,...]

Prints docs/tables/exports-msccl-xml.csv or docs/tables/exports-mscclpp-json.csv, one row for each machine (also with
options, as `dgx-h100:nvls=true`), number of boxes and collective, for schedules that are made for the runtime, as
`export` of a network makes them. A row matches if the runtime uses the file for all powers of two from 64 KiB to 4 GiB
with elements of 2 and 4 bytes. Programs for MSCCL are in the dialect `rccl` for AMD's machines and `microsoft` for
others, unless `--to` has options.
"""

import argparse
import csv
import sys
import tempfile
import time
from pathlib import Path

from forestcoll import Export, export, generate
from forestcoll.demand.demand import Demand
from forestcoll.programs import judge_file

MACHINES = ("dgx-a100", "dgx-h100", "mi250", "mi300x")
COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all")
COLUMNS = "network,collective,chunks,blocks,least size,matches,1 MB,64 MB,1 GB,share,of the schedule,valid,s"
POWERS = [2**power for power in range(16, 33)]


def main() -> None:
    """Print the table."""
    options = _options()
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(COLUMNS.split(","))
    for machine in options.machines.split(","):
        for boxes in options.boxes.split(","):
            for collective in options.collectives.split(","):
                name, _, rest = machine.partition(":")
                spec = f"{name}:boxes={boxes}" + f",{rest}" * bool(rest)
                table.writerow(_row(spec, collective, options.to))
                sys.stdout.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", default="msccl-xml", help="the format, with its options")
    parser.add_argument("--boxes", default="1,2,4", help="numbers of boxes")
    parser.add_argument("--collectives", default=",".join(COLLECTIVES), help="collectives")
    parser.add_argument("--machines", default=",".join(MACHINES), help="builders of machines")
    return parser.parse_args()


def _row(spec: str, collective: str, to: str) -> list[str]:
    root = 0 if collective in {"broadcast", "reduce"} else None
    schedule = (
        generate(spec, "all-to-all") if collective == "all-to-all" else generate(spec, Demand(collective, root=root))
    )
    target = "msccl-xml:dialect=rccl" if to == "msccl-xml" and spec.startswith("mi") else to
    start = time.process_time()
    done = export(schedule, target, is_generated=True)
    seconds = time.process_time() - start
    blocks = max(len(rank.blocks) for rank in done.lowering.program.ranks)
    speeds = [f"{each.algbw:.1f}" for each in done.expected] or ["-"] * 3
    bounds = (float(done.lowering.schedule_algbw), *(each.schedule_algbw for each in done.expected[-1:]))
    shares = [f"{100 * done.expected[-1].algbw / each:.1f} %" for each in bounds] if done.expected else ["-"] * 2
    matches = "yes" if done.sizes is not None and all(map(done.sizes.match, POWERS)) else "no"
    least = "-" if done.sizes is None else str(done.sizes.least)
    cells = [spec, collective, str(done.chunks), str(blocks), least, matches, *speeds, *shares, _valid(done, root)]
    return [*cells, f"{seconds:.1f}"]


def _valid(done: Export, root: int | None) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program"
        done.write(path)
        return "yes" if judge_file(path, dialect=done.dialect, root=root).fault is None else "no"


if __name__ == "__main__":
    main()
