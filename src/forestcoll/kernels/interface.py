"""The interface of all cores. Networks have integer capacities; the terminals are the compute nodes."""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = npt.NDArray[np.int32]

ReportProgress: TypeAlias = Callable[[int, int], None] | None
"""Called from time to time with (done, total). It may raise an error to stop the work."""


class AnyProblem(Protocol):
    """A network with its terminals; made by `Core.Problem`, and opaque outside its core."""


class LogicalNetwork(Protocol):
    """A network after all switches were removed, with the paths behind its logical arcs."""

    def arcs(self) -> tuple[list[int], list[int], list[int]]:
        """Return tails, heads and capacities of the arcs that have capacity."""


class TreeBatches(Protocol):
    """Spanning trees over logical arcs, each with its multiplicity."""

    def lists(self, logical: LogicalNetwork) -> tuple[list[int], list[int], list[int], list[int]]:
        """Return roots, multiplicities, and tails and heads of all tree edges, N - 1 edges for each tree."""


class RoutedTrees(NamedTuple):
    """Spanning trees over physical paths.

    Attributes:
        roots: the root of each tree.
        multiplicities: how many copies of each tree there are.
        paths: the path numbers of all trees, N - 1 for each tree; a path follows the path that reaches its first node.
        path_starts: where each path begins in `path_nodes`, and one past the end of the last path.
        path_nodes: the nodes of all paths, in 16 bits if the numbers of all nodes fit.
    """

    roots: list[int]
    multiplicities: list[int]
    paths: npt.NDArray[np.int32]
    path_starts: npt.NDArray[np.int32]
    path_nodes: npt.NDArray[np.int16] | npt.NDArray[np.int32]


class StepTransfers(NamedTuple):
    """Parts of shards that cross links, as columns; steps count from 0, and rows are in no particular order.

    Attributes:
        steps: the step of each transfer.
        shards: the node whose shard the transfer sends a part of.
        sources: the node that sends.
        targets: the node that receives.
        lows: the index of the point where the part begins.
        highs: the index of the point where the part ends.
        numerators: numerators of the points, which are distinct fractions of a shard in lowest terms.
        denominators: denominators of the points.
    """

    steps: npt.NDArray[np.int32]
    shards: npt.NDArray[np.int32]
    sources: npt.NDArray[np.int32]
    targets: npt.NDArray[np.int32]
    lows: npt.NDArray[np.int32]
    highs: npt.NDArray[np.int32]
    numerators: list[int]
    denominators: list[int]


class TakenChunks(NamedTuple):
    """What TACOS did: the time of the last transfer, and the transfers in the order of their ends, as columns.

    Attributes:
        time: the time of the last transfer.
        chunks: the chunk of each transfer.
        sources: the place that sends.
        targets: the place that receives.
    """

    time: int
    chunks: Numbers
    sources: Numbers
    targets: Numbers


class TurnRule(IntEnum):
    """How a tree of MultiTree chooses its next edge; `algorithms/multitree.py` explains the rules."""

    SOURCE = 0
    WIDEST = 1
    REMAINING = 2
    BANDWIDTH = 3


