"""TE-CCL: least numbers of epochs by brute force, known values, gaps and limits."""

from fractions import Fraction
from itertools import combinations, product

import pytest
from made import all_collectives, verified

from forestcoll import Topology, compare, load_topology, optimum, verify
from forestcoll.algorithms.baseline import default_baselines
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.te_ccl import solved
from forestcoll.demand.demand import Demand
from networks import linked

SMALL = [
    linked("a b c", "a>b b>c c>a"),
    linked("a b c", "a>c b>a c>b c>a"),
    linked("a b c", "a=b b=c"),
    linked("a b c", "a=b:2 b=c"),
    linked("a b c", "a>b:3 b>c c>a:2 b>a"),
    linked("a b c d", "a>b b>c c>d d>a"),
    linked("a b c d", "a>b b>c:2 c>d d>a c>a:2"),
]


def fewest_epochs(topology: Topology, chunks: int) -> int:
    """Return the least number of epochs, as long as a chunk takes on a link of bandwidth 1, by trying all sends."""
    nodes = range(len(topology.compute))
    everything = frozenset(range(len(nodes) * chunks))
    states = {tuple(frozenset(range(node * chunks, (node + 1) * chunks)) for node in nodes)}
    epochs = 0
    while (everything,) * len(nodes) not in states:
        states = {after for state in states for after in _after(topology, state)}
        epochs += 1
    return epochs


def _after(topology: Topology, state: tuple[frozenset[int], ...]) -> set[tuple[frozenset[int], ...]]:
    sends = []
    for link in topology.links:
        missing = sorted(state[link.source] - state[link.target])
        sends.append(list(combinations(missing, min(int(link.bandwidth), len(missing)))))
    found = set()
    for chosen in product(*sends):
        held = [set(each) for each in state]
        for link, chunks in zip(topology.links, chosen, strict=True):
            held[link.target].update(chunks)
        found.add(tuple(frozenset(each) for each in held))
    return found


@pytest.mark.parametrize("topology", SMALL)
@pytest.mark.parametrize("chunks", [1, 2])
def test_no_schedule_has_fewer_epochs(topology: Topology, chunks: int) -> None:
    made = solved(problem_of(topology), chunks)
    assert made is not None
    assert verify(made.schedule).fault is None
    by_force = Fraction(chunks * len(topology.compute), fewest_epochs(topology, chunks))
    assert made.algbw is not None
    assert made.algbw >= by_force
    if {link.bandwidth for link in topology.links} == {1}:  # else, short epochs may be better
        assert made.algbw == by_force
        assert made.note.startswith("HiGHS reports an optimum for ")


def test_one_way_links_in_both_directions() -> None:
    """A reduce-scatter is made on the transposed network, which is another one."""
    network = linked("a b c d", "a>b b>c:2 c>d d>a c>a:2")
    gather, scatter, both = (verified("te-ccl", problem_of(network, each)).algbw for each in all_collectives())
    assert gather is not None
    assert scatter is not None
    assert both == 1 / (1 / gather + 1 / scatter)


def test_a_search_that_stops_early_states_its_gap() -> None:
    made = solved(problem_of("dgx-a100:boxes=2,gpus=2"), 1, searched=0)
    assert made is not None
    assert made.note.startswith("HiGHS ")
    proven = solved(problem_of("dgx-a100:boxes=2,gpus=2"), 1)
    assert proven is not None
    assert made.algbw is not None
    assert proven.algbw is not None
    assert made.algbw <= proven.algbw


def test_only_a_comparison_that_names_it_has_its_row() -> None:
    assert "te-ccl" not in {each.name for each in default_baselines(4)}
    row = compare("ring:nodes=4", baselines=["te-ccl"]).row("te-ccl")
    assert row.valid
    assert row.reason.endswith(
        "HiGHS reports an optimum for 2 chunks of each node and 3 epochs; the algbw is that of the epochs"
    )


def test_some_of_the_compute_nodes() -> None:
    network = load_topology("dgx-a100:boxes=2")
    ids = [network.nodes[network.compute[place]].id for place in (0, 1, 8, 9)]
    demand = Demand("allreduce", ranks=ids)
    found = verified("te-ccl", Problem(network, demand.bind(network)[1]))
    assert found.algbw is not None
    assert found.algbw <= optimum(network, demand).algbw
