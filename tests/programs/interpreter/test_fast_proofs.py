"""The fast proofs accept correct programs, and never a program that the plain execution refuses.

They are the compiled one and the one of components alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice, product
from typing import Any

import pytest
from mutations import MUTATIONS

from forestcoll import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.demand import Demand
from forestcoll.programs.interpreter.checking import interpreted
from forestcoll.programs.interpreter.compiled import Compiled
from forestcoll.programs.interpreter.components import components_of, whole
from forestcoll.programs.interpreter.execution import fault_in_components, fault_of_data
from forestcoll.programs.interpreter.memory import Memory
from forestcoll.programs.interpreter.order import RunState, run_to_the_end
from forestcoll.programs.interpreter.stops import matching_faults, stop_of
from forestcoll.programs.lowering import Options, Placement, Style, lower
from forestcoll.programs.model import Barrier, Block, Instruction, Program, Protocol, Span, first_malformed
from small_programs import exchange, put, with_instruction

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce")
BOXES = "dgx-a100:boxes=2,gpus=2"
MESSAGES = Options(pieces=2)
SIGNALS = Options(style=Style.ONE_SIDED, placement=Placement.OUT_OF_PLACE)
IN_PLACE = replace(SIGNALS, placement=Placement.IN_PLACE, pieces=2, blocks=1)
OVER_INPUT = replace(SIGNALS, placement=Placement.IN_PLACE, pieces=2, children=1)
SEMAPHORES = replace(SIGNALS, children=1, pieces=2)
INSTANCES = replace(SIGNALS, instances=2)


@cache
def program_for(spec: str, collective: str, options: Options) -> Program:
    root = 1 if collective in {"broadcast", "reduce"} else None
    return lower(generate(spec, Demand(collective, root=root)), options).program


def is_proven(program: Program) -> bool:
    compiled = Compiled.of(program)
    return compiled is not None and compiled.is_right()


def run_of(program: Program, *, in_place: bool = False) -> RunState:
    return run_to_the_end(program, Memory.of(program, in_place=in_place))


def runs(program: Program) -> Iterator[RunState]:
    """Yield the runs in place and out of place of a program that is well-formed, if they come to their end."""
    if first_malformed(program) is None:
        for run in (run_of(program, in_place=in_place) for in_place in (True, False)):
            if next(matching_faults(run), None) is None and stop_of(run) is None:
                yield run


@pytest.mark.parametrize("options", [MESSAGES, SIGNALS, IN_PLACE, OVER_INPUT, SEMAPHORES])
@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("spec", [BOXES, "ring:nodes=4"])
def test_programs_are_proven_as_the_interpreter_proves_them(spec: str, collective: str, options: Options) -> None:
    program = program_for(spec, collective, options)
    assert is_proven(program)
    compiled, verdict = Compiled.of(program), interpreted(program)
    assert verdict.ok
    assert compiled is not None
    assert (compiled.instructions, compiled.messages) == (verdict.instructions, verdict.messages)


def test_a_sum_of_many_parts_over_the_input_is_proven_fast() -> None:
    """The root adds up 11 contributions in two instructions, which both write its output."""
    program = program_for("complete:nodes=12", "allreduce", OVER_INPUT)
    assert is_proven(program)
    assert interpreted(program).ok


@pytest.mark.parametrize("mutate", MUTATIONS)
@pytest.mark.parametrize("options", [MESSAGES, SIGNALS, IN_PLACE, OVER_INPUT, SEMAPHORES])
def test_no_broken_program_is_proven(options: Options, mutate: Callable[[Program], Iterator[Program]]) -> None:
    for collective in COLLECTIVES:
        for broken in islice(mutate(program_for(BOXES, collective, options)), 0, None, 7):
            assert not is_proven(broken) or interpreted(broken).ok, collective


def changed_signals(program: Program) -> Iterator[Program]:
    """A wait, a signal, a flush, a semaphore or a meeting is missing, or one is relaxed."""
    names = ("waits", "signals", "flushes", "acquires", "releases")
    for rank, block, number, each in program.instructions():
        changes: list[dict[str, Any]] = [{name: ()} for name in names if getattr(each, name)]
        changes += [{"meets": not each.meets}, {"relaxed": not each.relaxed}]
        for change in changes:
            yield with_instruction(program, (rank, block, number), replace(each, **change))


def test_unusual_programs_are_left_to_the_interpreter() -> None:
    packets = program_for(BOXES, "allgather", replace(SIGNALS, protocol=Protocol.LL))
    assert not is_proven(packets)
    assert interpreted(packets).ok
    program = program_for("ring:nodes=4", "allgather", SIGNALS)
    blocks = program.ranks[0].blocks
    meeting = replace(blocks[0], instructions=(Instruction(barrier=Barrier(0, 1)), *blocks[0].instructions))
    rank = replace(program.ranks[0], blocks=(meeting, *blocks[1:]))
    assert Compiled.of(replace(program, ranks=(rank, *program.ranks[1:]))) is None
    assert fault_of_data(run_of(program)) is None


def changed_semaphores(program: Program) -> Iterator[Program]:
    """A semaphore begins with 1, is released by two blocks, twice or too early, or is acquired twice or too late."""
    for number, changed in enumerate(program.ranks):
        for semaphore in range(len(changed.semaphores)):
            counts = tuple(int(each == semaphore) for each in range(len(changed.semaphores)))
            ranks = (*program.ranks[:number], replace(changed, semaphores=counts), *program.ranks[number + 1 :])
            yield replace(program, ranks=ranks)
    for rank, block, number, each in program.instructions():
        place = rank, block, number
        if each.acquires or each.releases:
            taken, given = each.acquires, each.releases
            yield with_instruction(program, place, replace(each, acquires=given, releases=taken))
            yield with_instruction(program, place, replace(each, acquires=taken * 2, releases=given * 2))
        elif program.ranks[rank].semaphores:
            yield with_instruction(program, place, replace(each, releases=(0,)))
            yield with_instruction(program, place, replace(each, acquires=(0,)))


def test_programs_with_semaphores_are_proven_and_unknown_ones_are_left_to_the_interpreter() -> None:
    program = program_for("complete:nodes=4", "broadcast", SEMAPHORES)
    assert any(each.acquires for *_, each in program.instructions())
    assert is_proven(program)
    for rank, block, number, each in islice(program.instructions(), 0, None, 3):
        for name in ("acquires", "releases"):
            for wrong in (-1, len(program.ranks[rank].semaphores)):
                unknown: dict[str, Any] = {name: (wrong,)}
                assert Compiled.of(with_instruction(program, (rank, block, number), replace(each, **unknown))) is None


def of_another_rank(program: Program) -> Iterator[Program]:
    """Data is written to another rank than that of the channel, or a channel of another rank is flushed."""
    size = len(program.ranks)
    for rank, block, number, each in program.instructions():
        for place, target in enumerate(each.targets):
            if isinstance(target, Span) and each.channel is not None:
                moved = replace(target, rank=(target.rank + 1) % size)
                targets = (*each.targets[:place], moved, *each.targets[place + 1 :])
                yield with_instruction(program, (rank, block, number), replace(each, targets=targets))
        for place, flushed in enumerate(each.flushes):
            other = next(
                key
                for key, channel in enumerate(program.channels)
                if channel.kind is program.channels[flushed].kind and channel.source != rank
            )
            flushes = (*each.flushes[:place], other, *each.flushes[place + 1 :])
            yield with_instruction(program, (rank, block, number), replace(each, flushes=flushes))


ONE_SIDED = (SIGNALS, IN_PLACE, SEMAPHORES)


@pytest.mark.parametrize(
    ("change", "spec", "collective", "options", "step"),
    [
        *((changed_signals, BOXES, *case, 17) for case in product(("allreduce", "broadcast"), ONE_SIDED)),
        *((changed_semaphores, "complete:nodes=4", each, SEMAPHORES, 5) for each in ("broadcast", "allreduce")),
        *((of_another_rank, BOXES, "allgather", options, 1) for options in ONE_SIDED),
    ],
)
def test_no_changed_program_is_proven_but_refused(
    change: Callable[[Program], Iterator[Program]], spec: str, collective: str, options: Options, step: int
) -> None:
    changes = list(islice(change(program_for(spec, collective, options)), 0, None, step))
    verdicts = [(is_proven(each), interpreted(each).ok) for each in changes]
    assert all(ok or not proven for proven, ok in verdicts)
    assert sum(not ok for _, ok in verdicts) > (10 if change is of_another_rank else 0)
    assert change is of_another_rank or any(proven for proven, _ in verdicts)


def test_blocks_that_exchange_their_own_data_are_components() -> None:
    program = program_for(BOXES, "allgather", INSTANCES)
    run = run_of(program)
    components = components_of(run)
    blocks = [(rank, block) for rank, each in enumerate(program.ranks) for block in range(len(each.blocks))]
    assert [len(component.blocks) for component in components] == [4] * (len(blocks) // 4)
    assert sorted(block for component in components for block in component.blocks) == blocks
    assert sorted(place for component in components for place in component.order) == sorted(run.order)
    assert sorted(number for component in components for number in component.ports) == sorted(whole(run).ports)
    assert len(components_of(run_of(exchange()))) == 2  # one for each direction
    assert len(components_of(run_of(put()))) == 1


def test_a_barrier_joins_the_blocks_of_a_rank() -> None:
    program = program_for(BOXES, "allgather", INSTANCES)
    ranks = []
    for rank in program.ranks:
        met = Instruction(barrier=Barrier(0, len(rank.blocks)))
        ranks.append(replace(rank, blocks=tuple(Block((met, *block.instructions)) for block in rank.blocks)))
    assert len(components_of(run_of(replace(program, ranks=tuple(ranks))))) == 1


@pytest.mark.parametrize("mutate", MUTATIONS)
def test_components_are_right_if_the_whole_is(mutate: Callable[[Program], Iterator[Program]]) -> None:
    for broken in islice(mutate(program_for(BOXES, "allreduce", INSTANCES)), 0, None, 25):
        for run in runs(broken):
            faults = [fault_in_components(run, each) for each in (components_of(run), [whole(run)])]
            assert (faults[0] is None) == (faults[1] is None)


def test_the_order_of_too_many_blocks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.programs.interpreter.clocks.MOST_ACTORS", 3)
    run = run_of(program_for(BOXES, "allgather", INSTANCES))
    with pytest.raises(InputError, match=r"thread blocks, helpers and ranks .*; at most 3 can be checked"):
        fault_in_components(run, components_of(run))
