"""The program with which a search begins, computed from the loads of the schedule and the parameters of the machine.

It loses little by rounding, and has as many blocks for an edge of a tree as together move what the edge carries at the
rate of the schedule. If it does not fit the runtime, others are tried, with fewer instances and other numbers of
chunks.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Any

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.programs.lowering import Options, least_instructions
from forestcoll.programs.lowering.options import MOST
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.tuning.programs.candidates import Candidates, ProgramCandidate
from forestcoll.tuning.programs.divisible import LOSSES, least_with
from forestcoll.tuning.programs.parts import in_messages, in_parts

MESSAGE = 2**19
"""The bytes of a message of the first plan: its overhead is a tenth of its time on a block."""


def first_candidate(candidates: Candidates) -> ProgramCandidate:
    """Return the first candidate that fits. Raises `NoSolutionError` if none does."""
    start = first_options(candidates)
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


def first_options(candidates: Candidates) -> Options:
    """Return the options of the first program."""
    usual = candidates.target.usual_options(candidates.schedule)
    chunks = {"chunks": least_with(candidates.counts, LOSSES[1]).chunks} if candidates.counts else {}
    start: dict[str, Any] = {"blocks": candidates.most_blocks}
    if candidates.in_plans:
        start["round_bytes"] = MESSAGE
        if candidates.share is not None and least_instructions(candidates.schedule) <= candidates.most_instructions:
            start["children"] = 1
    elif chunks:
        start["step_chunks"] = candidates.chunks_of_message(chunks["chunks"])
        start |= {"levels": 0} if candidates.has_high_trees and candidates.schedule.collective.has_root else {}
    options = replace(usual, **start | candidates.given | chunks)
    return _in_parts(candidates, options, _blocks_of_edge(candidates))


def _in_parts(candidates: Candidates, options: Options, parts: int) -> Options:
    """Return the options of a plan of trees with so many parts, if they are not given; any others as they are."""
    if candidates.share is None:
        return options
    if "instances" not in candidates.given:
        options = in_parts(options, candidates.share, parts, candidates.finest)
    return in_messages(options, candidates.share, MESSAGE)


def _blocks_of_edge(candidates: Candidates) -> int:
    """Return the least number of blocks that together move as much as the greatest tree sends over an edge.

    A block that stores data on several ranks at once moves it to each of them.
    """
    schedule = candidates.schedule
    if candidates.costs.block_gbps is None or candidates.share is None or schedule.algbw is None:
        return 1
    gbps = float(candidates.share * schedule.algbw * bytes_per_microsecond(schedule.topology.bandwidth_unit)) * 1e-3
    return min(MOST, max(1, ceil(gbps * _greatest_fan(schedule) / candidates.costs.block_gbps)))


def _greatest_fan(schedule: Schedule) -> int:
    """Return the most ranks to which a switch copies the data of a tree; 1 if none does."""
    nodes = schedule.topology.nodes
    if not isinstance(schedule, TreeSchedule) or not any(node.multicast for node in nodes):
        return 1
    starts = [route[0] for route in schedule.routes]
    fans = (
        Counter(starts[route] for route in tree.routes if nodes[starts[route]].multicast)
        for phase in schedule.phases
        for tree in phase
    )
    return max((max(fan.values(), default=1) for fan in fans), default=1)


def _retreats(candidates: Candidates, start: Options) -> Iterator[Options]:
    """Yield options to try if the first program does not fit: other numbers of chunks, with fewer instances."""
    instances = [start.instances if candidates.share is None else _blocks_of_edge(candidates)]
    while instances[-1] > 1 and "instances" not in candidates.given:
        instances.append(instances[-1] // 2)
    for each in instances:
        fewer = replace(start, instances=each) if candidates.share is None else _in_parts(candidates, start, each)
        numbers = [start.chunks, *(count.chunks for count in reversed(candidates.counts))]
        yield from (replace(fewer, chunks=chunks) for chunks in dict.fromkeys(numbers))
