"""The best program of a schedule: what calls divide, and how fast the simulator expects it to be."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import generate
from forestcoll.algorithms.baseline import baselines
from forestcoll.algorithms.method import Problem
from forestcoll.base.errors import InputError
from forestcoll.base.progress import Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand, NodeDemand
from forestcoll.programs.formats import mscclpp
from forestcoll.programs.formats.sizes import chunks_of_file
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import Options
from forestcoll.programs.targets.goal import Goal
from forestcoll.programs.targets.msccl_xml import MscclXml
from forestcoll.programs.targets.mscclpp_json import MscclppJson
from forestcoll.programs.targets.target import RuntimeTarget
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.trees.shape import tree_shape
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation import Costs
from forestcoll.topology import Topology
from forestcoll.topology.graph.boxes import box_numbers
from forestcoll.tuning.programs import candidates
from forestcoll.tuning.programs.candidates import Objective
from forestcoll.tuning.programs.export import export, why_slow
from forestcoll.tuning.programs.for_runtime import (
    best_for_runtime,
    schedule_for_runtime,
    shortened,
    with_few_peers,
    with_less_scratch,
    with_one_peer,
    with_other_number_of_trees,
    with_two_peers,
)
from forestcoll.tuning.programs.search import best_program
from forestcoll.verification import verify
from networks import examples, uneven_networks

STEPS = generate("ring:nodes=4", method="ring")
RCCL, PLANS, APART = MscclXml(dialect="rccl"), MscclppJson(), MscclppJson(placement="out-of-place")
TARGETS = pytest.mark.parametrize("target", [RCCL, PLANS], ids=str)
COLLECTIVES = pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])


def scheduled(spec: str, collective: str) -> TreeSchedule | FlowSchedule:
    if collective == "all-to-all":
        return generate(spec, "all-to-all")
    made: TreeSchedule | FlowSchedule = generate(
        spec, Demand(collective, root=0 if Collective(collective).has_root else None)
    )
    return made


@TARGETS
@pytest.mark.parametrize(
    ("spec", "collective"),
    [
        ("dgx-a100:boxes=1", "allgather"),
        ("dgx-a100:boxes=1", "allreduce"),
        ("dgx-a100:boxes=1", "all-to-all"),
        ("mi250:boxes=1", "all-to-all"),
    ],
)
def test_one_box_reaches_the_speed_of_its_schedule_with_powers_of_two(
    spec: str, collective: str, target: RuntimeTarget
) -> None:
    schedule = scheduled(spec, collective)
    chosen = best_program(schedule, target)
    assert (2**16) % (16 * chunks_of_file(chosen.lowering.program)) == 0
    assert chosen.points[-1].algbw >= 0.95 * float(schedule.algbw)
    assert check(chosen.lowering.program).ok
    assert why_slow(chosen) is None


@pytest.mark.parametrize(
    ("spec", "collective", "target", "share"),
    [
        ("mi300x:boxes=1", "allgather", PLANS, 0.97),
        ("mi300x:boxes=2", "broadcast", PLANS, 0.97),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                ("dgx-a100:boxes=2", "reduce", PLANS, 0.95),
                ("dgx-a100:boxes=1", "broadcast", PLANS, 0.95),
                ("dgx-h100:boxes=1", "broadcast", PLANS, 0.95),
                # along the trees of the optimum, a rank has 38 peers, and the program reaches 97 GB/s or 23 GB/s
                ("dgx-a100:boxes=32", "allgather", RCCL, 0.89),
                ("dgx-a100:boxes=32", "reduce-scatter", RCCL, 0.89),
            )
        ),
    ],
)
def test_programs_are_nearly_as_fast_as_their_schedules(
    spec: str, collective: str, target: RuntimeTarget, share: float
) -> None:
    chosen = best_for_runtime(scheduled(spec, collective), target)
    assert chosen.points[-1].algbw >= share * chosen.lowering.schedule_algbw
    assert check(chosen.lowering.program).ok


def test_more_chunks_never_reach_less() -> None:
    schedule = generate("dgx-a100:boxes=2,gpus=4")
    plain = replace(RCCL, instances=1, blocks=32)
    found = [
        best_program(schedule, replace(plain, chunks=most), objective=Objective(sizes=(2**20,))).lowering
        for most in (48, 64)
    ]
    assert [each.algbw for each in found] == sorted(each.algbw for each in found)
    assert [each.program.chunks & (each.program.chunks - 1) for each in found] == [0] * 2


def test_programs_with_too_many_instances_to_be_simulated_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each instance moves at least one chunk of each tree, so long steps do not make up for many instances."""
    known = candidates.Candidates(generate("ring:nodes=4"), RCCL, Objective())
    plain = Options(chunks=8)
    assert known.evaluate(plain) is not None
    assert known.evaluate(replace(plain, instances=8, step_chunks=8)) is not None
    monkeypatch.setattr(candidates, "most_instructions", lambda *_, **__: 200)
    assert known.evaluate(replace(plain, instances=4, step_chunks=4)) is not None
    assert known.evaluate(replace(plain, instances=16, step_chunks=16)) is None


