"""By which way trees are found; apart from the ways themselves, so that the command line can name them unloaded."""

from enum import StrEnum


class Method(StrEnum):
    """How trees are found; all ways reach the optimum."""

    AUTO = "auto"
    """The fast way, and the proven way for what it cannot complete."""
    FAST = "fast"
    """The fast way alone."""
    PROVEN = "proven"
    """The paper's way: edge splitting and tree packing."""
