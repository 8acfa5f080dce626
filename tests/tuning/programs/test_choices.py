"""The moves of the search for programs: what changes together, and that options stay within their limits."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import generate
from forestcoll.demand.demand import Demand
from forestcoll.programs.lowering import Options, Style
from forestcoll.programs.lowering.options import MOST
from forestcoll.programs.targets.msccl_xml import MscclXml
from forestcoll.programs.targets.mscclpp_json import MscclppJson
from forestcoll.programs.targets.target import RuntimeTarget, targets
from forestcoll.simulation.costs import Costs
from forestcoll.tuning.programs.candidates import Candidates, Objective
from forestcoll.tuning.programs.first import first_candidate, first_options
from forestcoll.tuning.programs.moves import Chunks, Lanes, Longer, Move, Parts, Strands, moves_for
from forestcoll.tuning.programs.parts import in_messages, in_parts, message_of, parts_of
from forestcoll.tuning.programs.search import best_program

SHARE = Fraction(1, 8)


def space(spec: str, target: RuntimeTarget, collective: str = "allgather") -> Candidates:
    schedule = generate(spec, Demand(collective, root=0 if collective in {"broadcast", "reduce"} else None))
    return Candidates(schedule, target, Objective())


def moved(found: Candidates, move: Move) -> Options | None:
    return move.of(first_candidate(found), found)


@given(
    chunks=st.sampled_from([8, 64, 512]), parts=st.integers(1, 40), message=st.integers(16, 2**40), most=st.just(4096)
)
def test_a_tree_has_about_the_parts_and_messages_that_are_asked_for(
    chunks: int, parts: int, message: int, most: int
) -> None:
    plan = in_messages(in_parts(Options(style=Style.ONE_SIDED, chunks=chunks), SHARE, parts, most), SHARE, message)
    assert (plan.chunks or 1) * plan.instances <= most
    assert parts_of(plan, SHARE) <= parts
    assert parts_of(plan, SHARE) >= parts * 3 // 4 or plan.step_chunks in {1, 2}
    assert (plan.round_bytes % 16, plan.round_bytes <= MOST) == (0, True)
    assert message_of(plan, SHARE) <= max(message, 16 * (plan.step_chunks or chunks))


def test_the_first_plan_has_as_many_blocks_as_move_the_data_of_an_edge() -> None:
    """A block of an A100 moves 24 GB/s, and the only tree of a broadcast in a box 300 GB/s."""
    found = space("dgx-a100:boxes=1", MscclppJson(), "broadcast")
    assert parts_of(first_options(found), Fraction(1)) == 13
    copied = space("dgx-h100:boxes=2,nvls=true", MscclppJson(), "allreduce")
    assert parts_of(first_options(copied), Fraction(1, 16)) == 5  # 25 GB/s to each of seven ranks, 38.7 of a block


def test_more_parts_move_in_smaller_messages_until_the_blocks_are_used() -> None:
    found = space("dgx-a100:boxes=1", MscclppJson(), "broadcast")
    first, more = first_options(found), moved(found, Parts())
    assert more is not None
    assert (parts_of(more, Fraction(1)), message_of(more, Fraction(1)) * 2 // message_of(first, Fraction(1))) == (26, 1)
    full = replace(first_candidate(found), options=more)
    assert Parts().of(full, replace(found, target=MscclppJson(blocks=104))) is not None
    crowded = space("dgx-h100:boxes=1,nvls=true", MscclppJson(), "allreduce")
    many = crowded.evaluate(in_parts(first_options(crowded), Fraction(1, 8), 88, crowded.finest))
    assert many is not None
    assert Parts().of(many, crowded) is None


def test_lanes_are_for_high_trees_of_many_roots_and_are_parallel_blocks_already() -> None:
    found = space("mi250:boxes=1", MscclXml())
    options = moved(found, Lanes())
    assert options is not None
    assert (options.lanes, options.instances, options.pieces, options.chunks) == (2, 1, 1, 4096)
    best = replace(first_candidate(found), options=options)
    assert [type(move) for move in moves_for(found) if move.of(best, found)] == [Chunks, Longer]
    assert moved(space("mi250:boxes=1", MscclXml(), "broadcast"), Lanes()) is None
    assert moved(space("dgx-a100:boxes=1", MscclXml()), Lanes()) is None


def test_strands_are_for_one_root_and_use_all_chunks() -> None:
    found = space("dgx-a100:boxes=1,gpus=4", MscclXml(), "broadcast")
    options = moved(found, Strands())
    assert options is not None
    assert (options.strands, options.instances, options.pieces, options.step_chunks) == (2, 1, 4096, 3)
    best = replace(first_candidate(found), options=options)
    shorter = Longer(Fraction(5, 6)).of(best, found)
    assert shorter is not None
    assert shorter.step_chunks == Fraction(5, 2)
    assert moved(space("dgx-a100:boxes=1", MscclXml()), Strands()) is None
    assert not any(isinstance(move, Strands) for move in moves_for(replace(found, target=MscclXml(instances=2))))


@pytest.mark.parametrize("target", [MscclXml(), MscclppJson(), MscclppJson(protocol="LL")], ids=str)
def test_moves_keep_options_within_their_limits(target: RuntimeTarget) -> None:
    found = space("dgx-a100:boxes=2,gpus=4", target)
    best = first_candidate(found)
    for _ in range(4):
        for move in moves_for(found):
            options = move.of(best, found)
            best = best if options is None else replace(best, options=options)
    assert best.options.pieces * best.options.instances <= MOST


@pytest.mark.parametrize("target", ["msccl-xml", "mscclpp-json"])
def test_given_options_are_used(target: str) -> None:
    chosen = targets.read(f"{target}:instances=2,blocks=8")
    options = best_program(generate("dgx-a100:boxes=1,gpus=3"), chosen).options
    assert (options.instances, options.blocks) == (2, 8)


@pytest.mark.parametrize(
    "target",
    [
        MscclppJson(blocks=2),
        MscclppJson(chunks="exact"),
        MscclppJson(protocol="LL"),
        pytest.param(MscclppJson(), marks=pytest.mark.slow),
    ],
)
def test_links_of_any_bandwidth_have_a_plan(target: MscclppJson) -> None:
    chosen = best_program(generate("ring:nodes=3,bandwidth=1000000"), target)
    assert chosen.options.round_bytes <= MOST


@pytest.mark.parametrize(
    ("collective", "target", "size", "gbps"),
    [
        ("broadcast", MscclXml(), 1, None),
        ("allgather", MscclppJson(blocks=2), 10**9, 1e-6),
        pytest.param("allgather", MscclppJson(), 10**9, 1e-6, marks=pytest.mark.slow),
        pytest.param("allgather", MscclXml(), 2**62, None, marks=pytest.mark.slow),
    ],
)
def test_a_search_keeps_its_options_within_their_limits(
    collective: str, target: RuntimeTarget, size: int, gbps: float | None
) -> None:
    spec = "ring:nodes=3,bandwidth=10000000000000"
    schedule = generate(spec, Demand(collective, root=0 if collective == "broadcast" else None))
    objective = Objective(sizes=(size,), costs=None if gbps is None else Costs(block_gbps=gbps))
    assert best_program(schedule, target, objective=objective).points
