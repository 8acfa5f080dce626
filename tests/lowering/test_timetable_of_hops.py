"""The timetable of hops: hops begin after those that they depend on, and lanes do one hop at a time."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import pytest

from forestcoll import generate
from forestcoll.collective import Collective, PhaseOp
from forestcoll.interpreter import check
from forestcoll.lowering import Options, lower
from forestcoll.lowering.chains import Edges
from forestcoll.lowering.flows import Flow, flows_of
from forestcoll.lowering.grid import grid_for
from forestcoll.lowering.hop_run import LATENCY, OVERHEAD, Hops, run_hops
from forestcoll.lowering.pair_links import PairLinks
from forestcoll.lowering.timetable import timetable
from forestcoll.program import Message
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.program.events import EventSimulation
from forestcoll.simulation.simulate import paths_of

LANES = 2

Hop = tuple[int, int, int]


def _timetable(spec: str, collective: Collective) -> tuple[dict[Hop, tuple[float, int]], Sequence[Flow]]:
    """Return the begins and lanes of the hops of a network by flow, source and target, and the flows."""
    schedule = expanded(generate(spec, collective=collective))
    flows = flows_of(schedule, grid_for(schedule, 32), Options(step_chunks=1), None)
    edges = Edges.of(flows)
    begins, lanes = timetable(flows, edges, PairLinks.of(schedule), LANES)
    rows = zip(edges.flow.tolist(), edges.upper.tolist(), edges.lower.tolist(), strict=True)
    outward = [flow.op is PhaseOp.BROADCAST for flow in flows]
    hops = [(flow, upper, lower) if outward[flow] else (flow, lower, upper) for flow, upper, lower in rows]
    return dict(zip(hops, zip(begins.tolist(), lanes.tolist(), strict=True), strict=True)), flows


@pytest.mark.parametrize("spec", ["hypercube:dim=3", "mi250:boxes=2,gpus=4"])
@pytest.mark.parametrize("collective", [Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE])
def test_a_hop_begins_after_the_data_has_arrived(spec: str, collective: Collective) -> None:
    hops, flows = _timetable(spec, collective)
    arrived: dict[tuple[int, int], float] = defaultdict(float)
    for (flow, _, target), (begin, _) in hops.items():
        arrived[flow, target] = max(arrived[flow, target], begin + OVERHEAD + LATENCY)
    assert all(begin >= arrived[flow, source] - 1e-9 for (flow, source, _), (begin, _) in hops.items())
    reduced = {(each.root, each.offset): arrived[flow, each.root] for flow, each in enumerate(flows) if not each.phase}
    for (flow, source, _), (begin, _) in hops.items():
        if flows[flow].phase and source == flows[flow].root:
            assert begin >= reduced[flows[flow].root, flows[flow].offset] - 1e-9


@pytest.mark.parametrize("collective", [Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE])
def test_lanes_take_turns_and_links_are_rarely_idle(collective: Collective) -> None:
    hops, _ = _timetable("hypercube:dim=3", collective)
    lanes: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for (_, source, target), (begin, lane) in hops.items():
        lanes[source, target, lane].append(begin)
    assert all(late - early > OVERHEAD for listed in lanes.values() for early, late in pairwise(sorted(listed)))
    assert {lane for _, _, lane in lanes} == set(range(LANES))
    assert min(begin for begin, _ in hops.values()) == pytest.approx(0)
    assert max(begin for begin, _ in hops.values()) < 1.21


def test_two_hops_of_a_pair_share_its_link_and_the_third_waits_for_a_lane() -> None:
    hops = Hops([(0, 1)] * 3, [2, 1, 1], [[], [], []])
    times = run_hops(hops, {(0, 1): {7: 0.25}}, LANES, [(0.0,), (1.0,), (2.0,)])
    assert times.begins == pytest.approx([0, 0, OVERHEAD + 0.5])
    assert times.ends == pytest.approx(
        [2 * OVERHEAD + 1.0 - OVERHEAD, OVERHEAD + 0.5, 1.0 + OVERHEAD], abs=2 * OVERHEAD
    )
    assert times.lanes == [0, 1, 1]


def test_a_link_of_several_pairs_moves_one_hop_at_a_time_in_the_order() -> None:
    hops = Hops([(0, 1), (0, 2)], [1, 1], [[], []])
    times = run_hops(hops, {(0, 1): {5: 0.5}, (0, 2): {5: 0.5, 6: 0.1}}, LANES, [(1.0,), (0.0,)])
    assert times.begins == pytest.approx([OVERHEAD + 0.5, 0])
    assert times.ends == pytest.approx([2 * OVERHEAD + 1.0, OVERHEAD + 0.5])


def test_a_hop_waits_for_the_data_and_time_can_run_backwards() -> None:
    hops = Hops([(0, 1), (1, 2)], [1, 1], [[1], []])
    links = {(0, 1): {0: 0.5}, (1, 2): {1: 0.25}}
    times = run_hops(hops, links, LANES, [(0.0,), (0.0,)])
    assert times.begins == pytest.approx([0, OVERHEAD + 0.5 + LATENCY])
    back = run_hops(hops.backwards(), links, LANES, [(0.0,), (0.0,)]).backwards()
    assert back.begins == pytest.approx(times.begins)
    assert back.ends == pytest.approx(times.ends)


def test_sends_over_a_link_that_several_pairs_share_take_turns() -> None:
    links = PairLinks({(0, 1): {3: 1.0}, (0, 2): {3: 1.0, 4: 1.0}, (1, 2): {4: 1.0}, (2, 0): {5: 1.0}})
    assert links.turns == {(0, 1): 3, (0, 2): 3}


def test_a_rank_sends_one_message_at_a_time_over_its_nic() -> None:
    schedule = generate("mi250:boxes=2,gpus=4")
    program = lower(schedule, Options(chunks=64, step_chunks=1, lanes=LANES)).program
    assert check(program).ok
    sends: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for action in EventSimulation(program, paths_of(schedule), Costs()).run(10**8).actions:
        instruction = program.ranks[action.rank].blocks[action.block].instructions[action.instruction]
        channels = [program.channels[each.channel] for each in instruction.targets if isinstance(each, Message)]
        if any(each.target // 4 != action.rank // 4 for each in channels):
            sends[action.rank].append((action.begin, action.end))
    assert max(map(len, sends.values())) > 8
    for listed in sends.values():
        assert all(end <= begin + 1e-9 for (_, end), (begin, _) in pairwise(sorted(listed)))
