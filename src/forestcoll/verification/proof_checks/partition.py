"""A partition bounds an allreduce along trees.

Each part has a member. An out-tree enters each part except the one of its root, and an in-tree leaves each part except
the one of its root. So the links between parts carry all data 2 (P - 1) times, where P is the number of parts.
"""

from fractions import Fraction

import numpy as np

from forestcoll.demand.collective import Collective
from forestcoll.schedule.proof import PartitionProof
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError


def partition_bound(proof: PartitionProof, question: BoundQuestion) -> Fraction:
    """Return the algbw of an allreduce along trees that the links between parts allow."""
    if question.collective is not Collective.ALLREDUCE:
        raise UnprovenError(f"a partition bounds an allreduce only, and this is {question.collective.with_article}")
    question.require_nodes([node for part in proof.parts for node in part], "the list of parts")
    part_of = np.full(question.network.size, -1)
    for place, part in enumerate(proof.parts):
        part_of[list(part)] = place
    if (part_of < 0).any():
        raise UnprovenError("a node is in no part")
    if len(proof.parts) < 2 or len(np.unique(part_of[list(question.members)])) < len(proof.parts):
        raise UnprovenError("there are fewer than two parts, or a part has no node that takes part")
    total = Fraction(0)
    for link, is_usable in zip(question.topology.links, question.usable.tolist(), strict=True):
        if is_usable and part_of[link.source] != part_of[link.target]:
            total += link.bandwidth
    return total / (2 * (len(proof.parts) - 1))
