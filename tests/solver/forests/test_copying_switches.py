"""Unbalanced switches that copy or add up: the optimum is between that of trees without copies and the cut bound."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from forestcoll.algorithms.generate import generate, optimum
from forestcoll.algorithms.trees import Trees
from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.demand.demand import Demand
from forestcoll.topology import Topology
from forestcoll.verification import verify
from networks import SMALL, built, examples, linked
from oracles import algbw_of_cut, best_of_group, check_bound


def fan(receivers: int, *, able: bool) -> Topology:
    """A root with a link of 1 to a switch, which has a link of 1 to each receiver, and links of 1 back to the root."""
    names = [str(number) for number in range(receivers)]
    links = "root>switch " + " ".join(f"switch>{name} {name}>root" for name in names)
    return linked(" ".join(["root", *names]), links, switches="switch", able=able)


def test_a_switch_that_copies_sends_to_all_receivers_at_full_rate() -> None:
    topology = fan(3, able=True)
    best = optimum(topology, "broadcast:root=root")
    assert best.algbw == best.bound.algbw == 1
    schedule = generate(topology, "broadcast:root=root")
    assert verify(schedule).optimal
    (tree,) = schedule.phases[0]
    assert schedule.routes[tree.routes[0]] == (0, 4)
    assert len(tree.routes) == 4


def test_a_switch_that_adds_up_receives_from_all_senders_at_full_rate() -> None:
    topology = fan(3, able=True).transposed()
    schedule = generate(topology, "reduce:root=root")
    assert schedule.algbw == 1
    assert verify(schedule).optimal


def test_a_switch_that_cannot_copy_divides_its_input_among_the_receivers() -> None:
    best = optimum(fan(3, able=False), "broadcast:root=root")
    assert best.algbw == best.bound.algbw == Fraction(1, 3)
    assert best.bound.proof.kind == "tree-dual"
    assert algbw_of_cut(best) == 1
    check_bound(best)
    assert verify(generate(best.topology, "broadcast:root=root")).ok


@st.composite
def unbalanced(draw: st.DrawFn) -> Topology:
    """Up to five compute nodes on a ring, and up to two switches that can do anything, with links of any bandwidth."""
    compute, switches = draw(st.integers(2, 5)), draw(st.integers(1, 2))
    links = [(node, (node + 1) % compute, draw(SMALL)) for node in range(compute)]
    able = range(compute, compute + switches)
    for switch in able:
        links += [(node, switch, draw(SMALL)) for node in draw(st.sets(st.integers(0, switch - 1)))]
        links += [(switch, node, draw(SMALL)) for node in draw(st.sets(st.integers(0, switch - 1)))]
    return built(range(able.stop), one_way=links, switches=able, able=True)


@pytest.mark.parametrize("collective", list(SCHEDULED))
@examples(100)
@given(unbalanced())
def test_the_optimum_is_reached_and_its_bound_is_right(collective: Collective, topology: Topology) -> None:
    demand = Demand(collective, root=0 if collective.has_root else None)
    best = optimum(topology, demand)
    schedule = generate(topology, demand)
    report = verify(schedule)
    assert report.fault is None
    check_bound(best)
    assert best.algbw == schedule.algbw
    shards = (
        {0: Fraction(1)} if collective.has_root else dict.fromkeys(topology.compute, Fraction(1, len(topology.compute)))
    )
    if collective is not Collective.ALLREDUCE:
        expected = best_of_group(topology, topology.compute, shards, reduces=collective.only_reduces)
        assert algbw_of_cut(best) == expected


@examples(60)
@given(unbalanced(), st.integers(1, 4))
def test_a_number_of_trees(topology: Topology, trees: int) -> None:
    try:
        best = optimum(topology, "broadcast:root=0", Trees(k=trees))
    except NoSolutionError:
        raise UnsatisfiedAssumption from None
    schedule = generate(topology, "broadcast:root=0", Trees(k=trees))
    assert verify(schedule).fault is None
    check_bound(best)
    assert best.algbw == schedule.algbw
    assert sum(1 / tree.share for tree in schedule.phases[0]) >= 1


@examples(60)
@given(unbalanced())
def test_switches_that_copy_are_never_slower(topology: Topology) -> None:
    plain = replace(topology).without_abilities()
    copying, passing = optimum(topology), optimum(plain)
    assert passing.algbw == passing.bound.algbw <= copying.algbw <= copying.bound.algbw
    assert copying.bound.algbw <= algbw_of_cut(copying) == algbw_of_cut(passing)
    if plain.has_balanced_switches:
        assert copying.algbw == passing.algbw


def test_a_few_trees_are_tried_where_the_search_misses_the_optimum() -> None:
    links = "c1>c2:7 c2>s0:3 s0>c0:4 c0>s1:2 s1>c1:3 s1>c0:4 s0>c1:2"
    best = optimum(linked("c0 c1 c2", links, switches="s0 s1", able=True))
    assert (best.algbw, best.trees_per_root, best.is_optimal) == (Fraction(9, 2), 1, True)
    assert verify(generate(best.topology)).algbw == best.algbw
