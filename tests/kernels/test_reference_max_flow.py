import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.kernels.reference.network import max_flow, with_arcs
from networks import examples
from oracles import Arc, exit_of

ARCS = st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda arc: arc[0] != arc[1])
CAPACITIES = st.one_of(st.integers(0, 5), st.integers(0, 10**12), st.sampled_from([1, 10**40]))


@examples(500)
@given(st.dictionaries(ARCS, CAPACITIES, max_size=30), st.just(0), st.integers(1, 6))
def test_max_flow_equals_that_of_networkx(capacities: dict[Arc, int], source: int, sink: int) -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from([source, sink])
    graph.add_edges_from((*arc, {"capacity": capacity}) for arc, capacity in capacities.items())
    value, source_side = max_flow(capacities, source, sink)
    assert value == nx.maximum_flow_value(graph, source, sink)
    assert source in source_side
    assert sink not in source_side
    assert exit_of(frozenset(source_side), capacities) == value


def test_the_minimum_cut_is_the_one_nearest_to_the_sink() -> None:
    value, source_side = max_flow({(0, 1): 1, (1, 2): 1, (2, 3): 1}, 0, 3)
    assert (value, source_side) == (1, {0, 1, 2})


def test_extra_arcs_add_up_and_do_not_change_the_network() -> None:
    capacities = {(0, 1): 2}
    assert with_arcs(capacities, [(0, 1, 3), (1, 0, 4)]) == {(0, 1): 5, (1, 0): 4}
    assert capacities == {(0, 1): 2}
