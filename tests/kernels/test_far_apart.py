"""The bottleneck cut of networks whose nodes are far apart, where a flow draws from nodes at many distances."""

from fractions import Fraction

from flow_problems import problem_of
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.kernels import core_for, cores
from networks import examples
from oracles import Arc, exit_of

CORES = cores()


@st.composite
def long_rings(draw: st.DrawFn) -> tuple[int, dict[Arc, int]]:
    """A ring of 8 to 40 nodes with different bandwidths in both directions, and a few links across."""
    nodes = draw(st.integers(8, 40))
    bandwidths = st.integers(1, 9)
    arcs = {(node, (node + step) % nodes): draw(bandwidths) for node in range(nodes) for step in (1, -1)}
    numbers = st.integers(0, nodes - 1)
    for tail, head in draw(st.lists(st.tuples(numbers, numbers), max_size=3)):
        if tail != head:
            arcs[tail, head] = draw(bandwidths)
    return nodes, arcs


@examples(300)
@given(long_rings(), st.data())
def test_cores_agree(network: tuple[int, dict[Arc, int]], data: st.DataObject) -> None:
    nodes, arcs = network
    terminals = sorted(data.draw(st.sets(st.integers(0, nodes - 1), min_size=2)))
    ratios = set()
    for core in CORES.values():
        inside, leaving, cut = core.bottleneck(problem_of(core, nodes, arcs, terminals))
        assert inside == len({*terminals} & {*cut}) < len(terminals)
        assert leaving == exit_of(frozenset(cut), arcs)
        ratios.add(Fraction(inside, leaving))
    assert len(ratios) == 1


def test_the_cut_of_a_large_ring() -> None:
    # If a flow took one phase for each distance, this test would not end within the time limit of a test.
    nodes = 6000
    arcs = {(node, (node + step) % nodes): 1 for node in range(nodes) for step in (1, -1)}
    core = core_for(nodes**2)
    inside, leaving, cut = core.bottleneck(problem_of(core, nodes, arcs, range(nodes)))
    assert (inside, leaving, len(cut)) == (nodes - 1, 2, nodes - 1)
