"""The flow algorithms: one interface, three implementations that give the same answers.

`narrow` and `wide` are the native core with 64-bit and 128-bit integers; `reference` is plain Python, which has no
widest integer. `core_for` picks the first that is wide enough, so no answer is ever wrong for want of bits.
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