def test_latencies_are_named_as_the_reason_of_a_slow_program() -> None:
    objective = Objective(sizes=(10**9,), costs=Costs(alpha_us=10**5))
    chosen = best_program(generate("ring:nodes=3"), replace(RCCL, instances=1), objective=objective)
    reason = why_slow(chosen)
    assert reason is not None
    assert "100000 us to arrive" in reason
    assert "without these times, it would reach 3" in reason
    refused = why_slow(replace(chosen, refused="it needs 172 steps, and 64 is the most"))
    assert refused == f"{reason}; of another program that was tried: it needs 172 steps, and 64 is the most"


def test_blocks_and_latencies_are_named_together_if_one_alone_is_not_the_reason() -> None:
    objective = Objective(sizes=(2**24,), costs=Costs(alpha_us=50, overhead_us=30, block_gbps=10))
    chosen = best_program(generate("dgx-a100:boxes=1"), MscclXml(instances=1), objective=objective)
    reason = why_slow(chosen)
    assert reason is not None
    assert reason.startswith("a block moves at most 10 GB/s, and each message takes 30 us before it moves and 50 us")
    assert "without both, it would reach 342.9 GB/s" in reason


@pytest.mark.parametrize(("chunks", "most", "others"), [(16, "266.7", 0), (32, "320", 1)])
def test_what_slows_a_program_down_besides_rounding_is_named(chunks: int, most: str, others: int) -> None:
    target = replace(RCCL, chunks=chunks, instances=1)
    reason = why_slow(best_program(generate("mi250:boxes=1"), target))
    assert reason is not None
    assert reason.startswith(f"shares are rounded to {chunks} chunks, or fewer trees are used, so that {most} GB/s")
    assert reason.count("is the most, and blocks wait for each other") == others


def test_the_chunks_of_an_all_to_all_can_be_given() -> None:
    chosen = best_program(generate("torus:dims=3x3", "all-to-all"), MscclppJson(chunks=27))
    assert chosen.options.chunks == 27
    assert chosen.lowering.loss == 0


def test_instances_may_use_more_blocks_than_a_single_one() -> None:
    schedule = generate("dgx-h100:boxes=2,gpus=4")  # a NIC has 50 GB/s, a block 38.7
    target = MscclXml(chunks=8)
    chosen = best_program(schedule, target, objective=Objective(sizes=(10**9,)))
    assert chosen.options.instances > 1
    assert chosen.points[-1].algbw >= 0.95 * float(schedule.algbw)


@pytest.mark.slow  # eight seconds
def test_of_programs_that_are_about_as_fast_the_one_for_small_sizes_is_chosen() -> None:
    schedule = generate("dgx-a100:boxes=1,gpus=4", "broadcast:root=0")
    both = [best_program(schedule, PLANS, objective=Objective(sizes=sizes)) for sizes in ((10**6, 10**9), (10**9,))]
    small, large = (each.model.points((10**6, 10**9)) for each in both)
    assert small[0].algbw >= large[0].algbw
    assert small[1].algbw * 1.01 >= large[1].algbw


@TARGETS
def test_the_chunks_of_steps_are_chosen_like_those_of_trees(target: RuntimeTarget) -> None:
    chosen = best_program(STEPS, replace(target, chunks=16))
    assert chosen.options.chunks == 8
    assert chosen.lowering.loss == 0
    with pytest.raises(InputError, match="the shards of the ranks need 4 chunks, and 3 is the most; use chunks=4"):
        best_program(STEPS, replace(target, chunks=3))


