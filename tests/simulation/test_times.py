import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import SCHEDULED, Collective, PhaseOp
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfer, Transfers
from forestcoll.schedule.trees.expansion import expanded, tree_images
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.simulation import Costs, Point
from forestcoll.simulation.simulate import ProgramModel, loads_of, simulate
from forestcoll.simulation.sizes import sizes_of
from forestcoll.simulation.tables import chrome_trace, links_csv, points_csv
from forestcoll.simulation.trees.times import TreeModel
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import SMALL, built, demand_for, examples, linked, networks
from published_shape import nccl_rings
from refusal import refusal

GB = 10**9


def schedule_of(spec: str, collective: Collective = Collective.ALLGATHER) -> TreeSchedule:
    topology = build_topology(spec)
    made: TreeSchedule = generate(topology, demand_for(topology, collective))
    return made


@pytest.mark.parametrize("collective", SCHEDULED)
@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2", "mi250:boxes=1"])
def test_large_messages_approach_the_exact_algbw_and_small_ones_depend_on_the_height(
    spec: str, collective: Collective
) -> None:
    schedule = schedule_of(spec, collective)
    small, large = simulate(schedule, [1, 10**15])
    assert large.algbw <= float(schedule.algbw) * (1 + 1e-9)
    assert large.algbw == pytest.approx(float(schedule.algbw), rel=1e-2)
    heights = [_height(schedule, number) for number in range(len(schedule.phases))]
    assert small.seconds * 1e6 == pytest.approx(6 * sum(heights), rel=1e-3)
    assert small.pieces == 1


def _height(schedule: TreeSchedule, number: int) -> int:
    heights = []
    for tree in tree_images(expanded(schedule), number):
        depth = {tree.root: 0}
        paths = list(tree.paths)
        if schedule.phases[number].op is PhaseOp.REDUCE:
            paths = [path[::-1] for path in reversed(paths)]
        for path in paths:
            depth[path[-1]] = depth[path[0]] + 1
        heights.append(max(depth.values()))
    return max(heights)


def test_the_time_of_a_chain_equals_the_formula() -> None:
    schedule = generate(linked("0 1 2", "0=1:10 1=2:5"), "broadcast:root=0")
    model = TreeModel.of(schedule, Costs(alpha_us=3, overhead_us=2))
    size, pieces = 10**6, 4
    first, second = size / pieces / 10e9, size / pieces / 5e9
    assert model.seconds(size, 1) == pytest.approx(10e-6 + 4 * first + 4 * second)
    assert model.seconds(size, pieces) == pytest.approx(10e-6 + first + second + 3 * (2e-6 + second))
    best = model.best_pieces(size)
    times = [model.seconds(size, each) for each in range(1, 4 * best)]
    assert min(times) == times[best - 1]


def test_latencies_of_links_are_added() -> None:
    pairs = (linked("a b", f"a=b:10{latency}") for latency in ("", "@40"))
    fast, slow = (simulate(generate(pair), [1])[0].seconds for pair in pairs)
    assert slow - fast == pytest.approx(40e-6)


@examples(20)
@given(networks(kinds=st.just(SMALL)), st.sampled_from(SCHEDULED), st.integers(0, 7))
def test_no_schedule_is_faster_than_its_busiest_link(topology: Topology, collective: Collective, place: int) -> None:
    schedule = generate(topology, demand_for(topology, collective, place))
    for size in (1, 10**5, 10**9):
        point = simulate(schedule, [size])[0]
        assert point.algbw <= float(schedule.algbw) * (1 + 1e-9)
        assert point.seconds >= 5e-6
    assert loads_of(schedule).seconds.max() * 1e9 == pytest.approx(1 / float(schedule.algbw))


@pytest.mark.parametrize("collective", [Collective.REDUCE_SCATTER, Collective.BROADCAST])
@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2,gpus=4", "torus:dims=3x3"])
def test_the_time_of_a_program_is_that_of_its_trees(spec: str, collective: Collective) -> None:
    schedule = schedule_of(spec, collective)
    for size in (1_000, 4 * GB):
        trees, program = (simulate(schedule, [size], model=model)[0] for model in ("trees", "program"))
        assert 0.99 * trees.seconds <= program.seconds * 1.02
        assert program.seconds <= 2.5 * trees.seconds


def test_transfers_share_a_link_fairly_and_all_bytes_arrive() -> None:
    model = ProgramModel(schedule_of("dgx-a100:boxes=1,gpus=4"), Costs(alpha_us=0, overhead_us=0))
    run = model.run(3 * GB, 1)
    assert run.seconds == pytest.approx(3 * GB * 0.75 / 300e9, rel=1e-6)
    assert max(run.link_seconds) == pytest.approx(run.seconds, rel=1e-6)
    assert len({round(each, 9) for each in run.link_seconds}) == 1


def test_the_published_shape_of_two_dgx_a100_boxes() -> None:
    """Table 3 of the paper: the forest is ahead of the ring at all sizes, 4.1 times at 1 MB and 1.3 times at 1 GB."""
    forest, ring = schedule_of("dgx-a100:boxes=2"), nccl_rings()
    assert ring.algbw == Fraction(640, 3)
    sizes = [10**6, 16 * 10**6, 128 * 10**6, GB]
    ratios = [one.algbw / two.algbw for one, two in zip(simulate(forest, sizes), simulate(ring, sizes), strict=True)]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] > 3
    assert 1.3 < ratios[-1] < float(forest.algbw / ring.algbw) * 1.1


