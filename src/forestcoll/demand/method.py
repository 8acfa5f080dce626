"""The names of the methods. They have their own module so that the command line can list them without loading them."""

from enum import StrEnum


class Method(StrEnum):
    """A method of finding trees. All methods reach the optimum.

    Example:
        >>> from forestcoll import generate
        >>> generate("ring:nodes=3", method=Method.PROVEN).size
        '3 trees'
    """

    AUTO = "auto"
    """The fast method, and the proven method for trees that the fast method cannot complete."""
    FAST = "fast"
    """The fast method only."""
    PROVEN = "proven"
    """The method of the paper: edge splitting and tree packing."""


class StepMethod(StrEnum):
    """A method of finding step schedules, for networks without switches.

    Example:
        >>> from forestcoll import build_topology, generate_steps
        >>> generate_steps(build_topology("ring:nodes=4"), method=StepMethod.RING).steps
        3
    """

    BFB = "bfb"
    """Breadth-first broadcast: the fewest steps, and the least bandwidth time over shortest paths."""
    RING = "ring"
    """Around rings of links, for example on a ring or on shifted rings."""
    TORUS_RINGS = "torus-rings"
    """Around the rings of a torus, one dimension after another: the traditional torus algorithm."""
    HALVING_DOUBLING = "halving-doubling"
    """Recursive halving and doubling, on a hypercube."""
    DOUBLE_BINARY_TREE = "double-binary-tree"
    """A pipelined allreduce along two binary trees."""
    STEPS = "steps"
    """An all-to-all in the fewest steps, and with the least bandwidth time in so many steps."""
