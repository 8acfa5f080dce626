"""The timetable of hops: hops begin after those that they depend on, and lanes do one hop at a time."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from forestcoll import generate
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import Options, Placement, hop_run, lower, timetable
from forestcoll.programs.lowering.chains import Edges
from forestcoll.programs.lowering.grid import grid_for
from forestcoll.programs.lowering.hop_run import Hops, Room, Times, hops_to_run
from forestcoll.programs.lowering.pair_links import PairLinks
from forestcoll.programs.lowering.rank_trees import RankTree, rank_trees_of
from forestcoll.programs.lowering.timetable import timetables
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.program.events import EventSimulation
from forestcoll.simulation.simulate import paths_of

LANES = 2

OVERHEAD = Options().lane_overhead

LATENCY = hop_run.LATENCY * OVERHEAD

Hop = tuple[int, int, int]


def _timetable(spec: str, collective: Collective) -> tuple[dict[Hop, tuple[float, int]], Sequence[RankTree]]:
    """Return the ends and lanes of the hops of a network by flow, source and target, and the flows."""
    schedule = expanded(generate(spec, demand=collective))
    flows = rank_trees_of(schedule, grid_for(schedule, 32), Options(step_chunks=1), None)
    edges = Edges.of(flows)
    (_, ends, lanes), _ = timetables(flows, edges, PairLinks.of(schedule), LANES, OVERHEAD)[0]
    rows = zip(edges.flow.tolist(), edges.upper.tolist(), edges.lower.tolist(), strict=True)
    outward = [flow.op is PhaseOp.BROADCAST for flow in flows]
    hops = [(flow, upper, lower) if outward[flow] else (flow, lower, upper) for flow, upper, lower in rows]
    return dict(zip(hops, zip(ends.tolist(), lanes.tolist(), strict=True), strict=True)), flows


@pytest.mark.parametrize("spec", ["hypercube:dim=3", "mi250:boxes=2,gpus=4"])
@pytest.mark.parametrize("collective", [Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE])
def test_a_hop_ends_after_the_data_has_arrived_and_lanes_take_turns(spec: str, collective: Collective) -> None:
    hops, flows = _timetable(spec, collective)
    arrived: dict[tuple[int, int], float] = defaultdict(float)
    lanes: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for (flow, source, target), (end, lane) in hops.items():
        arrived[flow, target] = max(arrived[flow, target], end + LATENCY)
        lanes[source, target, lane].append(end)
    assert all(end > arrived[flow, source] + OVERHEAD for (flow, source, _), (end, _) in hops.items())
    reduced = {(each.root, each.offset): arrived[flow, each.root] for flow, each in enumerate(flows) if not each.phase}
    for (flow, source, _), (end, _) in hops.items():
        if flows[flow].phase and source == flows[flow].root:
            assert end > reduced[flows[flow].root, flows[flow].offset] + OVERHEAD
    assert all(late - early > OVERHEAD for listed in lanes.values() for early, late in pairwise(sorted(listed)))
    if spec == "hypercube:dim=3":
        assert {lane for _, _, lane in lanes} == set(range(LANES))
        assert max(end for end, _ in hops.values()) < 1.2  # links are rarely idle


@pytest.mark.parametrize(("collective", "lanes"), [(Collective.ALLGATHER, 2), (Collective.ALLREDUCE, 5)])
def test_a_program_takes_as_long_as_the_replay_of_its_timetable(
    collective: Collective, lanes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The replay is the time of the program in the simulation, also where pairs share NICs; the timetable is near."""
    schedule = expanded(generate("mi250:boxes=2,gpus=4", demand=collective))
    options = Options(chunks=1024, step_chunks=8, lanes=lanes, placement=Placement.IN_PLACE)
    flows = rank_trees_of(schedule, grid_for(schedule, 1024), options, None)
    edges, replays = Edges.of(flows), list[float]()

    def recorded(*arguments: Any) -> float:
        seconds = hop_run.replay(*arguments)
        if len(arguments[2].ends) == len(edges.flow):  # of all hops, not of one phase alone
            replays.append(seconds)
        return seconds

    monkeypatch.setattr(timetable, "replay", recorded)
    first = timetables(flows, edges, PairLinks.of(schedule), lanes, OVERHEAD)[0]
    program = lower(schedule, options).program
    assert check(program).ok
    seconds = 3e-3
    costs = Costs(alpha_us=LATENCY * seconds * 1e6, overhead_us=OVERHEAD * seconds * 1e6)
    assert schedule.algbw is not None
    size = round(float(schedule.algbw) * 1e9 * seconds)
    simulated = (
        EventSimulation(replace(program, slots=hop_run.SLOTS), paths_of(schedule), costs).run(size).seconds / seconds
    )
    assert first.seconds == min(replays) == pytest.approx(simulated, rel=0.01)
    assert first.times.length == pytest.approx(simulated, rel=0.1)


