"""The terms of a report with their meanings, for readers who do not know them.

The meanings are those of the glossary in the documents.
"""

import re
from collections.abc import Iterable, Iterator

TERMS = {
    "algbw": "Algorithmic bandwidth: M divided by the time, as nccl-tests defines it.",
    "baseline": "A well-known algorithm that makes a schedule for a network, so that it can be compared with the "
    "optimum.",
    "bottleneck cut": "A cut with the greatest ratio of compute nodes inside to exit bandwidth. It determines the "
    "optimum and is its certificate.",
    "bound": "An algbw that no schedule exceeds (some bounds hold for schedules of trees, and say so), with a proof "
    "that can be checked by addition.",
    "box": "A host: compute nodes, switches and NICs with the same value of the attribute `box`.",
    "collective": "An operation of all compute nodes together. After an allgather, every node has the shards of all "
    "nodes. A reduce-scatter is its reverse: every node ends with the sum of its shard. An allreduce is a "
    "reduce-scatter followed by an allgather.",
    "compute node": "A node that holds data: an accelerator.",
    "link": "A one-way connection from one node to another. A full-duplex edge is two links.",
    "M": "For allgather and reduce-scatter: the gathered vector, which is all N shards together. For allreduce, "
    "broadcast and reduce: the vector of one node.",
    "NIC link": "A link between a node of a box and a node outside it.",
    "optimum": "The greatest algbw that a schedule reaches.",
    "rail": "The NICs with the same number in all boxes, and the switches between them.",
    "schedule": "A list of all sends of a collective: who sends which data to whom, over which links.",
    "send": "A transfer of data from one compute node to another, over any number of switches.",
    "shard": "The part of the total data that one compute node contributes to an allgather, or has after a "
    "reduce-scatter. All shards are equal unless a schedule states `shards`.",
    "switch": "A node that only forwards data. With *multicast* it can send one input to several outputs; with "
    "*aggregation* it can add up inputs.",
    "tie": "A schedule of another algorithm that reaches the bound.",
}
"""Each term with its meaning, as `docs/glossary.md` has it."""


_FORMS = {"collective": "collective|allgather|reduce-scatter|allreduce"}
"""The words that stand for a term, if they are not the term itself."""


def used_terms(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each term that is in one of the texts, with its meaning in plain text.

    Example:
        >>> [term for term, _ in used_terms(["NIC links are busy", "15/16 M"])]
        ['link', 'M', 'NIC link']
    """
    text = " ".join(texts)
    for term, meaning in TERMS.items():
        flags = re.IGNORECASE if len(term) > 1 else 0
        if re.search(rf"(?<![\w-])(?:{_FORMS.get(term, term)})(?:e?s)?\b", text, flags):
            yield term, re.sub(r"[*`]", "", meaning)
