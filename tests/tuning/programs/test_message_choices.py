"""The choices for programs of messages: what is varied, and what changes with it."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from forestcoll import generate
from forestcoll.programs.lowering import Options
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.tuning.programs.divisible import counts_for
from forestcoll.tuning.programs.message_choices import SLOT, MessageChoices

START = Options(chunks=16, step_chunks=1)


def choices(spec: str = "dgx-a100:boxes=1", collective: str = "allgather", **given: Any) -> MessageChoices:
    schedule = generate(spec, collective, root=0 if collective == "broadcast" else None)
    assert isinstance(schedule, TreeSchedule)
    return MessageChoices(schedule, counts_for(schedule, 4096), given, 10**9, 104, 40_000, finest=4096)


def names(found: MessageChoices, options: Options = START) -> list[str]:
    return [name for name, _ in found.values(options, 1)]


@pytest.mark.parametrize(
    ("spec", "collective", "has_lanes"),
    [
        ("mi250:boxes=1", "allgather", True),
        ("mi250:boxes=1", "broadcast", False),
        ("dgx-a100:boxes=1", "allgather", False),
    ],
)
def test_lanes_are_for_high_trees_of_many_roots(spec: str, collective: str, has_lanes: bool) -> None:  # noqa: FBT001
    assert ("lanes" in names(choices(spec, collective))) == has_lanes


def test_lanes_are_parallel_blocks_already() -> None:
    found = choices("mi250:boxes=1")
    (options,) = found.changed(START, "lanes", 2)
    assert (options.lanes, options.instances, options.pieces, options.chunks) == (2, 1, 1, 4096)
    assert set(names(found, options)) <= {"chunks", "step_chunks"}


def test_lanes_can_have_the_smallest_messages_that_can_be_simulated() -> None:
    found = choices("mi250:boxes=4")
    (options,) = found.changed(START, "lanes", 2)
    assert options.chunks is not None
    assert (options.chunks * options.pieces, options.chunks < 4096) == (4096, True)
    least = dict(found.values(replace(options, step_chunks=30), 1))["step_chunks"][0]
    hops = 2 * 63 * 4096
    assert hops / least < 40_000 < hops / (least - 4)


def test_given_options_are_not_varied() -> None:
    assert set(names(choices())) >= {"chunks", "blocks", "instances", "step_chunks", "pieces", "halves"}
    assert set(names(choices(instances=2))) & {"instances", "halves"} == set()


def test_messages_keep_their_size_if_the_number_of_chunks_changes() -> None:
    (options,) = choices().changed(START, "chunks", 64)
    assert (options.chunks, options.step_chunks) == (64, 4)


def test_instances_need_blocks_and_messages_that_can_be_halved() -> None:
    plain, halved = choices().changed(START, "instances", 2)
    assert (plain.instances, plain.blocks, plain.step_chunks) == (2, 104, 1)
    assert (halved.instances, halved.pieces, halved.step_chunks) == (2, 2, 2)


def test_strands_are_for_one_root_and_use_all_chunks() -> None:
    found = choices("dgx-h100:boxes=4", "broadcast")
    start = Options(chunks=8, instances=2, step_chunks=1)
    assert "strands" in names(found, start)
    assert "strands" not in names(choices())
    assert "strands" not in names(choices("dgx-h100:boxes=4", "broadcast", instances=2), start)
    (options,) = found.changed(start, "strands", 3)
    assert (options.strands, options.instances, options.pieces, options.step_chunks) == (3, 1, 512, 3)
    assert set(names(found, options)) == {"strands", "more_steps"}
    assert "more_steps" not in names(found, replace(options, step_chunks=1))
    assert names(found, start)[0] == "strands"


def test_steps_of_strands_become_shorter_by_parts_of_a_chunk() -> None:
    found = choices("dgx-h100:boxes=4", "broadcast")
    (options,) = found.changed(Options(chunks=8, strands=3, pieces=512, step_chunks=3), "more_steps", 20)
    assert options.step_chunks == Fraction(5, 2)
    (options,) = found.changed(options, "more_steps", 100)
    assert options.step_chunks == Fraction(5, 4)
    (options,) = found.changed(options, "more_steps", 100)
    assert options.step_chunks == 1
    given = choices("dgx-h100:boxes=4", "broadcast", step_chunks=3, strands=3)
    assert "more_steps" not in names(given, Options(chunks=8, strands=3, step_chunks=3))


def test_steps_are_not_longer_than_trees() -> None:
    found = choices("dgx-a100:boxes=2")
    one = min(found.counts, key=lambda each: each.chunks)
    options = Options(chunks=one.chunks, step_chunks=1)
    assert one.chunks == one.trees
    assert "step_chunks" not in names(found, options)
    assert dict(found.values(replace(options, pieces=2), 1))["step_chunks"] == [2, 4]


@pytest.mark.parametrize("chunks", [16, 256, 4096])
def test_a_step_moves_one_message_first(chunks: int) -> None:
    step = choices().chunks_of_message(chunks)
    assert step == max(1, SLOT * chunks // 10**9)


def test_whole_messages_are_tried_if_a_chunk_takes_many_rounds() -> None:
    found = choices("mi300x:boxes=4", "allreduce")
    options = Options(chunks=32, step_chunks=1)
    assert dict(found.values(options, 1))["whole"] == (16,)
    (whole,) = found.changed(options, "whole", 16)
    assert whole == replace(options, pieces=16)
    assert "whole" not in names(found, whole)
    assert "whole" not in names(choices("mi300x:boxes=4", "allreduce", pieces=1), options)
