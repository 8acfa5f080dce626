"""The same network with its nodes in another order has the same number of trees."""

from itertools import permutations

import pytest

from forestcoll import Topology, optimum
from forestcoll.solver.forests.node_order import NodeOrder
from forestcoll.solver.forests.scaling import ScaledTopology
from networks import built

NETWORKS = [
    (4, 1, "0-1-3 1-2-3 2-3-4 3-4-2 4-0-1 0-1-4 0-1-4 1-0-2 4-0-4 1-4-2 3-0-4 4-3-3 2-3-2"),
    (2, 1, "0-1-4 1-2-3 2-0-3 0-1-1 1-2-3 0-2-4 1-0-2 1-0-1 0-2-4"),
    (4, 2, "0-1-4 1-2-4 2-3-4 3-4-4 4-5-3 5-0-3 1-5-4 1-5-1 1-4-1 3-2-2 3-1-1 2-0-1"),
    (4, 1, "0-1-4 1-2-5 2-3-9 3-4-3 4-0-6 0-3-5 4-3-9 3-0-7 4-1-2 4-0-8 4-1-4"),
    (3, 3, "0-1-3 1-2-2 2-3-8 3-4-3 4-5-10 5-0-8 4-3-2 4-0-7 4-3-7 1-3-7 2-3-4 3-5-4 5-4-3 5-1-9"),
    (3, 2, "0-1-3 1-2-1 2-3-2 3-4-7 4-0-7 1-3-9 4-2-6 2-4-2"),
    (3, 2, "0-1-5 1-2-10 2-3-10 3-4-5 4-0-5 3-1-1 1-0-3 1-3-9 4-2-2 3-1-2 3-0-6 0-2-5 1-0-9"),
    (2, 1, "0-1-226 1-2-369 2-0-421 1-0-389 0-2-995 2-1-524 1-2-796"),
    (3, 3, "0-1-4 1-2-3 2-3-4 3-4-2 4-5-4 5-0-3 0-3-3 2-4-1 3-0-1 4-1-4 1-4-3 3-0-1"),
    (2, 3, "0-1-3 1-2-2 2-3-1 3-4-3 4-0-4 3-2-4 2-0-4 4-0-4"),
]
"""Networks with unbalanced switches: compute nodes, switches, and one-way links as source-target-bandwidth.

The number of trees of each depended on the order of its nodes.
"""


def network(compute: int, switches: int, text: str, order: tuple[int, ...]) -> Topology:
    links = [tuple(map(int, link.split("-"))) for link in text.split()]
    return built(order, one_way=links, switches=range(compute, compute + switches))


@pytest.mark.parametrize(("compute", "switches", "text"), NETWORKS)
def test_the_order_of_nodes_does_not_change_the_number_of_trees(compute: int, switches: int, text: str) -> None:
    nodes = range(compute + switches)
    orders = [tuple(nodes), tuple(reversed(nodes)), *list(permutations(nodes))[5:120:100]]
    for collective in ("allgather", "reduce-scatter"):
        best = [optimum(network(compute, switches, text, order), demand=collective) for order in orders]
        assert len({(each.algbw, each.trees_per_root) for each in best}) == 1
        assert best[0].least_trees_per_root <= best[0].trees_per_root


def test_a_network_is_restored_from_the_order_of_its_ids() -> None:
    given = network(*NETWORKS[0][:2], NETWORKS[0][2], (4, 2, 0, 3, 1))
    scaled = ScaledTopology.of(given, (3, 1, 4, 2))
    order = NodeOrder.of(scaled)
    assert [node.id for node in order.scaled.topology.nodes] == [0, 1, 2, 3, 4]
    weights = dict(zip((given.nodes[node].id for node in given.compute), scaled.weights, strict=True))
    moved = order.scaled.topology
    assert weights == dict(zip((moved.nodes[node].id for node in moved.compute), order.scaled.weights, strict=True))
    assert order.restored(moved) == given
    assert order.of_links(order.scaled.capacities) == scaled.capacities


def test_the_lower_bound_of_the_number_of_trees_is_reached_on_a_known_machine() -> None:
    best = optimum("dgx-a100:boxes=2")
    assert best.least_trees_per_root == best.trees_per_root == 13
    assert optimum("dgx-a100:boxes=2", method="trees:k=2").least_trees_per_root == 1
