"""Schedules of TE-CCL: JSON in which each hop of each chunk is a sentence.

`Chunk 0 from 3 traveled over 3->5 in epoch 2` says that node 3 sends chunk 0 of node 3 to node 5. Nodes without chunks
of their own are switches. Two hops over a switch are one send, from the node that sent the chunk to the switch; its
route is that of the network. GPUs in the order of their numbers are the compute nodes that take part. Hops that begin
in one epoch are one step.

Source: get_schedule in teccl/solvers/ of microsoft/TE-CCL, and its examples.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.steps.sends import ShardSend, step_schedule
from forestcoll.base.errors import shown
from forestcoll.demand.collective import Collective
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.topology.importers.source import Source

_MARK = re.compile(rb'"(?:1-Epoch_Duration|7-Flows|8-Chunk paths)"')
_FLOW = re.compile(
    r"Chunk (\d{1,9}) from (\d{1,9}) traveled over (\d{1,9})->(\d{1,9})( with volume \S+)? in epoch (\d{1,9})\b.*"
)

Chunk = tuple[int, int]
"""A chunk: its owner and its number."""


@dataclass(frozen=True)
class _Hop:
    """A hop of a chunk over a link, or a send from GPU to GPU that begins in an epoch."""

    epoch: int
    chunk: Chunk
    source: int
    target: int


def looks_like_te_ccl(start: bytes) -> bool:
    """Return whether the beginning of a file is that of a schedule of TE-CCL."""
    return start.startswith(b"{") and _MARK.search(start) is not None


def te_ccl_schedule(source: Source, problem: Problem) -> StepSchedule:
    """Return the schedule that a file holds, on the network of a problem.

    Raises:
        InputError: the file is broken, is for another collective, or for another number of GPUs.
    """
    if problem.collective is not Collective.ALLGATHER:
        raise source.error("only schedules of an allgather are read of TE-CCL; compare an allgather")
    hops = _hops(source)
    gpus = sorted({hop.chunk[0] for hop in hops})
    if len(gpus) != len(problem.members):
        raise source.error(
            f"a schedule of {len(gpus)} GPUs, and {len(problem.members)} compute nodes take part; choose as many"
        )
    rank = {gpu: place for place, gpu in enumerate(gpus)}
    chunks = max(hop.chunk[1] for hop in hops) + 1
    steps: dict[int, list[ShardSend]] = {}
    for send in _sends(source, hops, rank):
        owner, number = send.chunk
        part = (Fraction(number, chunks), Fraction(number + 1, chunks))
        made = ShardSend(rank[send.source], rank[send.target], [rank[owner]], part=part)
        steps.setdefault(send.epoch, []).append(made)
    return step_schedule(problem, lambda _: [steps[epoch] for epoch in sorted(steps)])


def _hops(source: Source) -> list[_Hop]:
    document = source.json()
    flows = document.get("7-Flows") if isinstance(document, Mapping) else None
    if not isinstance(flows, list) or not flows:
        raise source.error("has no list 7-Flows; TE-CCL writes it with the schedule")
    hops = []
    for flow in flows:
        found = _FLOW.fullmatch(flow) if isinstance(flow, str) else None
        if found is None:
            expected = "'Chunk 0 from 3 traveled over 3->5 in epoch 2'"
            raise source.error(f"{shown(flow)} in 7-Flows is no hop; expected {expected}")
        if found[5]:
            raise source.error("its chunks are divided, as in an all-to-all; compare a schedule of an allgather")
        hops.append(_Hop(int(found[6]), (int(found[2]), int(found[1])), int(found[3]), int(found[4])))
    return sorted(hops, key=lambda hop: hop.epoch)


def _sends(source: Source, hops: Sequence[_Hop], gpus: Collection[int]) -> Iterator[_Hop]:
    """Yield the sends between GPUs, in which hops over switches are joined."""
    at_switches: dict[tuple[int, Chunk], _Hop] = {}
    for hop in hops:
        begin = hop if hop.source in gpus else at_switches.get((hop.source, hop.chunk))
        if begin is None:
            owner, number = hop.chunk
            what = f"node {hop.source} sends chunk {number} of {owner} in epoch {hop.epoch}"
            raise source.error(f"{what} without having it; write the schedule again")
        send = _Hop(begin.epoch, hop.chunk, begin.source, hop.target)
        if hop.target not in gpus:
            at_switches[hop.target, hop.chunk] = send
        elif send.source != send.target:
            yield send
