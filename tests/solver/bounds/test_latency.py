from collections import deque

import pytest
from hypothesis import given

from forestcoll.solver.bounds.latency import latency_bound, moore_steps
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import examples, networks


@pytest.mark.parametrize(
    ("spec", "steps", "moore"),
    [
        ("ring:nodes=7", 3, 3),
        ("ring:nodes=7,one_way=true", 6, 6),
        ("complete:nodes=5", 1, 1),
        ("complete:nodes=2", 1, 1),
        ("hypercube:dim=4", 4, 2),
        ("torus:dims=4x4", 4, 2),
        ("complete-bipartite:left=4,right=4", 2, 2),
        ("circulant:nodes=5,offsets=1+2,one_way=true", 2, 2),
    ],
)
def test_direct_networks(spec: str, steps: int, moore: int) -> None:
    bound = latency_bound(build_topology(spec))
    assert (bound.steps, bound.links, bound.moore_steps) == (steps, steps, moore)


def test_switches_do_not_count_as_steps() -> None:
    bound = latency_bound(build_topology("dgx-a100:boxes=2"))
    assert (bound.steps, bound.links, bound.moore_steps) == (1, 2, None)
    assert bound.degree is None


def test_a_network_that_reaches_the_moore_bound() -> None:
    assert moore_steps(10, 3, both_ways=True) == 2  # Petersen's graph: 1 + 3 + 3 * 2
    assert moore_steps(11, 3, both_ways=True) == 3
    assert moore_steps(7, 2, both_ways=False) == 2  # 1 + 2 + 4
    assert moore_steps(8, 2, both_ways=False) == 3
    assert moore_steps(1024, 4, both_ways=False) == 5


def distances(topology: Topology, source: int, *, switches_cost: int) -> dict[int, int]:
    """Return the distance of each node from `source`, by one search of its own."""
    found, waiting = {source: 0}, deque([source])
    while waiting:
        node = waiting.popleft()
        for link in topology.links:
            cost = 1 if topology.nodes[link.target].is_compute else switches_cost
            if link.source == node and found[node] + cost < found.get(link.target, 10**6):
                found[link.target] = found[node] + cost
                waiting.append(link.target)
    return found


@examples(80)
@given(networks())
def test_searches_from_all_nodes_together_find_the_same_as_one_search_each(topology: Topology) -> None:
    bound = latency_bound(topology)
    pairs = {
        (source, target): distances(topology, source, switches_cost=0)[target]
        for source in topology.compute
        for target in topology.compute
    }
    assert bound.steps == max(pairs.values())
    assert bound.farthest == next(pair for pair, steps in pairs.items() if steps == bound.steps)
    links = (distances(topology, source, switches_cost=1)[target] for source, target in pairs)
    assert bound.links == max(links)
