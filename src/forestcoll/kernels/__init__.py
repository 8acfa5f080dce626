"""The native core: max-flows, growing trees, events of simulations; one interface, three widths of integers.

`narrow` and `wide` are the native core with 64-bit and 128-bit integers. `reference` is plain Python, whose integers
have no limit. `core_for` selects the first implementation that is wide enough, so no result overflows.
"""

from forestcoll.kernels.interface import AnyProblem, Core, LogicalNetwork, RoutedTrees, StepTransfers, TreeBatches
from forestcoll.kernels.selection import core_for, cores, is_native

__all__ = [
    "AnyProblem",
    "Core",
    "LogicalNetwork",
    "RoutedTrees",
    "StepTransfers",
    "TreeBatches",
    "core_for",
    "cores",
    "is_native",
]
