"""The choices for plans of MSCCL++: parts, messages and chunks."""

from dataclasses import replace

import pytest

from forestcoll import generate
from forestcoll.programs.lowering import Options, Style
from forestcoll.programs.lowering.options import MOST
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.costs import Costs
from forestcoll.tuning.programs.candidates import Objective
from forestcoll.tuning.programs.divisible import counts_for
from forestcoll.tuning.programs.plan_choices import FINE, OTHER_ORDERS, OtherPlanChoices, PlanChoices
from forestcoll.tuning.programs.search import best_program

START = Options(style=Style.ONE_SIDED, chunks=8, round_bytes=2**19)


def choices(most_chunks: int = 4096, *given: str) -> PlanChoices:
    schedule = generate("dgx-h100:boxes=1")
    assert isinstance(schedule, TreeSchedule)
    return PlanChoices.of(schedule, counts_for(schedule, most_chunks), most_chunks, given)


@pytest.mark.parametrize("parts", [1, 2, 3, 5, 7])
def test_a_tree_has_as_many_parts_as_asked(parts: int) -> None:
    options = choices().with_parts(START, parts, 2**19)
    assert choices().parts(options) == parts
    assert 2**18 < choices().message(options) <= 2**19
    assert parts == 1 or options.instances >= FINE[1] * parts


def test_finer_parts_are_also_tried_with_much_smaller_messages() -> None:
    listed = list(choices().changed(choices().with_parts(START, 5, 2**19), "fine", FINE[2]))
    parts, sizes = zip(*((choices().parts(each), choices().message(each)) for each in listed), strict=True)
    assert parts == (5, 10, 20, 20)
    assert [round(2**19 / size) for size in sizes] == [1, 2, 4, 16]


def test_parts_are_as_fine_as_asked() -> None:
    equal, *_ = choices().changed(START, "fine", 1)
    assert (equal.step_chunks, equal.instances) == (1, 1)
    fine, *_ = choices().changed(choices().with_parts(START, 5, 2**19), "fine", FINE[2])
    assert (fine.step_chunks or 0) >= FINE[2]
    assert choices().parts(fine) == 5
    finer, *_ = choices().changed(fine, "parts", 6)
    assert (finer.step_chunks or 0) >= FINE[2]


def test_there_are_no_more_chunks_than_allowed() -> None:
    options = choices(64).with_parts(START, 12, 2**19)
    assert (options.chunks or 1) * options.instances <= 64


def test_given_options_are_not_changed() -> None:
    names = [name for name, _ in choices(4096, "instances", "chunks").values(START, 1)]
    assert names == ["message"]
    kept = choices(4096, "instances", "round_bytes")
    assert [*kept.changed(START, "parts", 4)] == [START] * 2


def test_messages_are_as_large_as_an_option_can_be() -> None:
    for message in (2**30, 2**31, 2**40, 2**62):
        (options,) = choices().changed(START, "message", message)
        assert options.round_bytes % 16 == 0
        assert options.round_bytes <= min(message, MOST)


def test_rounds_of_other_plans_stay_within_the_options() -> None:
    for exponent in range(4, 31):
        options = replace(START, round_bytes=2**exponent)
        others = OtherPlanChoices(
            counts=(), in_rounds=True, blocks=8, given=frozenset({"chunks", "blocks", "instances"})
        )
        for name, values in others.values(options, 1):
            assert all(
                16 <= each.round_bytes <= MOST for value in values for each in others.changed(options, name, value)
            )


@pytest.mark.parametrize("given", [{}, {"chunks": None}, {"protocol": "LL"}])
def test_links_of_any_bandwidth_have_a_plan(given: dict[str, object]) -> None:
    chosen = best_program(generate("ring:nodes=3,bandwidth=1000000"), "mscclpp-json", given=given)
    assert chosen.options.round_bytes <= MOST


@pytest.mark.parametrize(
    ("collective", "target", "size", "gbps"),
    [
        ("broadcast", "msccl-xml", 1, None),
        ("allgather", "mscclpp-json", 10**9, 1e-6),
        pytest.param("allgather", "msccl-xml", 2**62, None, marks=pytest.mark.slow),
    ],
)
def test_a_search_keeps_its_options_within_their_limits(
    collective: str, target: str, size: int, gbps: float | None
) -> None:
    schedule = generate(
        "ring:nodes=3,bandwidth=10000000000000", collective, root=0 if collective == "broadcast" else None
    )
    costs = None if gbps is None else Costs(block_gbps=gbps)
    assert best_program(schedule, target, objective=Objective(sizes=(size,), costs=costs)).points


@pytest.mark.parametrize("order", OTHER_ORDERS)
def test_numbers_are_varied_in_the_given_order(order: tuple[str, ...]) -> None:
    names = [name for name, _ in replace(choices(), order=order).values(START, 1)]
    assert names == list(order)


@pytest.mark.parametrize(
    ("spec", "collective", "share"),
    [
        ("mi300x:boxes=1", "allgather", 0.97),
        ("mi300x:boxes=2", "broadcast", 0.97),
        pytest.param("dgx-a100:boxes=2", "reduce", 0.95, marks=pytest.mark.slow),
        pytest.param("dgx-a100:boxes=1", "broadcast", 0.95, marks=pytest.mark.slow),
        pytest.param("dgx-h100:boxes=1", "broadcast", 0.95, marks=pytest.mark.slow),
    ],
)
def test_programs_are_nearly_as_fast_as_their_schedules(spec: str, collective: str, share: float) -> None:
    chosen = best_program(generate(spec, collective, root=None if collective == "allgather" else 0), "mscclpp-json")
    assert chosen.points[-1].algbw >= share * chosen.lowering.schedule_algbw
