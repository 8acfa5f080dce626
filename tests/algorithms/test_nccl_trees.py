"""NCCL's trees, edge by edge: the parent of each rank in both trees, as NCCL 2.28 to 2.32 print them."""

import pytest
from made import made

from forestcoll.algorithms.generate import problem_of
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import Topology, TopologyBuilder

PRINTED = {
    (4, 1): ([-1, 2, 0, 2], [1, 3, 1, -1]),
    (9, 1): ([-1, 2, 4, 2, 8, 6, 4, 6, 0], [1, -1, 3, 5, 3, 0, 7, 5, 7]),
    (2, 3): ([-1, 0, 1, 0, 3, 4], [3, 0, 1, -1, 3, 4]),
    (3, 2): ([-1, 0, 5, 2, 0, 4], [2, 0, -1, 2, 1, 4]),
    (4, 2): ([-1, 0, 5, 2, 0, 4, 4, 6], [2, 0, 6, 2, 3, 4, -1, 6]),
    (6, 2): ([-1, 0, 5, 2, 9, 4, 4, 6, 0, 8, 8, 10], [2, 0, 10, 2, 6, 4, 3, 6, 7, 8, -1, 10]),
    (4, 4): (
        [-1, 0, 1, 2, 9, 4, 5, 6, 0, 8, 9, 10, 8, 12, 13, 14],
        [4, 0, 1, 2, 12, 4, 5, 6, 5, 8, 9, 10, -1, 12, 13, 14],
    ),
}
"""The parents in both trees by (hosts, GPUs of a host), as NCCL 2.30.7 and 2.32.3 print them; -1 is the root."""


def hosts_with_one_nic(hosts: int, gpus: int) -> Topology:
    """Return hosts whose GPUs share a switch, and a NIC that joins the host to a fabric."""
    builder = TopologyBuilder("hosts")
    fabric = builder.add_switch("fabric")
    for host in range(hosts):
        switch, nic = (builder.add_switch(f"{host}/{name}", box=host) for name in ("switch", "nic"))
        builder.add_duplex(nic, fabric, 50)
        for gpu in range(gpus):
            node = builder.add_compute(f"{host}/{gpu}", box=host)
            builder.add_duplex(node, switch, 300)
            builder.add_duplex(node, nic, 50)
    return builder.build()


@pytest.mark.parametrize(("hosts", "gpus"), PRINTED)
def test_the_trees_have_the_edges_that_nccl_prints(hosts: int, gpus: int) -> None:
    schedule = made("nccl-tree", problem_of(hosts_with_one_nic(hosts, gpus), "allreduce"))
    assert isinstance(schedule, TreeSchedule)
    broadcast = schedule.phases[-1]
    ranks = {node: rank for rank, node in enumerate(schedule.topology.compute)}
    found = []
    for tree in range(len(broadcast.roots)):
        parents = [-1] * len(ranks)
        for number in broadcast.routes[tree]:
            route = schedule.routes[number]
            parents[ranks[route[-1]]] = ranks[route[0]]
        found.append(parents)
    assert tuple(found) == PRINTED[hosts, gpus]
