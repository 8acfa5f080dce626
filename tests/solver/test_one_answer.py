"""`optimum`, `generate`, `bounds` and `verify` state the same algbw and bound, and every proof is valid."""

from collections import Counter
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement import demand_for, network
from forestcoll.algorithms.generate import generate, optimum
from forestcoll.algorithms.trees import Trees
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand, NodeDemand
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.solver.generation.growing import TreeSearch
from forestcoll.solver.optimum import solve
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import examples, seeds
from odd_numbers import CHECKS, DIGITS, check_many_digits
from one_answer import disagreement, drawn_arguments, drawn_networks


@examples(100)
@given(drawn_networks(), st.data())
def test_random_networks_give_one_answer(topology: Topology, data: st.DataObject) -> None:
    assert disagreement(topology, data.draw(drawn_arguments(topology)), Counter()) is None


def check(name: str) -> None:
    random = Random(name)  # noqa: S311 (not for security)
    topology = network(random)
    assert disagreement(topology, demand_for(topology, random), Counter()) is None, name


@pytest.mark.parametrize(
    ("block", "numbers"),
    [
        (0, range(5, 15)),
        pytest.param(0, range(20), marks=pytest.mark.slow),  # an allreduce takes three seconds
        *(pytest.param(block, range(500), marks=pytest.mark.slow) for block in range(100, 110)),
    ],
)
def test_networks_of_the_benchmark_give_one_answer(block: int, numbers: range) -> None:
    for number in numbers:
        check(f"{block}/{number}")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("100/46", id="classes-of-links-and-nodes-that-exchange-numbers"),
        pytest.param("108/91", id="a-bad-basis-to-start-from", marks=pytest.mark.slow),
        pytest.param("0/195", id="a-packing-below-the-bound-of-copying-switches"),
        pytest.param("305/317", id="prices-too-far-apart-for-the-dual-simplex-method"),
    ],
)
def test_hard_networks_of_the_benchmark_give_one_answer(name: str) -> None:
    check(name)


def test_an_allreduce_with_few_trees_states_the_algbw_of_its_schedule() -> None:
    """The schedule of one tree per root is at least as fast as its two halves one after the other."""
    best = optimum("mi250:boxes=2,gpus=8", "allreduce", "trees:k=1")
    schedule = generate("mi250:boxes=2,gpus=8", "allreduce", "trees:k=1")
    assert best.algbw == schedule.algbw == verify(schedule).algbw
    assert best.algbw >= 1 / sum(1 / forest.algbw for forest in best.forests)


def test_a_schedule_made_by_the_solver_is_reused() -> None:
    topology, demand = build_topology("dgx-a100:boxes=2"), NodeDemand(Collective.ALLREDUCE)
    best = solve(topology, demand, trees=1)
    assert best.schedule is not None
    assert schedule_for(best) is best.schedule
    proven = schedule_for(best, search=TreeSearch.PROVEN)
    assert proven is not best.schedule
    assert verify(proven).ok
    assert solve(topology, demand).schedule is None


def test_a_larger_max_trees_is_never_worse() -> None:
    best = [optimum("dgx-a100:boxes=2,gpus=3", "allreduce", Trees(most=most)).algbw for most in range(1, 8)]
    assert best == sorted(best)
    each = optimum("dgx-a100:boxes=2,gpus=3", "allreduce", "trees:most=7").by_trees
    assert max(one.algbw for one in each) == best[-1]


def test_a_demand_equals_its_text() -> None:
    topology = build_topology("dgx-a100:boxes=2")
    request = Demand("broadcast", ranks="0-3,8-11", root="b0/gpu0")
    text = "broadcast:ranks='0-3,8-11',root=b0/gpu0"
    assert optimum(topology, request) == optimum("dgx-a100:boxes=2", text)
    assert generate(topology, request).algbw == optimum(topology, request).algbw
    assert optimum(topology, request, "trees:most=1").by_trees[0].ranks == (0, 1, 2, 3, 8, 9, 10, 11)
    shards = Demand(shards={"b0/gpu0": Fraction(1)})
    assert optimum(topology, shards).weights[0] == 1


# Networks with odd numbers, drawn at random: see `odd_numbers`. `make soak` tries many more.


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("seed", seeds(8, 300))
def test_promises_hold_for_odd_numbers(name: str, seed: int) -> None:
    CHECKS[name](Random(seed))  # noqa: S311 (a test)


@pytest.mark.parametrize("digits", DIGITS)
def test_all_searches_take_bandwidths_of_many_digits(digits: int) -> None:
    check_many_digits(Random(digits), digits)  # noqa: S311 (a test)