class Stages(Progress):
    """The stages, each with the percents that were done."""

    def __init__(self) -> None:
        self.done: list[tuple[str, list[int]]] = []

    def begin(self, stage: str) -> None:
        self.done.append((stage, []))

    def advance(self, done: int, total: int) -> None:
        assert total == 100
        self.done[-1][1].append(done)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "collective", "target", "size", "share"),
    [
        ("mesh:dims=3x3", "broadcast", APART, 10**6, 0.85),
        ("mi250:boxes=1", "broadcast", APART, 10**9, 0.95),
        ("mi250:boxes=2,gpus=8", "reduce-scatter", RCCL, 10**9, 0.95),
        ("mi250:boxes=4", "all-to-all", RCCL, 10**9, 0.95),
    ],
)
def test_a_slow_program_has_another_schedule_if_that_is_faster(
    spec: str, collective: str, target: RuntimeTarget, size: int, share: float
) -> None:
    schedule, stages = scheduled(spec, collective), Stages()
    chosen = best_for_runtime(schedule, target, objective=Objective(sizes=(size,)), progress=stages)
    assert chosen.schedule != schedule
    assert chosen.lowering.schedule_algbw == schedule.algbw
    assert chosen.points[-1].algbw >= share * float(schedule.algbw)
    assert check(chosen.lowering.program).ok
    if isinstance(chosen.schedule, TreeSchedule):
        assert chosen.lowering.other_trees == chosen.schedule.trees_per_root
        assert collective == "broadcast" or _most_peers(chosen.schedule) == 1
    else:
        assert chosen.lowering.other_flows
    assert stages.done[0][0] == "choosing the program"
    assert stages.done[1][0] == "choosing the program of a schedule for the runtime"
    assert all(set(percents) <= set(range(101)) for _, percents in stages.done)


@pytest.mark.parametrize(
    ("spec", "collective"),
    [("mi250:boxes=1", "allreduce"), *(("mi250:boxes=2,gpus=8", each) for each in ("allgather", "reduce-scatter"))],
)
def test_other_trees_are_fewer_for_many_roots_and_have_one_peer_in_another_box(spec: str, collective: str) -> None:
    schedule = generate(spec, collective)
    other = with_other_number_of_trees(schedule)
    assert other is not None
    assert (other.trees_per_root, other.demand) == (2, schedule.demand)
    assert other.algbw < schedule.algbw
    assert other.algbw == generate(spec, collective, "trees:k=2").algbw
    assert _most_peers(other) == spec.count("boxes=2")


@pytest.mark.parametrize("spec", ["mi250:boxes=2,gpus=8", "dgx-a100:boxes=3"])
@COLLECTIVES
def test_with_one_peer_a_rank_sends_to_one_rank_of_another_box(spec: str, collective: str) -> None:
    schedule = generate(spec, demand=collective)
    other = with_one_peer(schedule)
    assert other is not None
    assert verify(other).ok
    assert (other.demand, other.bound) == (schedule.demand, schedule.bound)
    assert _most_peers(other) == 1 <= _most_peers(schedule)
    assert other.algbw <= schedule.algbw


def _most_peers(schedule: TreeSchedule) -> int:
    """Return the most ranks of other boxes that a rank sends to."""
    box = box_numbers(schedule.topology)
    ends = {(route[0], route[-1]) for route in schedule.routes}
    return max(Counter(one for one, other in ends if box[one] != box[other]).values(), default=0)


@COLLECTIVES
def test_with_two_peers_a_rank_exchanges_data_with_two_ranks_of_other_boxes(collective: str) -> None:
    schedule = generate("dgx-a100:boxes=9", demand=collective)
    other = with_two_peers(schedule)
    assert other is not None
    assert verify(other).ok
    assert (other.demand, other.bound) == (schedule.demand, schedule.bound)
    box = box_numbers(schedule.topology)
    ends = {frozenset((route[0], route[-1])) for route in other.routes if box[route[0]] != box[route[-1]]}
    assert set(Counter(node for pair in ends for node in pair).values()) == {2}


def test_a_program_of_many_ranks_has_two_peers_in_other_boxes() -> None:
    """On 34 boxes, a rank has 34 peers along the trees of the optimum; RCCL has 32 blocks on a channel number."""
    schedule = generate("dgx-a100:boxes=34,gpus=2", "reduce-scatter")
    chosen = best_for_runtime(schedule, replace(RCCL, instances=1), objective=Objective(sizes=(2**28,)))
    assert chosen.schedule == with_two_peers(schedule)
    assert chosen.points[-1].algbw >= 0.95 * float(schedule.algbw)
    assert (chosen.lowering.schedule_algbw, chosen.lowering.other_trees) == (schedule.algbw, 1)
    assert check(chosen.lowering.program).ok


