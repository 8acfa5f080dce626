"""How long do what-if studies take, by network?

    python benchmarks/what_if.py [--quick]

One line for each study: the network, the question, how many rows there are and how many changes they stand for, and the
seconds of the whole study. The last networks have a failed link or leaves that are partly used, so fewer symmetries.
The goals: all single links of two DGX A100 in a second, and of 1,024 GPUs in thirty.
"""

import argparse
import time
from collections.abc import Callable

from forestcoll import additions, failures, load_topology, upgrades
from forestcoll.topology import TopologyLike
from forestcoll.what_if.study import Study
from forestcoll.what_if.upgrades import UpgradeStudy

SMALL: list[TopologyLike] = ["dgx-a100:boxes=2", "mi250:boxes=2", "torus:dims=4x4x4"]
LARGE: list[TopologyLike] = ["dgx-a100:boxes=128", "superpod-h100:boxes=128", "mi250:boxes=64"]

STUDIES: dict[str, Callable[[TopologyLike], Study | UpgradeStudy]] = {
    "fail links": failures,
    "fail switches": lambda network: failures(network, "switches"),
    "fail two links": lambda network: failures(network, at_once=2),
    "upgrade": upgrades,
    "add a link": additions,
}


def report(network: TopologyLike, question: str) -> None:
    """Print the line of one study."""
    started = time.perf_counter()
    found = STUDIES[question](network)
    seconds = time.perf_counter() - started
    changes = sum(row.count for row in found.rows)
    print(f"{found.topology.name:60.60} {question:15} {len(found.rows):5} rows {changes:8} changes {seconds:7.2f} s")


def main() -> None:
    """Run the studies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small networks only")
    quick = parser.parse_args().quick
    for network in SMALL:
        for question in STUDIES:
            if question != "fail switches" or load_topology(network).switches:
                report(network, question)
    if quick:
        return
    for network in LARGE:
        for question in ("fail links", "fail switches", "upgrade"):
            report(network, question)
    irregular = load_topology("superpod-h100:boxes=125").without("b3/gpu3--leaf3")
    for question in ("fail links", "fail switches", "add a link"):
        report(irregular, question)


if __name__ == "__main__":
    main()
