"""By which way schedules are found; apart from the ways themselves, so that the command line can name them unloaded."""

from enum import StrEnum


class Method(StrEnum):
    """How trees are found; all ways reach the optimum."""

    AUTO = "auto"
    """The fast way, and the proven way for what it cannot complete."""
    FAST = "fast"
    """The fast way alone."""
    PROVEN = "proven"
    """The paper's way: edge splitting and tree packing."""


class StepMethod(StrEnum):
    """How steps are found, on networks without switches."""

    BFB = "bfb"
    """Breadth-first broadcast: the fewest steps, and the least bandwidth time over shortest paths."""
