"""Exchanges compute the right data, and need few steps."""

from dataclasses import replace

import pytest

from forestcoll.demand.collective import Collective
from forestcoll.programs.interpreter import check
from forestcoll.programs.model import Block, Message, Program
from forestcoll.simulation import Costs
from forestcoll.simulation.program.events import run_in_time
from forestcoll.simulation.program.paths import Paths
from forestcoll.topology.registry import build_topology
from forestcoll.tuning.exchanges import Grid, exchanges

REDUCING = (Collective.ALLREDUCE, Collective.REDUCE_SCATTER)


def grid(boxes: int, ranks: int) -> Grid:
    return Grid(tuple(tuple(range(box * ranks, (box + 1) * ranks)) for box in range(boxes)))


def interleaved(boxes: int, ranks: int) -> Grid:
    """Return boxes whose ranks are not consecutive."""
    return Grid(tuple(tuple(range(box, boxes * ranks, boxes)) for box in range(boxes)))


@pytest.mark.parametrize("pieces", [1, 2, 3])
@pytest.mark.parametrize("boxes", [grid(2, 3), grid(3, 2), interleaved(2, 2), interleaved(3, 3)])
@pytest.mark.parametrize("collective", REDUCING)
def test_exchanges_are_right_in_place_and_out_of_place(collective: Collective, boxes: Grid, pieces: int) -> None:
    ranks = sum(map(len, boxes.boxes))
    for name, make in exchanges(collective, ranks, boxes):
        for program in (make(pieces), make(pieces, few_blocks=True)):
            assert check(replace(program, in_place=True, out_of_place=True)).fault is None, name


@pytest.mark.parametrize(("pieces", "stages"), [(1, 1), (2, 2), (3, 4)])
def test_few_blocks_send_and_receive(pieces: int, stages: int) -> None:
    """With one message for each peer, a block works in both stages; with two, in one; with more, in one direction."""
    made = dict(exchanges(Collective.ALLREDUCE, 6, None))
    assert {len(rank.blocks) for rank in made["two-shot"](pieces, few_blocks=True).ranks} == {5 * stages}


@pytest.mark.parametrize("boxes", [grid(2, 2), grid(3, 2)])
@pytest.mark.parametrize("collective", REDUCING)
def test_many_pieces_do_not_wait_for_each_other(collective: Collective, boxes: Grid) -> None:
    """A channel holds two messages of one chunk, and the longest messages have four chunks."""
    for name, make in exchanges(collective, sum(map(len, boxes.boxes)), boxes):
        program = replace(make(8), in_place=True, out_of_place=True, slots=2)
        assert check(program).fault is None, name


def test_the_first_and_the_last_of_many_pieces_are_short() -> None:
    _, make = next(exchanges(Collective.REDUCE_SCATTER, 2, None))
    program = make(8)
    sends = [each for block in program.ranks[0].blocks for each in block.instructions]
    counts = sorted(each.count for each in sends if any(isinstance(place, Message) for place in each.targets))
    assert (program.chunks, counts) == (2 * 32, [1, 1, 1, 1, 2, 2, 4, 4, 4, 4, 4, 4])


@pytest.mark.parametrize("ranks", range(2, 8))
@pytest.mark.parametrize("collective", REDUCING)
def test_exchanges_without_boxes_are_right(collective: Collective, ranks: int) -> None:
    listed = list(exchanges(collective, ranks, None))
    assert listed
    assert all(check(make(2)).fault is None for _, make in listed)


def test_an_allgather_has_no_exchanges() -> None:
    assert not list(exchanges(Collective.ALLGATHER, 4, grid(2, 2)))


def without_last(program: Program, rank: int) -> Program:
    """Return the program without the last sum of a rank."""
    ranks = list(program.ranks)
    blocks = list(ranks[rank].blocks)
    for place, block in enumerate(blocks):
        last = block.instructions[-1]
        if len(last.sources) > 1 and not any(isinstance(each, Message) for each in last.sources):
            blocks[place] = Block(block.instructions[:-1])
            ranks[rank] = replace(ranks[rank], blocks=tuple(blocks))
            return replace(program, ranks=tuple(ranks))
    raise AssertionError("no sum was found")


@pytest.mark.parametrize("collective", REDUCING)
def test_an_exchange_without_one_of_its_sums_is_wrong(collective: Collective) -> None:
    for _, make in exchanges(collective, 6, grid(2, 3)):
        assert check(without_last(make(1), 2)).fault is not None


def test_one_shot_adds_up_in_few_steps() -> None:
    """A send of 1 + 5 us, its receipt, and 3 steps for 7 messages; a direct tree takes 7 steps for each phase."""
    network = build_topology("dgx-a100:boxes=1")
    paths = Paths(network, tuple(network.compute), {})
    made = dict(exchanges(Collective.ALLREDUCE, 8, None))
    seconds = [run_in_time(made[name](1), paths, 8, Costs()).seconds for name in ("one-shot", "two-shot")]
    assert [round(each * 1e6, 2) for each in seconds] == [10, 17]
