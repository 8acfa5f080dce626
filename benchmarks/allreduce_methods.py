"""Compare the methods of an allreduce where all nodes take part: halves, split and packed trees (docs/method.md, 7.3).

    python benchmarks/allreduce_methods.py

Each line has the rate as a part of the bound, the trees of both phases, k, the greatest and the mean height of a tree,
and the processor time. The last networks are random, with full duplex links.
"""

import sys
import time
from dataclasses import replace
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "common"))

from forestcoll.algorithms.generate import optimum
from forestcoll.base.progress import SILENT
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.tree_dual import Roles
from forestcoll.schedule.shape_of import shape_of
from forestcoll.solver.allreduce.linear_program import allreduce_optimum
from forestcoll.solver.allreduce.search import Halves, Method, Packed, Split
from forestcoll.solver.allreduce.tree_packing.packing import packed_trees
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology
from forestcoll.topology.symmetry.orbits import Orbits
from networks import drawn_network

SPECS = ("mesh:dims=4x4", "mesh:dims=8x8", "mesh:dims=3x4x5", "mi250:boxes=3,gpus=12")


def circles(nodes: int, most: int) -> Topology:
    """Return two random circles of all nodes, with random bandwidths from 1 to `most`."""
    random, builder = Random(nodes), TopologyBuilder(f"two circles of {nodes} nodes")  # noqa: S311 (not for security)
    for node in range(nodes):
        builder.add_compute(node)
    for _ in range(2):
        order = random.sample(range(nodes), nodes)
        for one, other in zip(order, order[1:] + order[:1], strict=True):
            builder.add_duplex(one, other, random.randint(1, most))
    return builder.build()


def method_of(name: str, topology: Topology, orbits: Orbits, bound: Bound) -> Method | None:
    """Return one of the methods, or None if its linear program has no exact solution."""
    if name == "halves":
        return Halves.of(topology, SILENT)
    if name == "packed":
        return Packed(topology, packed_trees(topology, orbits, bound.algbw, SILENT).packing)
    roles = Roles.of(topology)
    plan = allreduce_optimum(topology, roles, orbits=orbits).plan
    return None if plan is None else Split(topology, plan, roles, SILENT)


def compare(topology: Topology) -> None:
    """Print a line for each method."""
    best = optimum(topology, "allreduce")
    orbits = Orbits.of(topology)
    print(f"{topology.name}: bound {best.bound.algbw} ({best.bound.proof.kind})")
    for name in ("halves", "split", "packed"):
        start = time.process_time()
        method = method_of(name, topology, orbits, best.bound)
        if method is None:
            continue
        candidate = method.candidate()
        seconds = time.process_time() - start
        forests, packing = candidate.forests, candidate.packing
        found = replace(best, algbw=candidate.algbw, forests=forests, packing=packing, spare=())
        schedule = schedule_for(found)
        shape = shape_of(schedule)
        part = float(schedule.algbw / best.bound.algbw)
        numbers = f"{shape.trees} trees, k {found.trees_per_root}, heights {shape.greatest_height} and "
        numbers += f"{shape.mean_height:.1f} on average"
        print(f"  {name:7} {part:.4f}, {numbers}, {seconds:.2f} s", flush=True)


def main() -> None:
    """Compare all networks."""
    networks = [build_topology(spec) for spec in SPECS]
    networks += [drawn_network(6, nodes=96, kinds="c", one_way=False), circles(32, 20), circles(128, 1)]
    for topology in networks:
        compare(topology)


if __name__ == "__main__":
    main()
