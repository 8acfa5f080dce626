"""Checks a program: it is well formed, and in every run it comes to its end and computes the right data."""

from dataclasses import dataclass

from forestcoll.base.errors import InputError
from forestcoll.base.resources import require_memory
from forestcoll.programs.interpreter.compiled import Compiled
from forestcoll.programs.interpreter.execution import fault_of_data
from forestcoll.programs.interpreter.memory import Memory
from forestcoll.programs.interpreter.order import RunState, run_to_the_end
from forestcoll.programs.interpreter.stops import matching_faults, stop_of
from forestcoll.programs.model import DeferredRanks, Message, Program, ProgramFault, block_counts, first_malformed


@dataclass(frozen=True, slots=True)
class ProgramReport:
    """The result of checking a program.

    Attributes:
        fault: the first fault, or None if the program is right.
        placement: `in place` or `out of place` if the fault occurs in only one of them; the other may be right.
        instructions: the number of instructions.
        messages: the number of instructions that send a message.
    """

    fault: ProgramFault | None
    placement: str | None = None
    instructions: int = 0
    messages: int = 0

    @property
    def ok(self) -> bool:
        """Return whether the program is right."""
        return self.fault is None


_BYTES_OF_CELL = 28
"""Bytes of memory for each chunk of a buffer, and for each chunk of the data of a rank."""

_MOST_BLOCKS = 2**17
"""The most thread blocks of a program that is run, such as 128 on each of 1,024 ranks."""


def check(program: Program) -> ProgramReport:
    """Return the verdict on `program`; it is always the same, because it does not depend on the order of a run.

    Raises:
        InputError: the program has too many chunks or blocks.
    """
    _check_size(program)
    compiled = Compiled.of(program)
    if compiled is not None and compiled.is_right():
        return ProgramReport(None, None, compiled.instructions, compiled.messages)
    return interpreted(program)


def _check_size(program: Program) -> None:
    buffers = 2 * program.chunks * len(program.ranks)
    if not isinstance(program.ranks, DeferredRanks):  # these are not made only to be counted
        buffers = sum(each.input_chunks + each.output_chunks + each.scratch_chunks for each in program.ranks)
    cells = buffers + 2 * program.chunks * len(program.ranks)
    work = f"running a program with {buffers:,} chunks in all buffers"
    require_memory(work, _BYTES_OF_CELL * cells, "use fewer chunks")
    blocks = sum(block_counts(program))
    if blocks > _MOST_BLOCKS:
        raise InputError(f"the program has {blocks:,} thread blocks, and at most {_MOST_BLOCKS:,} can be run")


def interpreted(program: Program) -> ProgramReport:
    """Return the verdict of the interpreter in Python."""
    listed = [each for *_, each in program.instructions()]
    sizes = len(listed), sum(any(isinstance(place, Message) for place in each.targets) for each in listed)
    if (fault := first_malformed(program)) is not None:
        return ProgramReport(fault, None, *sizes)
    known: RunState | None = None
    for in_place in (True, False):
        if (in_place and program.in_place) or (not in_place and program.out_of_place):
            run = _run(program, known, in_place=in_place)
            fault = None if run is known else _fault_of_order(run)
            fault = fault or fault_of_data(run)
            if fault is not None:
                return ProgramReport(fault, "in place" if in_place else "out of place", *sizes)
            known = run
    return ProgramReport(None, None, *sizes)


def _run(program: Program, known: RunState | None, *, in_place: bool) -> RunState:
    """Return a run of `program`. Only packets depend on the memory, so without them a known run has the same order."""
    memory = Memory.of(program, in_place=in_place)
    if known is None or known.packets.any():
        return run_to_the_end(program, memory)
    known.memory = memory
    return known


def _fault_of_order(run: RunState) -> ProgramFault | None:
    """Return the first channel whose ends differ, or the reason why the run stopped; None if it came to its end."""
    return next(matching_faults(run), None) or stop_of(run)
