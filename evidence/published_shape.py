"""Simulate the measurements of the paper on two DGX A100 boxes (Table 3 of "ForestColl", §5.3): forest and rings.

For each size of the table, the program prints the simulated algbw of the forest and of NCCL's rings, the ratio, and the
published figures. It takes about one second.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.simulation import Costs
from forestcoll.simulation.simulate import simulate
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify

SIZES = {"1M": 2**20, "16M": 2**24, "128M": 2**27, "1G": 2**30}
PUBLISHED = {"1M": (13.1, 3.17), "16M": (92.6, 37.6), "128M": (201.0, 152.0), "1G": (247.0, 187.0)}
"""Allgather algbw in GB/s of ForestColl's schedule on MSCCL, and of NCCL's rings."""


def nccl_rings(boxes: int = 2, gpus: int = 8) -> TreeSchedule:
    """Return NCCL's allgather on DGX A100: rings through all boxes, each of which leaves a box over another card."""
    topology = build_topology(f"dgx-a100:boxes={boxes},gpus={gpus}")
    rings = [
        [topology.compute[box * gpus + (ring + place) % gpus] for box in range(boxes) for place in range(gpus)]
        for ring in range(gpus)
    ]
    routes: dict[tuple[int, ...], int] = {}
    roots: list[int] = []
    trees: list[list[int]] = []
    for ring in rings:
        for place, root in enumerate(ring):
            hops = pairwise(ring[place:] + ring[:place])
            roots.append(root)
            trees.append([routes.setdefault(_route(topology, *hop), len(routes)) for hop in hops])
    shares = (Fraction(1, len(roots)),) * len(roots)
    phase = Phase(PhaseOp.BROADCAST, tuple(roots), shares, Rows.of(trees))
    schedule = TreeSchedule(topology, Collective.ALLGATHER, Rows.of(list(routes)), (phase,), algbw=Fraction(1))
    return replace(schedule, algbw=verify(schedule).algbw or Fraction(0))


def _route(topology: Topology, source: int, target: int) -> tuple[int, ...]:
    boxes = [topology.nodes[node].attributes["box"] for node in (source, target)]
    return source, topology.number("ib" if boxes[0] != boxes[1] else f"b{boxes[0]}/nvswitch"), target


def main() -> None:
    """Print the table."""
    forest, rings = generate(build_topology("dgx-a100:boxes=2")), nccl_rings()
    print("| size | forest | rings | ratio | published: forest, rings, ratio |")
    print("| --- | --- | --- | --- | --- |")
    for name, size in SIZES.items():
        one, two = (simulate(each, [size], Costs())[0].algbw for each in (forest, rings))
        published = PUBLISHED[name]
        printed = f"{published[0]:g}, {published[1]:g}, {published[0] / published[1]:.1f}"
        print(f"| {name} | {one:.3g} | {two:.3g} | {one / two:.1f} | {printed} |")


if __name__ == "__main__":
    main()
