"""What is wrong with a program, and where: a value, for whoever wrote a bad program did not call us wrongly."""

from dataclasses import dataclass

from forestcoll.program.model import Program


@dataclass(frozen=True, slots=True)
class Fault:
    """The first broken rule, at the first place that breaks it.

    Attributes:
        rule: the rule's identifier, which stays the same from version to version.
        message: what is wrong, without the place: one line.
        rank: the rank that it was found on, or None if it is no single one's.
        block: the block's id there, as the file has it, or None.
        step: the step's number in that block, as the file has it, or None.
    """

    rule: str
    message: str
    rank: int | None = None
    block: int | None = None
    step: int | None = None

    @property
    def place(self) -> str:
        """Where it is: "rank 3, block 1, step 7", or as much of it as is known; may be empty."""
        named = (("rank", self.rank), ("block", self.block), ("step", self.step))
        return ", ".join(f"{name} {value}" for name, value in named if value is not None)

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


def block_name(program: Program, rank: int, block: int) -> int:
    """Return the id that messages use for block number `block` of `rank`."""
    number = program.ranks[rank].blocks[block].number
    return block if number is None else number


def step_name(program: Program, rank: int, block: int, instruction: int) -> int:
    """Return the number that messages use for an instruction: that of its step in the file, or its place."""
    step = program.ranks[rank].blocks[block].instructions[instruction].step
    return instruction if step is None else step


def instruction_name(program: Program, rank: int, block: int, instruction: int) -> str:
    """Return "rank 3, block 1, step 7" of an instruction."""
    names = block_name(program, rank, block), step_name(program, rank, block, instruction)
    return f"rank {rank}, block {names[0]}, step {names[1]}"


def fault_at(rule: str, message: str, program: Program, place: tuple[int, int, int]) -> Fault:
    """Return a fault at an instruction, given by the numbers of its rank, its block and itself."""
    rank, block, _ = place
    return Fault(rule, message, rank, block_name(program, rank, block), step_name(program, *place))