class Core(Protocol):
    """The flow algorithms, in one width of integers."""

    def Problem(  # noqa: N802 (it constructs a Problem from all its parts)
        self,
        nodes: int,
        tails: Sequence[int],
        heads: Sequence[int],
        capacities: Sequence[int],
        terminals: Sequence[int],
        weights: Sequence[int] = (),
    ) -> AnyProblem:
        """Return the network with these arcs; `terminals` must rise.

        `weights` gives, for each terminal, how much of the data it holds: 0 or more, and at least one above 0. Without
        `weights` all terminals hold 1. In the other methods, `supply` is that of a terminal of weight 1.
        """

    def bottleneck(self, problem: AnyProblem, progress: ReportProgress = None) -> tuple[int, int, list[int]]:
        """Return weight inside, exit capacity and nodes of a cut S with the greatest ratio of the two (§4).

        S lacks at least one terminal. Every terminal must be reachable from every other.
        """

    def supply_reaches_all(self, problem: AnyProblem, supply: int, progress: ReportProgress = None) -> bool:
        """Return whether every terminal can receive `supply` times its weight from each terminal (Theorem 3)."""

    def split_capacity(self, problem: AnyProblem, supply: int, way: tuple[int, int, int], amount: int) -> int:
        """Return how much capacity of the path u -> w -> t (`way`) can become u -> t, at most `amount` (Theorem 6).

        `supply_reaches_all` stays true up to the result and becomes false above it, unless the result is `amount`.
        """

    def tree_capacity(self, problem: AnyProblem, remaining: Sequence[int], arc: int, multiplicity: int) -> int:
        """Return how many copies of a tree can take `arc` while all other trees stay possible (Theorem 10).

        Capacities are those that the tree leaves; `remaining[v]` counts the other trees from v that are still to be
        made.
        """

    def remove_switches(self, problem: AnyProblem, supply: int, progress: ReportProgress = None) -> LogicalNetwork:
        """Return the network with every switch removed while `supply_reaches_all` stays true (Algorithm 3)."""

    def pack_trees(
        self, problem: AnyProblem, logical: LogicalNetwork, supply: int, progress: ReportProgress = None
    ) -> tuple[TreeBatches, Mapping[str, int]]:
        """Return, for each terminal, `supply` times its weight spanning trees (Algorithm 4), and counters."""

    def route_trees(
        self, problem: AnyProblem, logical: LogicalNetwork, batches: TreeBatches, progress: ReportProgress = None
    ) -> RoutedTrees:
        """Return the trees over physical paths (appendix E.3)."""

    def grow_trees(
        self, problem: AnyProblem, supply: int, progress: ReportProgress = None, *, prove: bool = True
    ) -> tuple[RoutedTrees, Mapping[str, int]]:
        """Return, for each terminal, `supply` times its weight spanning trees, grown optimistically, and counters.

        Trees that cannot be grown are packed as `pack_trees` does. Where `prove` is false they are left out instead,
        and `counters["missing"]` counts them.
        """

    def grow_base_trees(
        self,
        problem: AnyProblem,
        supply: int,
        images: Sequence[Sequence[int]],
        arc_orbits: Sequence[int],
        unit: int,
        progress: ReportProgress = None,
    ) -> tuple[RoutedTrees, Mapping[str, int]]:
        """Return spanning trees from one terminal of each orbit; together their images respect all capacities.

        A terminal whose orbit has n nodes has `supply` * n / `unit` trees, and `unit` divides each n. So if n is the
        number of elements of the group for each terminal and `unit` is the same number, each has `supply` trees.
        `images` gives, for each shift, the image of each node. `arc_orbits` gives, for each arc, the arc that
        represents its orbit. `counters["missing"]` counts the roots without trees.
        """

    def broadcast_breadth_first(
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
        multiples of 1/`chunks` of a shard. At every step, the longest time of any arc into a node is minimal. All nodes
        are terminals and reach each other. If `targets` is not empty, only what these nodes receive is returned.
        """

    def spread_all_to_all(
        self, problem: AnyProblem, rounds: int, gap: float, progress: ReportProgress = None
    ) -> tuple[int, list[int], list[int]]:
        """Return a nearly optimal flow that sends the same number of units between all pairs of terminals (A.5).

        Returns the number of units for each pair, the load of each arc, and lengths of the arcs, 0 or more, that prove
        an upper bound for each flow. Stops after `rounds` rounds, or when the bound is at most 1 + `gap` times the
        result.
        """

    def distance_sum(self, problem: AnyProblem, lengths: Sequence[int], progress: ReportProgress = None) -> int:
        """Return the sum of the distances between all ordered pairs of terminals; lengths of arcs are 0 or more."""

    def take_chunks(
        self,
        places: int,
        links: Sequence[Sequence[int]],
        rates: Sequence[int],
        durations: Sequence[int],
        capacities: Sequence[int],
        chunks: int,
        seed: int,
        progress: ReportProgress = None,
    ) -> TakenChunks:
        """Return the transfers of TACOS (MICRO 2024) by which all places receive the `chunks` chunks of each place.

        The path from place s to place t has the number s * `places` + t: its `links`, none if there is no path, its
        rate and the duration of a transfer. `capacities` are those of the links. If some places cannot be reached,
        there are fewer transfers than pairs of a chunk and a place without it.
        """

    def take_turns(
        self,
        nodes: int,
        tails: Sequence[int],
        heads: Sequence[int],
        widths: Sequence[int],
        copies: Sequence[int],
        members: Sequence[int],
        rule: int,
        progress: ReportProgress = None,
    ) -> tuple[Numbers, Numbers] | None:
        """Return the trees of MultiTree (ISCA 2021) by a `TurnRule`.

        The columns are where each path begins, and the nodes of all paths. Each member has a tree, and each tree a path
        for each other member, in the order of joining. The links between `tails` and `heads` rise by their ends;
        `widths` are the places of their bandwidths in the order of bandwidths, and `copies` how often each may be used
        in a time step. The result is None if some members cannot be reached through other nodes and members.
        """

    def grow_shallow(
        self,
        places: int,
        links: Sequence[Sequence[int]],
        following: Sequence[int],
        weights: Sequence[int],
        roots: Sequence[int],
        more: int,
        height: int,
        passes: int,
        progress: ReportProgress = None,
    ) -> tuple[list[int], Numbers]:
        """Return the roots of trees of bounded height that load links about equally, and the parents of all places.

        The send from place s to place t has the number s * `places` + t, with the numbers of its `links`, none if it
        is not possible; `weights` are the busy times of the links. `following` has, for each root and each place, the
        most sends from the place to one that it is on a shortest path to. There is a tree for each of `roots`, then
        `more` from the roots that add least, and nodes move for `passes` passes. The parent of a root is -1.
        """
