"""The fast proof by the order within ranks accepts correct programs, and never a program that the execution refuses."""

from collections.abc import Callable, Iterator
from itertools import islice

import pytest
from mutations import MUTATIONS

from forestcoll import generate
from forestcoll.programs.interpreter.execution import fault_of_data
from forestcoll.programs.interpreter.local_order import is_proven
from forestcoll.programs.interpreter.memory import Memory
from forestcoll.programs.interpreter.order import Run, run_to_the_end
from forestcoll.programs.interpreter.stops import matching_faults, stop_of
from forestcoll.programs.lowering import Options, Placement, Style, lower
from forestcoll.programs.model import Program, first_malformed

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce")
SPECS = ("dgx-a100:boxes=2,gpus=2", "ring:nodes=4")


def program_for(spec: str, collective: str, pieces: int = 1) -> Program:
    root = 1 if collective in {"broadcast", "reduce"} else None
    return lower(generate(spec, collective=collective, root=root), Options(pieces=pieces)).program


def runs(program: Program) -> Iterator[Run]:
    for in_place in (True, False):
        yield run_to_the_end(program, Memory.of(program, in_place=in_place))


@pytest.mark.parametrize("pieces", [1, 2])
@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("spec", SPECS)
def test_programs_of_trees_are_proven_in_place_and_out_of_place(spec: str, collective: str, pieces: int) -> None:
    program = program_for(spec, collective, pieces)
    assert [is_proven(run) for run in runs(program)] == [True, True]


@pytest.mark.parametrize("mutate", MUTATIONS)
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_no_broken_program_is_proven(collective: str, mutate: Callable[[Program], Iterator[Program]]) -> None:
    for broken in islice(mutate(program_for(SPECS[0], collective)), 0, None, 5):
        if first_malformed(broken) is not None:
            continue
        for run in runs(broken):
            if next(matching_faults(run), None) is None and stop_of(run) is None and is_proven(run):
                assert fault_of_data(run) is None


def test_programs_that_write_to_other_ranks_are_left_to_the_execution() -> None:
    options = Options(style=Style.ONE_SIDED, placement=Placement.OUT_OF_PLACE)
    program = lower(generate("ring:nodes=3"), options).program
    run = run_to_the_end(program, Memory.of(program, in_place=False))
    assert not is_proven(run)
    assert fault_of_data(run) is None
