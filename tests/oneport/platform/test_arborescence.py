import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.oneport.platform.arborescence import cheapest_tree
from networks import examples


@st.composite
def weighted_graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]], list[int]]:
    count = draw(st.integers(2, 9))
    arcs = {(draw(st.integers(0, head - 1)), head) for head in range(1, count)}
    every = [(tail, head) for tail in range(count) for head in range(1, count) if tail != head]
    arcs |= set(draw(st.lists(st.sampled_from(every), max_size=30)))
    listed = sorted(arcs)
    return count, listed, draw(st.lists(st.integers(0, 9), min_size=len(listed), max_size=len(listed)))


@given(weighted_graphs())
@examples(150)
def test_the_cost_of_a_cheapest_tree_equals_the_bound_of_its_cuts(
    graph: tuple[int, list[tuple[int, int]], list[int]],
) -> None:
    count, arcs, costs = graph
    found = cheapest_tree(range(count), arcs, costs, 0)
    network = nx.DiGraph()
    network.add_weighted_edges_from((*arc, cost) for arc, cost in zip(arcs, costs, strict=True))
    assert sum(costs[place] for place in found.arcs) == nx.minimum_spanning_arborescence(network).size("weight")
    assert sum(costs[place] for place in found.arcs) == sum(weight for weight, _ in found.cuts)
    for (tail, head), cost in zip(arcs, costs, strict=True):
        assert sum(weight for weight, cut in found.cuts if head in cut and tail not in cut) <= cost
    reached = {0}
    for place in found.arcs:
        assert arcs[place][0] in reached
        assert arcs[place][1] not in reached
        reached.add(arcs[place][1])
    assert reached == set(range(count))
