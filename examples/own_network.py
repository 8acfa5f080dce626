"""Describe your own network as a networkx graph, find its optimum, and write and verify a schedule that reaches it.

The network has two hosts with four GPUs each. Within a host every pair of GPUs has a direct link. The first GPU of each
host has a network card that is connected to a switch. One of the two cards is slower.
"""

import sys
from itertools import combinations
from pathlib import Path

import networkx as nx

from forestcoll import generate, optimum, write_schedule
from forestcoll.schedule import shape_of
from forestcoll.topology import from_networkx
from forestcoll.verification import read_verified


def network() -> nx.Graph:
    """Return the network. An undirected edge is a full-duplex edge."""
    graph = nx.Graph(name="two hosts", bandwidth_unit="GB/s")
    graph.add_node("switch", kind="switch")
    for host, card in ((0, 25), (1, "12.5")):  # strings and integers are exact
        gpus = [f"host{host}/gpu{gpu}" for gpu in range(4)]
        graph.add_nodes_from(gpus, box=host)
        graph.add_edges_from(combinations(gpus, 2), bandwidth=50)
        graph.add_edge(gpus[0], "switch", bandwidth=card)
    return graph


def main(path: Path) -> None:
    """Find the optimum, write a schedule that reaches it to `path`, and verify the file."""
    topology = from_networkx(network())
    best = optimum(topology)
    trees = f"{best.trees_per_root} tree{'s' * (best.trees_per_root != 1)}"
    print(f"optimum: {best.algbw} {topology.bandwidth_unit} with {trees} per root")
    inside = [number for number in best.cut if topology.nodes[number].is_compute]
    print(f"bottleneck: {best.exit_bandwidth} {topology.bandwidth_unit} leave {topology.ids(inside)}")

    schedule = generate(topology)
    write_schedule(schedule, path)
    shape = shape_of(schedule)
    print(f"{path.name}: {shape.trees} trees, {shape.greatest_height} sends high at most")
    _, report = read_verified(path)
    print(f"verified; reaches the optimum: {report.optimal}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("schedule.json"))
