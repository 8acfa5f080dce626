"""Programs in lanes compute the right data, and reach more than others on networks of direct links."""

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.programs.formats.msccl_xml import dialect_named
from forestcoll.programs.interpreter import check
from forestcoll.programs.model import Protocol
from forestcoll.simulation import Costs
from forestcoll.tuning.costs import ProgramCosts
from forestcoll.tuning.lowered import Lowerings, xml_text


def lowerings(ranks: int) -> Lowerings:
    return Lowerings(dialect_named("microsoft"), ranks, ProgramCosts("default", {Protocol.SIMPLE: Costs()}))


@pytest.mark.parametrize(("collective", "chunks"), [("allgather", 20), ("reduce-scatter", 20), ("allreduce", 32)])
def test_lanes_are_right_and_have_chunks_that_divide_the_data(collective: str, chunks: int) -> None:
    made = lowerings(5)
    (timed,) = made.of_lanes(generate("ring:nodes=5", collective), 2, 2)
    assert timed.variant == f"2 lanes, {chunks} chunks"
    assert timed.program.chunks == chunks
    assert check(timed.program).fault is None
    assert f'nchunksperloop="{chunks}"' in xml_text(timed.program, made.dialect, 2**20, 2**30)


def test_a_timetable_for_small_chunks_is_faster_for_them() -> None:
    schedule, made = generate("mi250:boxes=1,gpus=8"), lowerings(8)
    (large,), (small,) = made.of_lanes(schedule, 1, 4), made.of_small_chunks(schedule, 1, 2**9, 4)
    assert (large.variant, small.variant) == ("1 lane, 64 chunks", "1 lane for chunks of 32KiB, 64 chunks")
    assert check(small.program).fault is None
    assert small.microseconds(2**20) < large.microseconds(2**20)


@pytest.mark.parametrize("collective", ["allgather", pytest.param("allreduce", marks=pytest.mark.slow)])
def test_stolen_hops_are_faster_for_small_chunks(collective: str) -> None:
    schedule, made = generate("mi250:boxes=1", collective), lowerings(16)
    plain, stolen = (made.of_small_chunks(schedule, 1, 2**9, 4, steals=steals)[0] for steals in (False, True))
    assert stolen.variant == "stolen hops, 1 lane for chunks of 64KiB, 128 chunks"
    assert check(stolen.program).fault is None
    assert stolen.microseconds(2**22) < 0.9 * plain.microseconds(2**22)


def test_lanes_are_faster_for_large_data_on_a_network_of_direct_links() -> None:
    schedule, made = generate("mi250:boxes=1"), lowerings(16)
    lanes = min(each.microseconds(2**30) for each in made.of_lanes(schedule, 1, 4))
    assert lanes < 0.6 * min(each.microseconds(2**30) for each in made.of_schedule(schedule, 1))


def test_lanes_that_exceed_a_limit_are_no_candidates() -> None:
    assert lowerings(5).of_lanes(generate("ring:nodes=5"), 200, 16) == []
