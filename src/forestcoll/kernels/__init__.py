"""The native core: max-flows, trees, greedy searches, events of simulations; one interface, three widths of integers.

`narrow` and `wide` are the native core with 64-bit and 128-bit integers. `reference` is plain Python, whose integers
have no limit. `core_for` selects the first implementation that is wide enough, so no result overflows.
"""

from forestcoll.kernels.interface import AnyProblem as AnyProblem
from forestcoll.kernels.interface import Core as Core
from forestcoll.kernels.interface import LogicalNetwork as LogicalNetwork
from forestcoll.kernels.interface import RoutedTrees as RoutedTrees
from forestcoll.kernels.interface import StepTransfers as StepTransfers
from forestcoll.kernels.interface import TakenChunks as TakenChunks
from forestcoll.kernels.interface import TreeBatches as TreeBatches
from forestcoll.kernels.interface import TurnRule as TurnRule
from forestcoll.kernels.selection import core_for as core_for
from forestcoll.kernels.selection import cores as cores
from forestcoll.kernels.selection import is_native as is_native
