"""The double binary tree (Sanders, Speck and Träff; NCCL's trees): a pipeline over two trees, with half the data each.

Each half is summed along a tree to its root and then broadcast from the root along the same tree, in P chunks that
follow each other. As a step schedule, the two roots have a shard of 1/2 each, and the other nodes have none. With
height h, T_L = 2(h + P - 1), and each step sends M/2P over a link.

Source: P. Sanders, J. Speck and J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan"
(Parallel Computing 2009).
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from forestcoll.algorithms.bfb import announce_transfers
from forestcoll.algorithms.method import Method, Problem, methods
from forestcoll.base.errors import InputError
from forestcoll.base.parameters import integer
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.composition import combined, reversed_steps
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfers
from forestcoll.solver.generation.bfb.allgather import require_direct
from forestcoll.topology import Topology
from forestcoll.topology.families.double_binary_tree import double_tree


def double_binary_tree_schedule(topology: Topology, collective: Collective, chunks: int = 1) -> StepSchedule:
    """Return the allreduce over two binary trees, with `chunks` chunks for each half of the data.

    Raises:
        InputError: the collective is not an allreduce, the network has no link for an edge of a tree, or it has a
            switch.
    """
    require_direct(topology)
    if collective is not Collective.ALLREDUCE:
        raise InputError(f"a double binary tree does not support {collective}; choose allreduce")
    trees = double_tree(len(topology.nodes))
    _check_links(topology, trees)
    spread = _spread(topology, trees, chunks)
    gather = replace(reversed_steps(spread), topology=topology)
    return combined(gather, spread)


def _check_links(topology: Topology, trees: tuple[list[int | None], ...]) -> None:
    links = topology.link_numbers.keys()
    for parents in trees:
        for node, parent in enumerate(parents):
            if parent is not None and not {(node, parent), (parent, node)} <= links:
                one, other = topology.ids([node, parent])
                raise InputError(
                    f"{topology.name}: no full-duplex link between {one!r} and {other!r}, an edge of the double binary "
                    f"tree; use double-binary-tree:nodes={len(topology.nodes)} or a network that contains it"
                )


def _spread(topology: Topology, trees: tuple[list[int | None], ...], chunks: int) -> StepSchedule:
    """Return the broadcast of both halves, as an allgather of the shards of the two roots."""
    columns: list[list[IntArray]] = []
    shards = [Fraction(0)] * len(topology.nodes)
    sharing = trees if _root(trees[0]) != _root(trees[1]) else trees[:1]
    for parents in sharing:
        root = _root(parents)
        shards[root] = Fraction(1, len(sharing))
        targets = np.array([node for node in range(len(parents)) if node != root])
        sources = np.array([parent for parent in parents if parent is not None])
        depths = _depths(parents)[targets]
        for chunk in range(chunks):
            lows = np.full(len(targets), chunk)
            columns.append([depths - 1 + chunk, np.full(len(targets), root), sources, targets, lows])
    steps, owners, sources, targets, lows = (np.concatenate(column) for column in zip(*columns, strict=True))
    sent = Transfers.by_step(
        steps,
        count=int(steps.max()) + 1,
        shards=owners,
        sources=sources,
        targets=targets,
        lows=lows,
        highs=lows + 1,
        points=[Fraction(chunk, chunks) for chunk in range(chunks + 1)],
    )
    return StepSchedule(topology, Collective.ALLGATHER, (StepPhase(PhaseOp.BROADCAST, sent),), shards=tuple(shards))


def _root(parents: list[int | None]) -> int:
    return parents.index(None)


def _depths(parents: list[int | None]) -> IntArray:
    """Return the depth of each node: the number of edges from the root to the node."""
    depths = np.zeros(len(parents), dtype=np.int64)
    for start in range(len(parents)):
        node: int | None = parents[start]
        while node is not None:
            depths[start] += 1
            node = parents[node]
    return depths


@methods.add(
    "double-binary-tree", summary="A pipelined allreduce along two binary trees.", by_size=["double-binary-tree"]
)
@dataclass(frozen=True)
class DoubleBinaryTree(Method):
    """A pipelined allreduce along two binary trees.

    Attributes:
        chunks: the number of chunks of each half of the data in the pipeline.
    """

    collectives = (Collective.ALLREDUCE,)

    chunks: int = integer(1, "chunks in the pipeline", maximum=10**18)

    def schedule(self, problem: Problem) -> StepSchedule:
        """Return the steps."""
        transfers = 4 * self.chunks * (len(problem.topology.nodes) - 1)
        announce_transfers(problem.topology, transfers, problem.progress)
        return double_binary_tree_schedule(problem.topology, problem.collective, self.chunks)