def test_a_slow_all_to_all_has_few_peers_if_they_are_faster() -> None:
    schedule = generate("dgx-a100:boxes=4,gpus=2", "all-to-all")
    chosen = best_for_runtime(schedule, replace(RCCL, blocks=10))  # 14 are needed for 7 peers
    other = with_few_peers(schedule)
    assert other is not None
    assert chosen.schedule == other
    assert chosen.lowering.other_flows
    assert chosen.lowering.loss == 0
    assert (other.bound, other.algbw, verify(other).optimal) == (schedule.bound, schedule.algbw, True)
    assert chosen.points[-1].algbw >= 0.95 * float(schedule.algbw)
    assert check(chosen.lowering.program).ok
    enough = best_for_runtime(schedule, RCCL)
    assert (enough.schedule, enough.lowering.other_flows) == (schedule, False)


def test_a_schedule_that_is_given_is_exported_as_it_is_and_one_for_a_network_is_made_for_the_runtime() -> None:
    schedule = generate("dgx-a100:boxes=4,gpus=2", "all-to-all")
    narrow = replace(RCCL, blocks=10)  # 14 are needed for 7 peers
    assert best_program(schedule, narrow).schedule == schedule
    made = schedule_for_runtime(schedule, narrow)
    assert made == with_few_peers(schedule) != schedule
    assert (export(schedule, narrow).lowering.other_flows, export(made, narrow).lowering.other_flows) == (False, False)
    assert export(schedule, narrow, is_generated=True).lowering.other_flows
    assert schedule_for_runtime(schedule, Goal()) == schedule


def test_few_peers_are_for_whole_all_to_alls_that_reach_the_optimum() -> None:
    boxes = "dgx-a100:boxes=2,gpus=2"
    schedule = generate(boxes, "all-to-all")
    assert with_few_peers(schedule) is not None
    assert with_few_peers(replace(schedule, algbw=schedule.algbw / 2)) is None
    assert with_few_peers(generate(boxes, "all-to-all:ranks='0,2'")) is None
    assert (
        with_few_peers(generate(boxes, Demand("all-to-all", matrix=[[0, 1, 0, 0], [0] * 4, [0] * 4, [0] * 4]))) is None
    )
    assert with_few_peers(generate(boxes, "gather:root=0")) is None
    assert with_few_peers(generate("ring:nodes=4", "all-to-all")) is None
    assert with_few_peers(generate("ring:nodes=4")) is None


@pytest.mark.slow  # half a minute
@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_steps_have_parts_of_a_chunk_on_average_if_a_rank_has_few_left(collective: str) -> None:
    schedule = generate("mi300x:boxes=1", Demand(collective, root=0))
    chosen = best_program(schedule, RCCL)
    assert chosen.options.strands == 2
    assert chosen.options.step_chunks == Fraction(5, 2)
    assert chosen.points[-1].algbw >= 0.95 * float(schedule.algbw)
    assert check(chosen.lowering.program).ok


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_a_slow_program_with_one_root_has_shorter_trees(collective: str) -> None:
    schedule = generate("mesh:dims=3x3", Demand(collective, root=0))
    other = shortened(schedule)
    assert other is not None
    assert verify(other).ok
    assert (tree_shape(schedule).greatest_height, tree_shape(other).greatest_height) == (6, 5)
    assert (other.demand, other.algbw, other.trees_per_root) == (schedule.demand, schedule.algbw, 2)
    simple = MscclXml(dialect="rccl", protocol="Simple")
    chosen = best_for_runtime(schedule, simple, objective=Objective(sizes=(10**7,)))
    assert (chosen.schedule, chosen.lowering.other_trees) == (other, 2)
    assert check(chosen.lowering.program).ok
    fast = best_for_runtime(schedule, RCCL, objective=Objective(sizes=(10**9,)))
    assert (fast.schedule, fast.lowering.other_trees) == (schedule, None)


def test_other_schedules_are_only_for_those_that_they_can_make_faster() -> None:
    """Trees with fewer peers, or others, are for many roots and equal boxes, and shorter ones for one root.

    Trees that forestcoll did not make are never replaced, and other trees never pass through idle nodes.
    """
    many, box, mesh = generate("mi250:boxes=2,gpus=8"), generate("mi250:boxes=1"), "mesh:dims=3x3"
    high = generate(mesh, "broadcast:root=0")
    for change, schedule in ((with_one_peer, many), (with_other_number_of_trees, box), (shortened, high)):
        assert change(schedule) is not None
        assert change(replace(schedule, trees_per_root=None)) is None, change.__name__
    two_level = next(each for each in baselines() if each.name == "two-level")
    problem = Problem(many.topology, NodeDemand(Collective.ALLGATHER))
    relayed = generate("mi250:boxes=2", Demand(ranks=[number for number in range(32) if number % 16 < 8]))
    one_root = generate("mi250:boxes=2,gpus=8", "broadcast:root=0")
    for change, others in (
        (with_one_peer, (one_root, box, STEPS, two_level.result(problem).schedule, relayed)),
        (
            with_other_number_of_trees,
            (generate("mi250:boxes=1", method="trees:k=2"), two_level.result(problem).schedule, relayed),
        ),
        (with_two_peers, (generate("dgx-a100:boxes=8"), generate("dgx-a100:boxes=9", "broadcast:root=0"))),
        (with_two_peers, (generate("torus:dims=9x9"),)),
        (shortened, (generate(mesh), generate("ring:nodes=4", "broadcast:root=0"), STEPS)),
    ):
        assert [change(each) for each in others] == [None] * len(others), change.__name__


