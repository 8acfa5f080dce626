"""The program with which a search begins: it loses little, and has as many blocks as the links of a rank need.

If it does not fit the runtime, others are tried, with fewer instances and other numbers of chunks.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, inf, log2
from typing import Any

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.programs.lowering import Options, least_instructions
from forestcoll.programs.lowering.options import MOST
from forestcoll.programs.model import Protocol
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.loads import bytes_per_second
from forestcoll.tuning.programs.candidates import Candidates, ProgramCandidate
from forestcoll.tuning.programs.divisible import LOSSES, least_with
from forestcoll.tuning.programs.message_choices import MOST_INSTANCES, MessageChoices
from forestcoll.tuning.programs.plan_choices import MESSAGE, PlanChoices


def first_candidate(candidates: Candidates) -> ProgramCandidate:
    """Return the first candidate that fits. Raises `NoSolutionError` if none does."""
    start = _start(candidates)
    for options in (start, *_retreats(candidates, start)):
        if (found := candidates.evaluate(options)) is not None:
            return found if found.algbw or found.options.children is None else _shorter(candidates, found)
    raise candidates.problem or NoSolutionError(
        f"{candidates.schedule.topology.name}: no program fits {candidates.limits.name}"
    )


def _shorter(candidates: Candidates, long: ProgramCandidate) -> ProgramCandidate:
    """Return a program with fewer chunks that can be simulated, or `long` if there is none."""
    fewer = [each.chunks for each in reversed(candidates.counts) if each.chunks < (long.options.chunks or 0)]
    tried = (candidates.evaluate(replace(long.options, chunks=chunks)) for chunks in fewer)
    return next((each for each in tried if each is not None and each.algbw), long)


def _start(candidates: Candidates) -> Options:
    usual = candidates.target.usual_options(candidates.schedule)
    chunks = {"chunks": least_with(candidates.counts, LOSSES[1]).chunks} if candidates.counts else {}
    choices = candidates.choices
    if isinstance(choices, MessageChoices):
        steps = {"step_chunks": choices.chunks_of_message(chunks["chunks"])} if chunks else {}
        levels = {"levels": 0} if choices.has_high_trees and candidates.schedule.collective.has_root else {}
        return replace(usual, **steps | levels | candidates.given | chunks)
    start: dict[str, Any] = {"round_bytes": MESSAGE, "instances": _instances(candidates)}
    if candidates.given.get("protocol") == Protocol.LL:
        start["pieces"] = 1
    if isinstance(candidates.schedule, FlowSchedule):
        start["blocks"] = candidates.most_blocks  # so that pairs of ranks do not wait for each other
    if isinstance(choices, PlanChoices) and least_instructions(candidates.schedule) <= candidates.most_instructions:
        start |= {"children": 1, "blocks": candidates.most_blocks, "instances": _blocks_of_edge(candidates, choices)}
    options = replace(usual, **start | candidates.given | chunks)
    return choices.with_parts(options, options.instances, MESSAGE) if isinstance(choices, PlanChoices) else options


def _blocks_of_edge(candidates: Candidates, plans: PlanChoices) -> int:
    """Return the least number of blocks that together move as much as the greatest tree sends over an edge."""
    topology = candidates.schedule.topology
    if candidates.costs.block_gbps is None or candidates.schedule.algbw is None:
        return 1
    gbps = float(plans.share * candidates.schedule.algbw * bytes_per_microsecond(topology.bandwidth_unit)) * 1e-3
    return min(MOST, max(1, ceil(gbps / candidates.costs.block_gbps)))


def _instances(candidates: Candidates) -> int:
    """Return the least power of two of blocks that together move as much as the links of a rank.

    A block sends over one link at a time. For a large network it is less, so that the program can be simulated.
    Flows have blocks for each pair of ranks.
    """
    if not isinstance(candidates.schedule, TreeSchedule):
        return 1
    topology, members = candidates.schedule.topology, set(candidates.schedule.members)
    sent: dict[int, list[float]] = {member: [0.0] for member in members}
    for link, bandwidth in zip(topology.links, bytes_per_second(topology).tolist(), strict=True):
        if link.source in members:
            sent[link.source].append(bandwidth)
    block = inf if candidates.costs.block_gbps is None else candidates.costs.block_gbps * 1e9
    blocks = max(sum(each) / min(block, max(each)) for each in sent.values() if max(each))
    simulated = candidates.most_instructions // max(1, least_instructions(candidates.schedule))
    return int(min(MOST_INSTANCES, 2 ** ceil(log2(max(1.0, blocks))), 1 << max(1, simulated).bit_length() - 1))


def _retreats(candidates: Candidates, start: Options) -> Iterator[Options]:
    """Yield options to try if the first program does not fit: other numbers of chunks, with fewer instances."""
    plans = candidates.choices if isinstance(candidates.choices, PlanChoices) else None
    instances = [start.instances if plans is None else plans.parts(start)]
    while instances[-1] > 1 and "instances" not in candidates.given:
        instances.append(instances[-1] // 2)
    for each in instances:
        parts = replace(start, instances=each) if plans is None else plans.with_parts(start, each, MESSAGE)
        numbers = [start.chunks, *(count.chunks for count in reversed(candidates.counts))]
        yield from (replace(parts, chunks=chunks) for chunks in dict.fromkeys(numbers))
