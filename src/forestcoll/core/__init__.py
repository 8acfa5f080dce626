"""The flow algorithms: one interface and three implementations that give the same answers.

`narrow` and `wide` are the native core with 64-bit and 128-bit integers. `reference` is plain Python, whose integers
have no limit. `core_for` selects the first implementation that is wide enough, so no result overflows.
"""

from forestcoll.core.interface import AnyProblem, Core, LogicalNetwork, RoutedTrees, StepTransfers, TreeBatches
from forestcoll.core.selection import core_for, cores, is_native

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
