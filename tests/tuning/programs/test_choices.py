"""The choices for programs: what is varied, what changes with it, and that options stay within their limits."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from forestcoll import generate
from forestcoll.demand.demand import Demand
from forestcoll.programs.lowering import Options, Style
from forestcoll.programs.lowering.options import MOST
from forestcoll.programs.targets.msccl_xml import MscclXml
from forestcoll.programs.targets.mscclpp_json import MscclppJson
from forestcoll.programs.targets.target import RuntimeTarget, targets
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.costs import Costs
from forestcoll.tuning.programs.candidates import Objective
from forestcoll.tuning.programs.divisible import counts_for
from forestcoll.tuning.programs.message_choices import MessageChoices
from forestcoll.tuning.programs.plan_choices import FINE, OTHER_ORDERS, OtherPlanChoices, PlanChoices
from forestcoll.tuning.programs.search import best_program

START = Options(chunks=16, step_chunks=1)
PLAN = Options(style=Style.ONE_SIDED, chunks=8, round_bytes=2**19)


def plans(most_chunks: int = 4096, *given: str) -> PlanChoices:
    schedule = generate("dgx-h100:boxes=1")
    assert isinstance(schedule, TreeSchedule)
    return PlanChoices.of(schedule, counts_for(schedule, most_chunks), most_chunks, given)


def test_finer_parts_are_also_tried_with_much_smaller_messages() -> None:
    start = plans().with_parts(PLAN, 5, 2**19)
    assert (plans().parts(start), start.instances >= FINE[1] * 5) == (5, True)
    listed = list(plans().changed(start, "fine", FINE[2]))
    parts, sizes = zip(*((plans().parts(each), plans().message(each)) for each in listed), strict=True)
    assert parts == (5, 10, 20, 20)
    assert [round(2**19 / size) for size in sizes] == [1, 2, 4, 16]
    assert len(dict(plans().values(listed[0], 1))["message"]) == 5


def test_options_stay_within_their_limits() -> None:
    options = plans(64).with_parts(PLAN, 12, 2**19)
    assert (options.chunks or 1) * options.instances <= 64
    for message in (2**30, 2**31, 2**40, 2**62):
        (options,) = plans().changed(PLAN, "message", message)
        assert options.round_bytes % 16 == 0
        assert options.round_bytes <= min(message, MOST)
    others = OtherPlanChoices((), in_rounds=True, blocks=8, given=frozenset({"chunks", "blocks", "instances"}))
    for exponent in range(4, 31):
        options = replace(PLAN, round_bytes=2**exponent)
        for name, values in others.values(options, 1):
            found = [each for value in values for each in others.changed(options, name, value)]
            assert all(16 <= each.round_bytes <= MOST for each in found), (exponent, name)


@pytest.mark.parametrize("target", ["msccl-xml", "mscclpp-json"])
def test_given_options_are_used(target: str) -> None:
    chosen = targets.read(f"{target}:instances=2,pieces=1,blocks=8")
    options = best_program(generate("dgx-a100:boxes=1,gpus=3"), chosen).options
    assert (options.instances, options.pieces, options.blocks) == (2, 1, 8)


def test_given_options_are_not_changed_and_others_are_varied_in_the_given_order() -> None:
    assert [name for name, _ in plans(4096, "instances", "chunks").values(PLAN, 1)] == ["message"]
    assert [*plans(4096, "instances", "round_bytes").changed(PLAN, "parts", 4)] == [PLAN] * 2
    for order in OTHER_ORDERS:
        assert [name for name, _ in replace(plans(), order=order).values(PLAN, 1)] == list(order)


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


def messages(spec: str = "dgx-a100:boxes=1", collective: str = "allgather", **given: Any) -> MessageChoices:
    schedule = generate(spec, Demand(collective, root=0 if collective == "broadcast" else None))
    assert isinstance(schedule, TreeSchedule)
    return MessageChoices(schedule, counts_for(schedule, 4096), given, 10**9, 104, 40_000, finest=4096)


def names(found: MessageChoices, options: Options = START) -> list[str]:
    return [name for name, _ in found.values(options, 1)]


def test_lanes_are_for_high_trees_of_many_roots_and_are_parallel_blocks_already() -> None:
    found = messages("mi250:boxes=1")
    assert "lanes" in names(found)
    assert "lanes" not in names(messages("mi250:boxes=1", "broadcast"))
    assert "lanes" not in names(messages("dgx-a100:boxes=1"))
    (options,) = found.changed(START, "lanes", 2)
    assert (options.lanes, options.instances, options.pieces, options.chunks) == (2, 1, 1, 4096)
    assert set(names(found, options)) <= {"chunks", "step_chunks"}


def test_strands_are_for_one_root_and_use_all_chunks() -> None:
    found = messages("dgx-h100:boxes=4", "broadcast")
    start = Options(chunks=8, instances=2, step_chunks=1)
    assert "strands" in names(found, start)
    assert "strands" not in names(messages())
    assert "strands" not in names(messages("dgx-h100:boxes=4", "broadcast", instances=2), start)
    (options,) = found.changed(start, "strands", 3)
    assert (options.strands, options.instances, options.pieces, options.step_chunks) == (3, 1, 512, 3)
    assert set(names(found, options)) == {"strands", "more_steps"}
    assert "more_steps" not in names(found, replace(options, step_chunks=1))
    assert names(found, start)[0] == "strands"
    (options,) = found.changed(replace(options, step_chunks=3), "more_steps", 20)
    assert options.step_chunks == Fraction(5, 2)
