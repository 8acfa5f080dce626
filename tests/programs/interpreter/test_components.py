"""Components of a program have nothing to do with each other, and all are right exactly if the whole program is."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import pytest
from mutations import MUTATIONS
from small_programs import exchange, put

from forestcoll import generate
from forestcoll.base.errors import InputError
from forestcoll.programs.interpreter.components import components_of, whole
from forestcoll.programs.interpreter.execution import fault_in_components
from forestcoll.programs.interpreter.memory import Memory
from forestcoll.programs.interpreter.order import Run, run_to_the_end
from forestcoll.programs.interpreter.stops import matching_faults, stop_of
from forestcoll.programs.lowering import Options, Placement, Style, lower
from forestcoll.programs.model import Barrier, Block, Instruction, Program, first_malformed


def one_sided(collective: str, instances: int = 2) -> Program:
    options = Options(style=Style.ONE_SIDED, placement=Placement.OUT_OF_PLACE, instances=instances)
    return lower(generate("dgx-a100:boxes=2,gpus=2", collective), options).program


def run_of(program: Program) -> Run:
    return run_to_the_end(program, Memory.of(program, in_place=False))


def test_blocks_that_exchange_their_own_data_are_components() -> None:
    program = one_sided("allgather")
    run = run_of(program)
    components = components_of(run)
    blocks = [(rank, block) for rank, each in enumerate(program.ranks) for block in range(len(each.blocks))]
    assert [len(component.blocks) for component in components] == [4] * (len(blocks) // 4)
    assert sorted(block for component in components for block in component.blocks) == blocks
    assert sorted(place for component in components for place in component.order) == sorted(run.order)
    assert sorted(number for component in components for number in component.ports) == sorted(whole(run).ports)


@pytest.mark.parametrize(("program", "count"), [(exchange(), 2), (put(), 1)])
def test_each_direction_of_an_exchange_is_a_component(program: Program, count: int) -> None:
    assert len(components_of(run_of(program))) == count


def test_a_barrier_joins_the_blocks_of_a_rank() -> None:
    program = one_sided("allgather")
    ranks = [
        replace(rank, blocks=tuple(Block((met(len(rank.blocks)), *block.instructions)) for block in rank.blocks))
        for rank in program.ranks
    ]
    assert len(components_of(run_of(replace(program, ranks=tuple(ranks))))) == 1


def met(blocks: int) -> Instruction:
    return Instruction(barrier=Barrier(0, blocks))


@pytest.mark.parametrize("mutate", MUTATIONS)
def test_components_are_right_if_the_whole_is(mutate: Callable[[Program], Iterator[Program]]) -> None:
    for broken in islice(mutate(one_sided("allreduce")), 0, None, 25):
        if first_malformed(broken) is not None:
            continue
        run = run_of(broken)
        if next(matching_faults(run), None) is None and stop_of(run) is None:
            assert (fault_in_components(run, components_of(run)) is None) == (
                fault_in_components(run, [whole(run)]) is None
            )


def test_the_order_of_too_many_blocks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.programs.interpreter.clocks.MOST_ACTORS", 3)
    run = run_of(one_sided("allgather"))
    with pytest.raises(InputError, match=r"thread blocks, helpers and ranks .*; at most 3 can be checked"):
        fault_in_components(run, components_of(run))
