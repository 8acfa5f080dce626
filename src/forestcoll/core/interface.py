"""What every core offers. Networks have integer capacities; terminals are the compute nodes."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

ReportProgress: TypeAlias = Callable[[int, int], None] | None
"""Called now and then with how much is done, of how much; may raise to stop the work."""


class AnyProblem(Protocol):
    """A network with its terminals; made by `Core.Problem`, opaque outside its core."""


class LogicalNetwork(Protocol):
    """A network whose switches are split off, and the paths behind its logical arcs."""

    def arcs(self) -> tuple[list[int], list[int], list[int]]:
        """Return tails, heads and capacities of the arcs that have capacity."""


class TreeBatches(Protocol):
    """Spanning trees over logical arcs, each with its multiplicity."""

    def lists(self, logical: LogicalNetwork) -> tuple[list[int], list[int], list[int], list[int]]:
        """Return roots, multiplicities, and tails and heads of all tree edges, N - 1 a tree."""


class RoutedTrees(NamedTuple):
    """Spanning trees over physical paths.

    Attributes:
        roots: the root of each tree.
        multiplicities: how many copies of each tree there are.
        paths: the path numbers of all trees, N - 1 a tree, each path after the one that leads to its first node.
        path_starts: where each path begins in `path_nodes`, and one past the last.
        path_nodes: the nodes of all paths.
    """

    roots: list[int]
    multiplicities: list[int]
    paths: npt.NDArray[np.int32]
    path_starts: npt.NDArray[np.int32]
    path_nodes: npt.NDArray[np.int32]


class StepTransfers(NamedTuple):
    """Parts of shards that cross links, a column each; steps count from 0, in no order.

    Attributes:
        steps: the step of each transfer.
        shards: the node whose shard it sends a part of.
        sources: the node that sends.
        targets: the node that receives.
        lows: the place of the point where the part begins.
        highs: the place of the point where it ends.
        numerators: of the points, distinct fractions of a shard in lowest terms.
        denominators: likewise.
    """

    steps: npt.NDArray[np.int32]
    shards: npt.NDArray[np.int32]
    sources: npt.NDArray[np.int32]
    targets: npt.NDArray[np.int32]
    lows: npt.NDArray[np.int32]
    highs: npt.NDArray[np.int32]
    numerators: list[int]
    denominators: list[int]


class Core(Protocol):
    """The flow algorithms, in one width of integers."""

    def Problem(  # noqa: N802, PLR0913, PLR0917 (it makes a Problem, of all that there is to it)
        self,
        nodes: int,
        tails: Sequence[int],
        heads: Sequence[int],
        capacities: Sequence[int],
        terminals: Sequence[int],
        weights: Sequence[int] = (),
    ) -> AnyProblem:
        """Return the network with these arcs; `terminals` rise.

        `weights` say of each terminal how much of the data it holds, 0 or more, with at least one above 0; all hold 1
        unless they are given. What is called `supply` below is that of a terminal of weight 1.
        """

    def bottleneck(self, problem: AnyProblem, progress: ReportProgress = None) -> tuple[int, int, list[int]]:
        """Return weight inside, exit capacity and nodes of a cut S that maximises their ratio (§4).

        S misses at least one terminal. Every terminal must be reachable from every other.
        """

    def feeds(self, problem: AnyProblem, supply: int, progress: ReportProgress = None) -> bool:
        """Return whether every terminal can receive `supply` times its weight from each terminal (Theorem 3)."""

    def split_capacity(self, problem: AnyProblem, supply: int, way: tuple[int, int, int], amount: int) -> int:
        """Return how much of the way u -> w -> t can become u -> t, at most `amount` (Theorem 6).

        `feeds` stays true for it and becomes false beyond it, unless `amount` was the limit.
        """

    def tree_capacity(self, problem: AnyProblem, remaining: Sequence[int], arc: int, multiplicity: int) -> int:
        """Return how many of a tree's copies can take `arc` so that all other trees stay possible (Theorem 10).

        Capacities are those left beside the tree; `remaining[v]` counts the other trees still to come from v.
        """

    def remove_switches(self, problem: AnyProblem, supply: int, progress: ReportProgress = None) -> LogicalNetwork:
        """Return the network with every switch split off, `feeds` staying true (Algorithm 3)."""

    def pack_trees(
        self, problem: AnyProblem, logical: LogicalNetwork, supply: int, progress: ReportProgress = None
    ) -> tuple[TreeBatches, Mapping[str, int]]:
        """Return `supply` spanning trees, times its weight, from every terminal (Algorithm 4), and counters."""

    def route_trees(
        self, problem: AnyProblem, logical: LogicalNetwork, batches: TreeBatches, progress: ReportProgress = None
    ) -> RoutedTrees:
        """Return the trees over physical paths (appendix E.3)."""

    def grow_trees(
        self, problem: AnyProblem, supply: int, progress: ReportProgress = None, *, prove: bool = True
    ) -> tuple[RoutedTrees, Mapping[str, int]]:
        """Return `supply` spanning trees, times its weight, from every terminal, grown optimistically, and counters.

        Trees that cannot be grown are packed by the proven way, or are missing where `prove` is false: then
        `counters["missing"]` counts them.
        """

    def grow_base_trees(  # noqa: PLR0913, PLR0917 (a symmetry is three values)
        self,
        problem: AnyProblem,
        supply: int,
        images: Sequence[Sequence[int]],
        arc_orbits: Sequence[int],
        order: int,
        progress: ReportProgress = None,
    ) -> tuple[RoutedTrees, Mapping[str, int]]:
        """Return `supply` spanning trees from one terminal of each orbit, whose images use no arc too much.

        `images` says of each shift where it sends each node, `arc_orbits` of each arc which one of its orbit stands
        for all, and `order` how large the group is. `counters["missing"]` counts the roots whose trees are missing.
        """

    def broadcast_breadth_first(  # noqa: PLR0913, PLR0917 (the network, three forms of the problem, and who receives)
        self,
        problem: AnyProblem,
        demand: int,
        latencies: Sequence[int],
        chunks: int,
        targets: Sequence[int] = (),
        progress: ReportProgress = None,
    ) -> StepTransfers:
        """Return the columns of `StepTransfers` by which every node broadcasts its shard breadth first (BFB, §6).

        A capacity is a rate: a shard takes latency + `demand` / rate over an arc. If `chunks` is not 0, parts are whole
        multiples of 1/`chunks` of a shard. Each node's greatest time over its arcs is least at every step. All nodes
        are terminals and reach each other. With `targets` only what these receive is returned.
        """

    def spread_all_to_all(
        self, problem: AnyProblem, rounds: int, gap: float, progress: ReportProgress = None
    ) -> tuple[int, list[int], list[int]]:
        """Return a flow that sends as many units from each terminal to each other, nearly as fast as can be (A.5).

        That is: how many units, how many of all of them cross each arc, and lengths of the arcs, 0 or more, that bound
        any flow from above. Ends after so many `rounds`, or when the bound is at most 1 + `gap` times what is reached.
        """

    def distance_sum(self, problem: AnyProblem, lengths: Sequence[int], progress: ReportProgress = None) -> int:
        """Return the distances between all ordered pairs of terminals, added up; lengths of arcs are 0 or more."""