def _received(schedule: TreeSchedule) -> dict[int, Fraction]:
    """Return the part of the data that each node receives."""
    received = dict.fromkeys(schedule.members, Fraction(0))
    for tree in schedule.phases[0]:
        for route in tree.routes:
            received[schedule.routes[route][-1]] += tree.share
    return received


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("spec", ["mi250:boxes=1", "dgx-a100:boxes=2"])
def test_with_less_scratch_ranks_receive_at_most_the_data(spec: str, *, in_place: bool) -> None:
    schedule = generate(spec, "reduce:root=0")
    assert _check_less_scratch(schedule, in_place=in_place)


@given(network=uneven_networks(), in_place=st.booleans())
@examples(40)
def test_with_less_scratch_ranks_receive_at_most_the_data_on_any_network(network: Topology, *, in_place: bool) -> None:
    root = network.nodes[network.compute[0]].id
    _check_less_scratch(generate(network, Demand("reduce", root=root)), in_place=in_place)


def _check_less_scratch(schedule: TreeSchedule, *, in_place: bool) -> int:
    """Check all schedules with less scratch, and return their number."""
    others = list(with_less_scratch(schedule, in_place=in_place))
    for other in others:
        received = _received(other)
        assert other.root is not None
        assert received.pop(other.root) <= (1 if in_place else 2)
        assert max(received.values()) <= 1
        assert (other.demand, other.bound, other.topology) == (schedule.demand, schedule.bound, schedule.topology)
        assert other.algbw >= Fraction(199, 200) * schedule.algbw
        assert other.trees_per_root is not None
        assert other.trees_per_root.bit_count() == 1
        assert verify(other).ok
    return len(others)


def test_only_reduces_of_forestcoll_have_schedules_with_less_scratch() -> None:
    own = generate("mi250:boxes=1", "reduce:root=0")
    assert not list(with_less_scratch(replace(own, trees_per_root=None), in_place=False))
    for collective in ("reduce-scatter", "allreduce"):
        assert not list(with_less_scratch(generate("mi250:boxes=1", demand=collective), in_place=False))
    assert not list(with_less_scratch(STEPS, in_place=False))


@pytest.mark.parametrize("spec", ["mesh:dims=3x3", pytest.param("mi250:boxes=1", marks=pytest.mark.slow)])
def test_a_reduce_has_less_scratch_if_it_would_not_match_large_sizes(spec: str) -> None:
    schedule = generate(spec, "reduce:root=0")
    chosen = best_for_runtime(schedule, PLANS)
    assert isinstance(chosen.schedule, TreeSchedule)
    program = chosen.lowering.program
    assert mscclpp.most_bytes(program) >= 2**32
    assert max(rank.scratch_chunks for rank in program.ranks) <= program.chunks
    assert chosen.lowering.other_trees == chosen.schedule.trees_per_root
    assert chosen.points[-1].algbw >= 0.95 * float(schedule.algbw)
    assert check(program).ok


@pytest.mark.slow
def test_a_reduce_keeps_its_trees_if_it_matches_the_sizes_asked_for() -> None:
    schedule = generate("mi250:boxes=1", "reduce:root=0")
    small = best_for_runtime(schedule, PLANS, objective=Objective(most_bytes=2**30))
    assert small.schedule == schedule
    assert mscclpp.most_bytes(small.lowering.program) < 2**32


@pytest.mark.parametrize("collective", ["allgather", "all-to-all"])
def test_a_plan_whose_receiver_cannot_signal_its_sender_is_refused_before_the_search(collective: str) -> None:
    stages, schedule = Stages(), generate("ring:nodes=4,one_way=true", collective)
    message = r"over switches alone, and in MSCCL\+\+ the receiver signals the sender; export to msccl-xml"
    with pytest.raises(InputError, match=r"no path leads from \d to \d " + message):
        best_program(schedule, PLANS, progress=stages)
    assert not stages.done
    assert best_program(schedule, MscclXml()).points
