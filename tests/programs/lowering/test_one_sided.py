"""One-sided programs: the jobs of ranks, the blocks that do them, and the order that semaphores and signals give."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from forestcoll import generate
from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.demand.demand import Demand
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import Options, Placement, Style, excess_of_trees, lower
from forestcoll.programs.model import Block, Buffer, ChannelKind, Instruction, Multicast, Program, Protocol, Span
from forestcoll.programs.model.limits import Limits
from forestcoll.schedule.trees.value import TreeSchedule
from small_programs import changed

LIMITS = Limits(name="test", blocks=104, steps=64, channels_of_block=16)


def schedule_of(spec: str, collective: Collective) -> TreeSchedule:
    schedule = generate(spec, Demand(collective, root=0 if collective.has_root else None))
    assert isinstance(schedule, TreeSchedule)
    return schedule


def program_of(spec: str, collective: Collective, **changes: Any) -> Program:
    options: dict[str, Any] = {"style": Style.ONE_SIDED, "placement": Placement.OUT_OF_PLACE, "pieces": 2}
    return lower(schedule_of(spec, collective), Options(**(options | changes)), LIMITS).program


def written_by(block: Block, rank: int) -> set[int]:
    """The other ranks that a block writes to."""
    targets = [place for each in block.instructions for place in each.targets if isinstance(place, Span)]
    return {place.rank for place in targets} - {rank}


def test_a_block_sends_to_one_rank_if_asked() -> None:
    program = program_of("mi300x:boxes=1", Collective.ALLGATHER, chunks=8, children=1)
    for number, rank in enumerate(program.ranks):
        sent = [written_by(block, number) for block in rank.blocks]
        assert sorted(map(list, sent)) == [[other] for other in range(8) if other != number]
    assert check(program).ok


@pytest.mark.parametrize("collective", SCHEDULED)
@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2,gpus=4", "mi250:boxes=1", "ring:nodes=5", "torus:dims=2x3"])
@pytest.mark.parametrize(("children", "blocks", "step_chunks"), [(1, 104, 3), (1, 5, None), (2, 9, None), (None, 3, 5)])
def test_programs_are_right_with_any_number_of_blocks(
    collective: Collective, spec: str, children: int | None, blocks: int, step_chunks: int | None
) -> None:
    shared = 1 if not collective.has_shards else len(schedule_of(spec, collective).members)
    options = {"children": children, "blocks": blocks, "step_chunks": step_chunks}
    try:
        program = program_of(spec, collective, chunks=8 * shared, instances=2, **options)
    except NoSolutionError:
        assert blocks < 104  # few blocks have too many steps or channels
        return
    assert max(len(rank.blocks) for rank in program.ranks) <= blocks
    assert check(program).ok


def loops_of(program: Program) -> Iterator[tuple[Instruction, ...]]:
    """The instructions of the first round of each loop."""
    for rank in program.ranks:
        for block in rank.blocks:
            yield from (block.instructions[each.first : each.first + each.length] for each in block.loops)


def test_jobs_that_wait_for_nothing_share_loops_with_others() -> None:
    program = program_of("ring:nodes=5", Collective.ALLGATHER, chunks=10, children=1, blocks=1, step_chunks=1)
    rows = list(loops_of(program))
    assert any(not row[0].waits and any(each.waits for each in row) for row in rows)
    assert check(program).ok


def test_large_parts_have_different_sizes() -> None:
    for step_chunks, sizes in ((128, 8), (31, 1)):
        chunks = 8 * step_chunks
        program = program_of("complete:nodes=2", Collective.BROADCAST, chunks=chunks, step_chunks=step_chunks)
        counts = Counter(each.count for row in loops_of(program) for each in row if each.channel is not None)
        assert len(counts) == sizes
        assert sum(size * number for size, number in counts.items()) == chunks
        assert max(counts) <= 1.05 * step_chunks
        assert min(counts) >= 0.95 * step_chunks


@pytest.mark.parametrize("name", ["acquires", "releases"])
@pytest.mark.parametrize("collective", [Collective.ALLREDUCE, Collective.BROADCAST])
def test_blocks_that_share_a_result_wait_for_each_other(collective: Collective, name: str) -> None:
    program = program_of("dgx-a100:boxes=2,gpus=3", collective, chunks=8, children=1, pieces=1)
    assert check(program).ok
    places = [(rank, block, number) for rank, block, number, each in program.instructions() if getattr(each, name)]
    assert places
    removed: dict[str, Any] = {name: ()}
    assert not any(check(changed(program, place, **removed)).ok for place in places[::3])


NVLS = tuple(f"dgx-h100:boxes={boxes},gpus={gpus},nvls=true" for boxes, gpus in ((1, 4), (2, 4), (2, 3), (3, 3)))


def sums_of_switches(program: Program) -> Iterator[tuple[tuple[int, int, int], Multicast, Multicast]]:
    for rank, block, number, each in program.instructions():
        if isinstance(source := next(iter(each.sources), None), Multicast):
            (target,) = each.targets
            assert isinstance(target, Multicast)
            yield (rank, block, number), source, target


@pytest.mark.parametrize("placement", [Placement.IN_PLACE, Placement.OUT_OF_PLACE])
@pytest.mark.parametrize("spec", NVLS)
def test_switches_add_up_the_data_of_their_boxes(spec: str, placement: Placement) -> None:
    """Each chunk has one sum in each box; out of place, roots that wait for other boxes add up by themselves."""
    schedule = schedule_of(spec, Collective.ALLREDUCE)
    program = program_of(spec, Collective.ALLREDUCE, placement=placement)
    assert check(program).ok
    boxes = [schedule.topology.nodes[node].attributes["box"] for node in schedule.members]
    several = len(set(boxes))
    sums = list(sums_of_switches(program))
    for (rank, *_), source, target in sums:
        assert program.groups[source.group] == tuple(other for other, box in enumerate(boxes) if box == boxes[rank])
        stored = program.groups[target.group]
        assert rank in stored
        assert set(stored) <= set(program.groups[source.group])
        assert len(stored) in {2, len(program.groups[source.group])}
    by_roots = placement is Placement.OUT_OF_PLACE and several > 1
    assert sum(source.count for _, source, _ in sums) == program.chunks * (several - by_roots)
    if not by_roots:
        written = [(rank, place.rank) for rank, *_, each in program.instructions() for place in _spans(each.targets)]
        assert all(rank == other or boxes[rank] != boxes[other] for rank, other in written)


def _spans(places: Iterable[object]) -> Iterator[Span]:
    return (place for place in places if isinstance(place, Span))


@pytest.mark.parametrize("spec", NVLS)
def test_a_sum_of_a_switch_needs_all_that_orders_it(spec: str) -> None:
    """Without a rank, at another place, or before ranks have started or added what they received, it is wrong."""
    program = program_of(spec, Collective.ALLREDUCE, placement=Placement.IN_PLACE, pieces=1)
    sums = list(sums_of_switches(program))
    for place, source, target in sums[::2]:
        rank, block, number = place
        group = program.groups[source.group]
        left_out = next(other for other in group if other != rank)
        more = replace(program, groups=(*program.groups, tuple(other for other in group if other != left_out)))
        assert not check(changed(more, place, sources=(replace(source, group=len(program.groups)),))).ok
        moved = replace(target, offset=(target.offset + target.count) % program.chunks)
        assert not check(changed(program, place, targets=(moved,))).ok
        listed = program.ranks[rank].blocks[block].instructions
        for before in range(number):
            if listed[before].waits:
                assert not check(changed(program, (rank, block, before), waits=())).ok
    held = [(rank, block, number) for rank, block, number, each in program.instructions() if each.acquires]
    assert bool(held) == (not spec.startswith("dgx-h100:boxes=1"))
    assert not any(check(changed(program, place, acquires=())).ok for place in held)


def test_switches_between_boxes_and_packets_add_up_nothing() -> None:
    for spec, changes in (("superpod-h100:boxes=2,sharp=true", {}), (NVLS[1], {"protocol": Protocol.LL, "pieces": 1})):
        program = program_of(spec, Collective.ALLREDUCE, **changes)
        assert not program.groups
        assert check(program).ok


def test_trees_have_blocks_in_proportion_to_their_shares() -> None:
    program = program_of("mi250:boxes=1", Collective.ALLGATHER, chunks=512, children=1, step_chunks=11, blocks=104)
    counts = Counter(each.count for *_, each in program.instructions() if each.channel is not None)
    assert max(counts) == 11
    assert min(counts) >= 10
    whole = program_of("mi250:boxes=1", Collective.ALLGATHER, chunks=512, children=1, blocks=104)
    assert max(each.count for *_, each in whole.instructions()) > 20


def test_a_root_has_the_data_of_its_first_child_in_its_output() -> None:
    for placement, expected in ((Placement.OUT_OF_PLACE, 0), (Placement.IN_PLACE, 1)):
        program = program_of("ring:nodes=4", Collective.REDUCE, chunks=8, placement=placement)
        assert program.ranks[0].scratch_chunks == expected * program.chunks
        assert check(program).ok


def test_a_root_waits_for_the_data_in_its_output() -> None:
    program = program_of("ring:nodes=4", Collective.REDUCE, chunks=8, pieces=1)

    def reads_output(each: Instruction) -> bool:
        return any(isinstance(place, Span) and place.buffer is Buffer.OUTPUT for place in each.sources)

    places = [(rank, block, number) for rank, block, number, each in program.instructions() if reads_output(each)]
    assert places
    for rank, block, number in places:
        listed = program.ranks[rank].blocks[block].instructions
        before = max(place for place in range(number) if listed[place].waits)
        assert not check(changed(program, (rank, block, before), waits=())).ok


def test_a_root_with_too_many_channels_adds_up_and_sends_in_different_blocks() -> None:
    schedule = generate("dgx-a100:boxes=4,gpus=2", "allreduce")
    options = Options(style=Style.ONE_SIDED, placement=Placement.OUT_OF_PLACE)
    program = lower(schedule, options, Limits(name="a test", channels_of_block=4)).program
    assert check(program).ok
    most = max(len(_ports(program, block)) for rank in program.ranks for block in rank.blocks)
    assert most <= 4
    assert any(rank.semaphores for rank in program.ranks)
    assert not any(rank.semaphores for rank in lower(schedule, options).program.ranks)
    for ports in (1, 2, 3, 4):
        limits = Limits(name="a test", channels_of_block=ports)
        if (excess := excess_of_trees(schedule, limits)) is None:
            assert lower(schedule, options, limits)
        else:
            with pytest.raises(NoSolutionError, match=re.escape(str(excess))):
                lower(schedule, options, limits)


def _ports(program: Program, block: Block) -> set[tuple[int, int, int]]:
    """Return the pairs of ranks and numbers of the PORT channels that a block uses."""
    used = {channel for each in block.instructions for channel in (*each.waits, *each.signals, *each.flushes)}
    found = (program.channels[each] for each in used)
    return {
        (min(one.source, one.target), max(one.source, one.target), one.number)
        for one in found
        if one.kind is ChannelKind.PORT
    }
