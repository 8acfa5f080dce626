"""TACOS: chunks spread greedily in time, and whenever a path is free, a node takes a chunk that it needs.

All events of a moment are handled together. Transfers that end deliver their chunks. Then all pairs of a chunk and a
node without it are visited in random order. Each takes, among the free paths from nodes that have the chunk, the one
over which it arrives first; ties are broken at random. A path is busy until the chunk has arrived.

Source: TACOS (MICRO 2024, arXiv:2304.05301), `src/synthesizer/synthesizer.cpp` of version 1.3, which is for direct
links. Here, a transfer through switches follows the widest of the shortest paths and holds the rate of its slowest link
on all its links. The random numbers have fixed seeds, and the best of three runs is kept, with 1, 4 and 8 chunks for
each node. Large networks have fewer chunks.

The algbw is that of the times of the algorithm: M over the time of the last arrival, without latencies. The paths of a
chunk are a tree, and the schedule has these trees. As trees that all work at the same time, they can be faster than the
algorithm, which is stated.

Where it loses: the number of chunks is finite, and the last chunks leave links idle. The choice is greedy: a slow link
takes a chunk that would arrive earlier over another path.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import lcm

from forestcoll.algorithms.baseline import BaselineResult, Family, baseline
from forestcoll.algorithms.forests import Edge, LogicalTree, Part, forest, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.timed import timed_result
from forestcoll.demand.collective import UNROOTED
from forestcoll.kernels import core_for

MOST_NODES = 1024
"""The most compute nodes: the time of the search grows with the square of their number, times the number of chunks."""

MOST_BY_DEFAULT = 64
"""The most compute nodes in a comparison in which it is not named."""

CHUNKS = (1, 4, 8)
"""The numbers of chunks of each node that are tried."""

SEEDS = (13, 14, 15)
"""The seeds of the runs for each number of chunks.

Runs differ by up to a fifth. On two boxes of DGX A100, these have the values that are typical for the best of three
runs: 200, 228.57 and 266.67 GB/s with 1, 4 and 8 chunks.
"""

_MOST_PAIRS = 2**14
"""The most pairs of a chunk and a node with which more than one chunk is tried."""


@baseline(
    "tacos",
    Family.TREES,
    UNROOTED,
    title="TACOS",
    summary="A greedy schedule in steps of time, the best of several random orders",
    by_size=False,
    most_by_default=MOST_BY_DEFAULT,
)
def tacos(problem: Problem) -> BaselineResult:
    """Return the best schedule of TACOS for a problem.

    Raises:
        DoesNotApplyError: there are too many compute nodes, or chunks cannot reach all of them.
    """
    size = len(problem.members)
    if size > MOST_NODES:
        raise DoesNotApplyError(f"the search takes too long for more than {MOST_NODES} compute nodes")
    tried = [chunks for chunks in CHUNKS if chunks == 1 or chunks * size * size <= _MOST_PAIRS]
    return max((synthesized(problem, chunks) for chunks in tried), key=lambda made: made.algbw or 0)


def synthesized(problem: Problem, chunks: int, seeds: Sequence[int] = SEEDS) -> BaselineResult:
    """Return the best of some runs with one number of chunks for each node.

    Args:
        problem: the problem.
        chunks: the number of equal chunks of the shard of each node.
        seeds: the seeds of the runs.

    Raises:
        DoesNotApplyError: chunks cannot reach all compute nodes over paths through switches.
    """
    times: list[Fraction] = []

    def allgather(each: Problem) -> Part:
        paths = _Paths(each)
        time, trees = min((paths.run(chunks, seed) for seed in seeds), key=lambda found: found[0])
        times.append(time)
        return forest(each, trees)

    schedule = schedule_of(problem, allgather)
    note = f"the algbw is that of the times of TACOS with {chunks} chunk{'s' * (chunks > 1)} for each node"
    return timed_result(problem, schedule, times, note)


class _Paths:
    """The paths between members, and the links that they use; the path between two places has one number.

    Attributes:
        problem: the problem.
        links: for each path, the numbers of its links; none if there is no path.
        capacities: the bandwidth of each link, in integers.
        rates: for each path, the bandwidth of its slowest link; 0 if there is no path.
        second: the time in which a link of capacity 1 sends a chunk: the least common multiple of all rates.
        unit: the bandwidth of the network that is 1 here.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        bandwidths = problem.routes.bandwidths
        scale = lcm(*(bandwidth.denominator for bandwidth in bandwidths.values()))
        self.unit = Fraction(1, scale)
        numbers = {link: place for place, link in enumerate(bandwidths)}
        self.capacities = [int(bandwidth * scale) for bandwidth in bandwidths.values()]
        pairs = product(problem.members, repeat=2)
        self.links = [[numbers[link] for link in pairwise(problem.routes.find(*pair) or ())] for pair in pairs]
        self.rates = [min((self.capacities[link] for link in path), default=0) for path in self.links]
        self.second = lcm(*filter(None, self.rates))

    def run(self, chunks: int, seed: int) -> tuple[Fraction, list[LogicalTree]]:
        """Return the time of a run of the algorithm for one unit of M, and its trees.

        Raises:
            DoesNotApplyError: chunks cannot reach all compute nodes.
        """
        members = self.problem.members
        transfers = chunks * len(members) * (len(members) - 1)
        core = core_for(self.second * max(1, transfers) + max(self.capacities, default=0))
        durations = [self.second // rate if rate else 0 for rate in self.rates]
        made = core.take_chunks(len(members), self.links, self.rates, durations, self.capacities, chunks, seed)
        time, *columns = made
        if len(columns[0]) < transfers:
            raise DoesNotApplyError("some compute nodes cannot send to all others through switches and members")
        edges: list[list[Edge]] = [[] for _ in range(len(members) * chunks)]
        for chunk, source, target in zip(*(column.tolist() for column in columns), strict=True):
            edges[chunk].append((members[source], members[target]))
        share = Fraction(1, len(edges))
        trees = [LogicalTree(members[chunk // chunks], share, tuple(tree)) for chunk, tree in enumerate(edges)]
        return Fraction(time, self.second) * share / self.unit, trees
