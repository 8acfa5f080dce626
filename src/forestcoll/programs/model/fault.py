"""What is wrong with a program, and where. It is a value, not an exception, because programs come from files."""

from dataclasses import dataclass

from forestcoll.programs.model.program import Program


@dataclass(frozen=True, slots=True)
class ProgramFault:
    """The first broken rule, at the first place that breaks it.

    Attributes:
        rule: the identifier of the rule, which stays the same from version to version.
        message: what is wrong, without the place; one line.
        rank: the rank where it was found, or None if no single rank is concerned.
        block: the id of the block in the file, or None.
        step: the number of the step of that block in the file, or None.
    """

    rule: str
    message: str
    rank: int | None = None
    block: int | None = None
    step: int | None = None

    @property
    def place(self) -> str:
        """Return the place, such as "rank 3, block 1, step 7", as far as it is known; may be empty."""
        named = (("rank", self.rank), ("block", self.block), ("step", self.step))
        return ", ".join(f"{name} {value}" for name, value in named if value is not None)

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


def block_name(program: Program, rank: int, block: int) -> int:
    """Return the id that messages use for block number `block` of `rank`."""
    number = program.ranks[rank].blocks[block].number
    return block if number is None else number


def step_name(program: Program, rank: int, block: int, instruction: int) -> int:
    """Return the number of an instruction in messages: that of its step in the file, or its index in the block."""
    step = program.ranks[rank].blocks[block].instructions[instruction].step
    return instruction if step is None else step


def instruction_name(program: Program, rank: int, block: int, instruction: int) -> str:
    """Return the name of an instruction, such as "rank 3, block 1, step 7"."""
    names = block_name(program, rank, block), step_name(program, rank, block, instruction)
    return f"rank {rank}, block {names[0]}, step {names[1]}"


def fault_at(rule: str, message: str, program: Program, place: tuple[int, int, int]) -> ProgramFault:
    """Return a fault at the instruction with the numbers (rank, block, instruction)."""
    rank, block, _ = place
    return ProgramFault(rule, message, rank, block_name(program, rank, block), step_name(program, *place))
