"""A place in a file that a runtime should load, from which a fault is named."""

from dataclasses import dataclass

from forestcoll.program import Fault


@dataclass(frozen=True, slots=True)
class Spot:
    """A rank, a thread block of it, a step of that, by their ids in the file; what is None is left out."""

    rank: int | None = None
    block: int | None = None
    step: int | None = None

    def fault(self, rule: str, message: str) -> Fault:
        """Return that `rule` is broken here; `message` says how."""
        return Fault(rule, message, self.rank, self.block, self.step)