def one_tree(topology: Topology, edges: list[tuple[int, int]]) -> TreeSchedule:
    """A broadcast along one tree, over the network's only switch."""
    routes = Rows.of([(source, topology.switches[0], target) for source, target in edges])
    phase = Phase(PhaseOp.BROADCAST, (0,), (Fraction(1),), Rows.of([list(range(len(edges)))]))
    schedule = TreeSchedule(topology, Collective.BROADCAST, routes, (phase,), algbw=Fraction(1))
    algbw = verify(schedule).algbw
    assert algbw is not None
    return replace(schedule, algbw=algbw)


def test_low_trees_are_faster_for_small_messages_and_bandwidth_for_large_ones() -> None:
    topology = build_topology("dgx-a100:boxes=1")
    star = one_tree(topology, [(0, node) for node in range(1, 8)])
    chain = one_tree(topology, [(node, node + 1) for node in range(7)])
    sizes = sizes_of("1K..1G")
    ahead = [one.seconds < two.seconds for one, two in zip(simulate(star, sizes), simulate(chain, sizes), strict=True)]
    assert ahead[0]
    assert not ahead[-1]
    assert ahead == sorted(ahead, reverse=True)


def test_sizes_are_read_in_the_usual_notation() -> None:
    assert sizes_of("1KB") == (1000,)
    assert sizes_of("64KiB, 1MB") == (65536, 10**6)
    assert sizes_of("1KB..5KB") == (1000, 2000, 4000)
    assert sizes_of("1K..4K") == (1024, 2048, 4096)
    assert sizes_of("1GB..1GB") == (GB,)
    assert sizes_of("1MB, 1K..2K, 1MB, 2KiB") == (10**6, 1024, 2048)
    assert len(sizes_of("1K..16G")) == 25
    assert sizes_of(1024) == (1024,)
    assert sizes_of(["1KiB..4KiB", 7, np.int64(1024)]) == (1024, 2048, 4096, 7, 1024)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2KB..1KB", "the range of sizes '2KB..1KB' runs backwards; write '1KB..2KB'"),
        (",".join(["1"] * 1001), "there are 1001 sizes; give at most 1000"),
        (",".join(f"{size}..{1 << 60}" for size in range(1, 51)), "there are 1407 sizes; give at most 1000"),
        ("2000P", "'2000P' is more than the greatest size, 1024PiB; use a smaller one"),
    ],
)
def test_errors_in_a_list_of_sizes_are_reported_in_one_line(text: str, message: str) -> None:
    assert refusal(sizes_of, text) == message


def test_the_error_for_an_invalid_size_names_it() -> None:
    for size in (-1, 0, 1e6, True, None, [[1]], [b"1MB"], {"alpha": 1}):
        assert "expected a size of 1 byte or more" in refusal(sizes_of, size)
    for text in ("", "x", "0", "-1KB", "1XB", "99999999999999999999TB", "1KB.."):
        assert "size" in refusal(sizes_of, text)


def test_a_topology_with_an_unknown_unit_is_refused() -> None:
    assert "furlongs" in refusal(simulate, generate(linked("a b", "a=b", bandwidth_unit="furlongs")), [1])


def test_tables_and_traces_contain_the_simulated_values() -> None:
    schedule = schedule_of("dgx-a100:boxes=2,gpus=2")
    point: Point = simulate(schedule, [GB])[0]
    header, line = points_csv([point], "GB/s")
    assert header.startswith("size,time_us,algbw (GB/s)")
    assert line.startswith(f"{GB},")
    links = list(links_csv(loads_of(schedule), point))
    assert len(links) == 1 + len(schedule.topology.links)
    assert all(0 <= float(each.rsplit(",", 1)[1]) <= 1 for each in links[1:])
    model = ProgramModel(schedule, Costs())
    run = model.run(GB, 1)
    events = json.loads("".join(chrome_trace(model.program(1), run)))["traceEvents"]
    spans = [each for each in events if each["ph"] == "X"]
    assert len(spans) == len(run.actions)
    assert max(each["ts"] + each["dur"] for each in spans) <= run.seconds * 1e6 * (1 + 1e-6)


def chain_of_steps(*, relay: bool) -> StepSchedule:
    """Nodes 0 and 1, and between them node 2, a switch or a compute node; a part crosses both links in one step."""
    links = [link for node in range(2) for link in ((node, 2, 10, 3), (2, node, 5, 4))]
    chain = built(range(3), one_way=links, switches=[] if relay else [2])
    zero, one = Fraction(0), Fraction(1)
    steps = [[Transfer(0, zero, one, 0, 1, 0), Transfer(1, zero, one, 1, 0, 1)]]
    if relay:
        steps.append([Transfer(node, zero, one, node, 2) for node in range(2)])
        steps.append([Transfer(2, zero, one, 2, node) for node in range(2)])
    phase = StepPhase(PhaseOp.BROADCAST, Transfers.of(steps))
    routes = Rows.of([[0, 2, 1], [1, 2, 0]])
    return StepSchedule(chain, Collective.ALLGATHER, (phase,), routes=routes)


def test_the_time_of_a_step_with_routes_equals_the_formula() -> None:
    costs, size = Costs(alpha_us=20, overhead_us=2), 6 * 10**6
    switch, relay = (simulate(chain_of_steps(relay=each), [size], costs)[0].seconds for each in (False, True))
    assert switch == pytest.approx(22e-6 + 7e-6 + size / 2 / 5e9)
    latencies = (2 * 22 + 7) + (22 + 3) + (22 + 4)
    assert relay == pytest.approx(latencies * 1e-6 + size / 3 / 5e9 + size / 3 / 10e9 + size / 3 / 5e9)


def test_loads_of_steps_count_every_link_of_a_route() -> None:
    assert loads_of(chain_of_steps(relay=False)).parts.tolist() == [0.5] * 4
    assert loads_of(chain_of_steps(relay=True)).parts.tolist() == pytest.approx([2 / 3] * 4)
