"""The time of a program for data of any size is that of all its rounds, or an estimate from some of them."""

from math import inf

import pytest

from forestcoll import generate
from forestcoll.programs.formats.sizes import chunks_of_file
from forestcoll.programs.lowering import Options, Placement, Style, lower
from forestcoll.programs.targets.msccl_xml import MscclXml
from forestcoll.programs.targets.mscclpp_json import MscclppJson
from forestcoll.programs.targets.target import RuntimeTarget
from forestcoll.simulation import Costs
from forestcoll.simulation.program.events import EventSimulation
from forestcoll.simulation.program.paths import Paths
from forestcoll.simulation.program.rounds import Messages
from forestcoll.tuning.programs import rounds
from forestcoll.tuning.programs.rounds import RoundModel

SIZE = 2**28
APART = Placement.OUT_OF_PLACE
PLAN = Options(style=Style.ONE_SIDED, placement=APART, chunks=64, pieces=2, children=1, round_bytes=2**16)
XML = Options(placement=APART, chunks=16)
CASES = [(MscclppJson(), PLAN, Costs()), (MscclXml(), XML, Costs(block_gbps=24))]


def model_of(target: RuntimeTarget, options: Options, costs: Costs) -> RoundModel:
    schedule = generate("dgx-a100:boxes=2")
    lowering = lower(schedule, options, target.limits(16))
    return RoundModel(
        schedule=schedule,
        program=lowering.program,
        chunks=chunks_of_file(lowering.program),
        round_bytes=target.round_bytes(options),
        paths=Paths.of(schedule),
        costs=costs,
        algbw=lowering.algbw,
        slices=target.slices(options),
    )


@pytest.mark.parametrize(("target", "options", "costs"), CASES)
def test_all_rounds_are_simulated(target: RuntimeTarget, options: Options, costs: Costs) -> None:
    model = model_of(target, options, costs)
    point = model.point(SIZE)
    assert point.pieces == SIZE // (model.chunks * model.round_bytes) > 4
    messages = Messages(1, model.slices) if model.slices else None
    simulation = EventSimulation(model.program, model.paths, costs)
    assert point.seconds == simulation.run(SIZE, point.pieces, messages).seconds


@pytest.mark.parametrize(("target", "options", "costs"), CASES)
def test_an_estimate_is_near_and_is_replaced_if_it_is_high(
    target: RuntimeTarget, options: Options, costs: Costs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "FEW_INSTRUCTIONS", 1)
    monkeypatch.setattr(rounds, "FEW_INSTRUCTIONS_IN_LOOPS", 1)
    model = model_of(target, options, costs)
    estimate = model.algbw_at(SIZE, least=inf)
    assert model.work_at(SIZE) == (rounds.LEAST_ROUNDS + rounds.LEAST_ROUNDS // 2) * model.length * max(1, model.slices)
    exact = model.algbw_at(SIZE, least=estimate)
    assert exact == model.point(SIZE).algbw != estimate
    assert exact == pytest.approx(estimate, rel=0.1)
    assert model.algbw_at(SIZE, least=2 * estimate) == estimate


def test_a_program_with_too_many_instructions_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = model_of(*CASES[0]).point(SIZE)
    monkeypatch.setattr(rounds, "MOST_SIMULATED", 20 * model_of(*CASES[0]).length)
    estimated = model_of(*CASES[0]).point(SIZE)
    assert estimated.pieces == exact.pieces
    assert estimated.seconds != exact.seconds
    assert estimated.seconds == pytest.approx(exact.seconds, rel=0.05)
