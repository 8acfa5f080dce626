"""One shot over relays computes the right data, and makes half of the sends of trees to a root and back."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import generate, tune
from forestcoll.programs.interpreter import check
from forestcoll.simulation import Costs
from forestcoll.simulation.program.events import run_in_time
from forestcoll.simulation.program.paths import Paths
from forestcoll.tuning.relayed import relayed_one_shot
from forestcoll.tuning.streams import Edges
from networks import examples


@st.composite
def trees(draw: st.DrawFn) -> list[Edges]:
    """For each of some ranks, a random tree whose root is the rank."""
    ranks = draw(st.integers(2, 7))
    found: list[Edges] = []
    for root in range(ranks):
        order = [root, *draw(st.permutations([rank for rank in range(ranks) if rank != root]))]
        parents = [order[draw(st.integers(0, place))] for place in range(ranks - 1)]
        found.append(list(zip(parents, order[1:], strict=True)))
    return found


@given(forest=trees(), pieces=st.integers(1, 3))
@examples(100)
def test_the_sums_are_right_in_place_and_out_of_place(forest: Sequence[Edges], pieces: int) -> None:
    program = replace(relayed_one_shot(forest, pieces), in_place=True, out_of_place=True)
    assert check(program).fault is None


@given(forest=trees())
@examples(30)
def test_no_instruction_waits_for_more_than_one_block(forest: Sequence[Edges]) -> None:
    assert all(len(each.after) <= 1 for *_, each in relayed_one_shot(forest, 2).instructions())


def test_data_makes_the_sends_of_one_way_and_is_added_up_in_pairs() -> None:
    """Vectors are copied, make three sends of 6 us to the end of a row, are received, and added up in three steps."""
    row: list[Edges] = [
        [(0, 1), (1, 2), (2, 3)],
        [(1, 0), (1, 2), (2, 3)],
        [(2, 1), (2, 3), (1, 0)],
        [(3, 2), (2, 1), (1, 0)],
    ]
    paths = Paths.of(generate("ring:nodes=4", "allreduce"))
    seconds = run_in_time(relayed_one_shot(row, 1), paths, 4, Costs(alpha_us=5, overhead_us=1)).seconds
    assert seconds * 1e6 == pytest.approx(1 + 3 * 6 + 1 + 3, abs=0.02)


def test_small_messages_use_relays_where_ranks_do_not_reach_each_other_directly() -> None:
    found = tune("ring:nodes=5", "allreduce", [2**10, 2**22])
    assert found.ranges[0].candidate == "exchange-relayed"
    assert found.ranges[-1].candidate != "exchange-relayed"
    directly = dict(tune("complete:nodes=3", "allreduce", [2**10]).skipped)
    assert directly["exchange-relayed"] == "all ranks reach each other directly"
