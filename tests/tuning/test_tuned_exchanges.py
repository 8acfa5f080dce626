"""Exchanges, directly or over relays, compute the right data, and need few steps."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import generate
from forestcoll.demand.collective import Collective
from forestcoll.programs.interpreter import check
from forestcoll.simulation import Costs
from forestcoll.simulation.program.events import run_in_time
from forestcoll.simulation.program.paths import Paths
from forestcoll.topology.registry import build_topology
from forestcoll.tuning.exchanges import BoxGrid, exchanges
from forestcoll.tuning.relayed import relayed_one_shot
from forestcoll.tuning.streams import Edges
from networks import examples

REDUCING = (Collective.ALLREDUCE, Collective.REDUCE_SCATTER)


def grid(boxes: int, ranks: int) -> BoxGrid:
    return BoxGrid(tuple(tuple(range(box * ranks, (box + 1) * ranks)) for box in range(boxes)))


def interleaved(boxes: int, ranks: int) -> BoxGrid:
    """Return boxes whose ranks are not consecutive."""
    return BoxGrid(tuple(tuple(range(box, boxes * ranks, boxes)) for box in range(boxes)))


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("boxes", [grid(2, 3), interleaved(3, 2)])
@pytest.mark.parametrize("collective", REDUCING)
def test_exchanges_are_right_in_place_and_out_of_place(collective: Collective, boxes: BoxGrid, pieces: int) -> None:
    ranks = sum(map(len, boxes.boxes))
    for name, make in exchanges(collective, ranks, boxes):
        for program in (make(pieces), make(pieces, few_blocks=True)):
            assert check(replace(program, in_place=True, out_of_place=True)).fault is None, name


@pytest.mark.parametrize("collective", REDUCING)
def test_many_pieces_do_not_wait_for_each_other(collective: Collective) -> None:
    """A channel holds two messages of one chunk, and the longest messages have four chunks."""
    for name, make in exchanges(collective, 6, grid(3, 2)):
        program = replace(make(8), in_place=True, out_of_place=True, slots=2)
        assert check(program).fault is None, name


@pytest.mark.parametrize("collective", REDUCING)
def test_exchanges_without_boxes_are_right(collective: Collective) -> None:
    for ranks in range(2, 8):
        listed = list(exchanges(collective, ranks, None))
        assert listed
        assert all(check(make(2)).fault is None for _, make in listed), ranks


def test_an_allgather_has_no_exchanges() -> None:
    assert not list(exchanges(Collective.ALLGATHER, 4, grid(2, 2)))


def test_one_shot_adds_up_in_few_steps() -> None:
    """A send of 1 + 5 us, its receipt, and 3 steps for 7 messages; a direct tree takes 7 steps for each phase."""
    network = build_topology("dgx-a100:boxes=1")
    paths = Paths(network, tuple(network.compute), {})
    made = dict(exchanges(Collective.ALLREDUCE, 8, None))
    seconds = [run_in_time(made[name](1), paths, 8, Costs()).seconds for name in ("one-shot", "two-shot")]
    assert [round(each * 1e6, 2) for each in seconds] == [10, 17]


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
def test_over_relays_sums_are_right_and_no_instruction_waits_for_two_blocks(
    forest: Sequence[Edges], pieces: int
) -> None:
    program = replace(relayed_one_shot(forest, pieces), in_place=True, out_of_place=True)
    assert check(program).fault is None
    assert all(len(each.after) <= 1 for *_, each in program.instructions())


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
