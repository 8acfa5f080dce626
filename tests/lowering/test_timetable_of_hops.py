"""The timetable of hops: hops begin after those that they depend on, and a pair of ranks does one hop at a time."""

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest

from forestcoll import generate
from forestcoll.collective import Collective, PhaseOp
from forestcoll.lowering import Options
from forestcoll.lowering.chains import Edges
from forestcoll.lowering.flows import Flow, flows_of
from forestcoll.lowering.grid import grid_for
from forestcoll.lowering.timetable import timetable
from forestcoll.schedule.trees.expansion import expanded

Hop = tuple[int, int, int]


def _timetable(collective: Collective) -> tuple[dict[Hop, float], dict[Hop, float], tuple[Flow, ...]]:
    """Return the begins and ends of the hops of a small network by flow, source and target, and the flows."""
    schedule = expanded(generate("hypercube:dim=3", collective=collective))
    options = Options(step_chunks=1)
    flows = flows_of(schedule, grid_for(schedule, 32), options, None)
    edges = Edges.of(flows)
    begins: dict[Hop, float] = {}
    loads: dict[tuple[int, int, int], int] = defaultdict(int)
    rows = list(zip(edges.flow.tolist(), edges.upper.tolist(), edges.lower.tolist(), strict=True))
    for (flow, upper, lower), begin in zip(rows, timetable(flows, edges).tolist(), strict=True):
        source, target = (upper, lower) if flows[flow].op is PhaseOp.BROADCAST else (lower, upper)
        begins[flow, source, target] = begin
        loads[flows[flow].phase, source, target] += flows[flow].count
    ends = {
        (flow, source, target): begin + flows[flow].count / loads[flows[flow].phase, source, target]
        for (flow, source, target), begin in begins.items()
    }
    return begins, ends, flows


@pytest.mark.parametrize("collective", [Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE])
def test_a_hop_begins_when_the_data_has_arrived(collective: Collective) -> None:
    begins, ends, flows = _timetable(collective)
    arrived: dict[tuple[int, int], float] = defaultdict(float)
    for (flow, _, target), end in ends.items():
        arrived[flow, target] = max(arrived[flow, target], end)
    assert all(begin >= arrived[flow, source] - 1e-9 for (flow, source, _), begin in begins.items())
    reduced = {(each.root, each.offset): arrived[flow, each.root] for flow, each in enumerate(flows) if not each.phase}
    for (flow, source, _), begin in begins.items():
        if flows[flow].phase and source == flows[flow].root:
            assert begin >= reduced[flows[flow].root, flows[flow].offset] - 1e-9


@pytest.mark.parametrize("collective", [Collective.ALLGATHER, Collective.REDUCE_SCATTER])
def test_a_pair_of_ranks_does_one_hop_at_a_time_and_is_rarely_idle(collective: Collective) -> None:
    begins, ends, _ = _timetable(collective)
    pairs: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for hop, begin in begins.items():
        pairs[hop[1:]].append((begin, ends[hop]))
    for listed in pairs.values():
        listed.sort()
        assert all(end <= begin + 1e-9 for (_, end), (begin, _) in pairwise(listed))
    assert np.isclose(min(begins.values()), 0)
    assert max(ends.values()) < 1.2