def test_hops_of_a_sum_are_received_in_their_order_and_slots_are_limited() -> None:
    """Three hops of one lane and two lanes that add to one sum, with times by hand."""
    one_lane = hops_to_run(Hops([(0, 1)] * 3, [1] * 3, [[]] * 3), {(0, 1): {5: 0.1}}, Room({(0, 1): 1}))
    o = OVERHEAD
    first = Times(np.zeros(3), np.array([1.0, 2.0, 3.0]), np.zeros(3, dtype=np.int64))
    send = o + 0.1
    assert hop_run.replay(one_lane, o, first, np.full(3, -1)) == pytest.approx(3 * send + LATENCY + o)
    slow = hops_to_run(Hops([(0, 1)] * 3, [1] * 3, [[]] * 3), {(0, 1): {5: 0.0001}}, Room({(0, 1): 1}))
    waits = 0.0001 + 2 * o + LATENCY  # a slot is empty when its message has been received
    assert hop_run.replay(slow, o, first, np.full(3, -1)) == pytest.approx(2 * waits)
    links = {(0, 2): {5: 0.1}, (1, 2): {6: 0.3}}
    sums = hops_to_run(Hops([(0, 2), (1, 2)], [1, 1], [[], []]), links, Room(dict.fromkeys(links, 1)))
    late = Times(np.zeros(2), np.array([2.0, 1.0]), np.zeros(2, dtype=np.int64))
    both = np.zeros(2, dtype=np.int64)
    assert hop_run.replay(sums, o, late, both) == pytest.approx(o + 0.3 + LATENCY + 2 * o)
    assert hop_run.replay(sums, o, late, both - 1) == pytest.approx(o + 0.3 + LATENCY + o)


def test_blocks_that_wait_for_each_other_never_end() -> None:
    hops = Hops([(0, 1), (1, 0)], [1, 1], [[1], [0]])
    links = {(0, 1): {5: 0.1}, (1, 0): {6: 0.1}}
    circle = hops_to_run(hops, links, Room(dict.fromkeys(links, 1)))
    times = Times(np.zeros(2), np.ones(2), np.zeros(2, dtype=np.int64))
    assert hop_run.replay(circle, OVERHEAD, times, np.full(2, -1)) == float("inf")


def test_a_replay_refuses_numbers_that_do_not_fit() -> None:
    hops = hops_to_run(Hops([(0, 1)] * 2, [1, 1], [[], []]), {(0, 1): {5: 0.1}}, Room({(0, 1): 1}))
    given: dict[str, Any] = {"order": [0, 1], "lanes": [0, 0], "sums": [-1, -1], "slots": 1}
    for name, value, message in (
        ("order", [0], "order must have one entry per hop"),
        ("lanes", [0], "lanes must have one entry per hop"),
        ("sums", [0], "sums must have one entry per hop"),
        ("lanes", [0, 1], "a lane is out of range"),
        ("sums", [0, 2], "a sum is out of range"),
        ("slots", 0, "a lane has no slot"),
    ):
        columns: dict[str, Any] = {
            key: each if key == "slots" else np.array(each, dtype=np.int32)
            for key, each in (given | {name: value}).items()
        }
        with pytest.raises(ValueError, match=message):
            hops.replay(**columns, overhead=OVERHEAD, latency=LATENCY)


def test_the_second_phase_of_an_allreduce_begins_while_the_first_one_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the order of both phases alone, links of a MI250 box are idle for longer at the start and the end."""
    schedule = expanded(generate("mi250:boxes=1", demand=Collective.ALLREDUCE))
    flows = rank_trees_of(schedule, grid_for(schedule, 128), Options(step_chunks=1), None)
    edges, links = Edges.of(flows), PairLinks.of(schedule)
    joined = timetables(flows, edges, links, 1, 0.004)[0]
    monkeypatch.setattr(timetable._Work, "has_phases", False)
    other = timetables(flows, edges, links, 1, 0.004)[0]
    assert joined.times.length < 0.97 * other.times.length
