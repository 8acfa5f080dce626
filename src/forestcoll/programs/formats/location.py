"""A location in a file for a runtime, used to report a fault."""

from dataclasses import dataclass

from forestcoll.programs.model import ProgramFault


@dataclass(frozen=True, slots=True)
class Location:
    """A rank, one of its thread blocks, and a step of that block, by their ids in the file; None is left out."""

    rank: int | None = None
    block: int | None = None
    step: int | None = None

    def fault(self, rule: str, message: str) -> ProgramFault:
        """Return the fault that `rule` is broken here; `message` says how."""
        return ProgramFault(rule, message, self.rank, self.block, self.step)
