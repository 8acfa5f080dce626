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
    RING = "ring"
    """Around rings of links, as on a ring or on shifted rings."""
    TORUS_RINGS = "torus-rings"
    """Around the rings of a torus, one dimension after another: the traditional torus algorithm."""
    HALVING_DOUBLING = "halving-doubling"
    """Recursive halving and doubling, on a hypercube."""
    DOUBLE_BINARY_TREE = "double-binary-tree"
    """An allreduce along two binary trees, in a pipeline."""
