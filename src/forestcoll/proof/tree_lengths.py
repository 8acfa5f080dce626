"""Lengths of links, which prove a bound of an allreduce along trees.

Each tree of an allreduce reduces towards its root and broadcasts from it. Let t be the least total length of an in-tree
and an out-tree of the same root that join all members, where trees may branch at members, idle nodes and switches that
add up (in-tree) or copy (out-tree). Trees of rate r need at least r t, and the links have the sum of bandwidth times
length, so r <= sum / t.

The least trees are found by dynamic programming over sets of members (Dreyfus and Wagner, 1971). The time triples with
each member, so there is a limit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from forestcoll.collective import Collective, PhaseOp
from forestcoll.proof.link_lengths import LinkLengths, total_length
from forestcoll.proof.proof import ProofError
from forestcoll.proof.tree_dual import PHASES, Roles
from forestcoll.request import Demand
from forestcoll.topology import Topology
from forestcoll.topology.part import usable_part

MOST_MEMBERS = 12
"""The most compute nodes that take part, for which least trees are found."""

Integers = npt.NDArray[Any]
"""64-bit integers if all sums fit, else Python integers."""


@dataclass(frozen=True)
class TreeLengthsProof(LinkLengths):
    """Lengths of links that bound an allreduce along trees.

    Attributes:
        ends: the source and the target of each link with a length above 0.
        lengths: the lengths of these links, in the same order; all other links have length 0.

    Example:
        >>> from forestcoll import Collective, Demand, TreeLengthsProof, load_topology
        >>> ring = load_topology("ring:nodes=3")
        >>> proof = TreeLengthsProof.of(ring, (1,) * len(ring.links))
        >>> str(proof.algbw(ring, Demand(Collective.ALLREDUCE)))
        '3/2'
    """

    kind: ClassVar[str] = "tree-lengths"
    trees_only: ClassVar[bool] = True

    def algbw(self, topology: Topology, demand: Demand) -> Fraction:
        """See `Proof.algbw`."""
        if demand.collective is not Collective.ALLREDUCE:
            raise ProofError(f"lengths of trees bound an allreduce only, and this is {demand.collective.with_article}")
        members = demand.members(topology)
        if len(members) > MOST_MEMBERS:
            raise ProofError(f"{len(members)} nodes take part, and least trees are found for {MOST_MEMBERS} at most")
        network = usable_part(topology, members)
        roles = Roles.in_network(network)
        length_of = self.length_of(topology)
        of_phases = [_least_trees(network, length_of, roles, phase, members) for phase in PHASES]
        shortest = min(sum(least[root] for least in of_phases) for root in sorted(roles.roots))
        if not 0 < shortest < _far(network, length_of):
            raise ProofError("a tree has length 0, or there is no tree")
        return total_length(network, length_of) / shortest


def _far(topology: Topology, length_of: Mapping[tuple[int, int], int]) -> int:
    """Return more than the length of any two trees, which have fewer arcs than there are nodes."""
    return 2 * len(topology.nodes) * sum(length_of.values()) + 1


def _least_trees(
    topology: Topology, length_of: Mapping[tuple[int, int], int], roles: Roles, phase: PhaseOp, members: tuple[int, ...]
) -> list[int]:
    """Return, for each node, the least length of a tree between it and all members."""
    apart = _distances(topology, length_of, backwards=phase is PhaseOp.REDUCE)
    far, forwards_only = _far(topology, length_of), sorted(roles.passive[phase])
    least: Integers = np.full((2 ** len(members), len(topology.nodes)), far, dtype=apart.dtype)
    for held in range(1, len(least)):
        if held & (held - 1) == 0:
            least[held] = apart[:, members[held.bit_length() - 1]]
            continue
        part = (held - 1) & held
        merged = least[part] + least[held ^ part]
        while part := (part - 1) & held:
            if part > held ^ part:
                merged = np.minimum(merged, least[part] + least[held ^ part])
        merged[forwards_only] = far
        least[held] = np.minimum((apart + merged).min(axis=1), far)
    found: list[int] = least[-1].tolist()
    return found


def _distances(topology: Topology, length_of: Mapping[tuple[int, int], int], *, backwards: bool) -> Integers:
    """Return the distance between every two nodes (Floyd and Warshall)."""
    far = _far(topology, length_of)
    apart: Integers = np.full((len(topology.nodes),) * 2, far, dtype=np.int64 if far < 2**60 else object)
    np.fill_diagonal(apart, 0)
    for link in topology.links:
        ends = (link.target, link.source) if backwards else (link.source, link.target)
        apart[ends] = length_of.get((link.source, link.target), 0)
    for middle in range(len(topology.nodes)):
        apart = np.minimum(apart, apart[:, middle, None] + apart[middle])
    return apart
