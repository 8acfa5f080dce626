"""Algorithms that work in steps: their numbers of steps, what they send, and random networks with switches."""

from collections.abc import Collection
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import algbw_of, all_collectives, made

from forestcoll import Collective, StepSchedule, Topology, optimum, simulate
from forestcoll.algorithms.baseline import Family, baselines
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import DoesNotApplyError
from forestcoll.algorithms.steps.bine import code
from forestcoll.algorithms.steps.sends import bits_of
from forestcoll.algorithms.steps.swing import partners
from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.steps.shape import step_shape
from networks import duplex_networks, examples, linked, networks, one_way_networks

NAMES = [each.name for each in baselines() if each.family is Family.STEPS and each.name != "milp"]
ANY_NUMBER = ["bruck", "pat"]
ALWAYS = [*ANY_NUMBER, "trivance"]


def steps_of(name: str, topology: str, collective: str = "allgather") -> StepSchedule:
    schedule = made(name, problem_of(topology, collective))
    assert isinstance(schedule, StepSchedule)
    return schedule


@pytest.mark.parametrize("name", ANY_NUMBER)
@pytest.mark.parametrize("count", range(2, 20))
def test_any_number_of_ranks_takes_the_logarithm_of_steps(name: str, count: int) -> None:
    assert steps_of(name, f"complete:nodes={count}").steps == bits_of(count)


@pytest.mark.parametrize(
    ("name", "count", "steps"), [("rank-ring", 7, 6), ("neighbor-exchange", 8, 4), ("pairwise", 7, 6)]
)
def test_steps_in_the_order_of_ranks_send_each_shard_once(name: str, count: int, steps: int) -> None:
    schedule = steps_of(name, f"complete:nodes={count}")
    assert (schedule.steps, len(schedule)) == (steps, count * (count - 1))


def test_the_ring_and_the_neighbor_exchange_stay_on_the_links_of_a_ring() -> None:
    ring = steps_of("rank-ring", "ring:nodes=6")
    assert ring.algbw == optimum("ring:nodes=6").algbw / 2
    assert steps_of("neighbor-exchange", "ring:nodes=6").routes.entries.size == 0


@pytest.mark.parametrize("count", range(2, 42, 2))
def test_bine_sends_each_shard_once_to_each_rank_for_any_even_number(count: int) -> None:
    schedule = steps_of("bine", f"complete:nodes={count}")
    assert (schedule.steps, len(schedule)) == (bits_of(count), count * (count - 1))


@pytest.mark.parametrize("count", [2, 4, 8, 16, 32])
def test_bine_is_swing_for_a_power_of_two(count: int) -> None:
    one, other = (steps_of(name, f"complete:nodes={count}") for name in ("bine", "swing"))
    assert [set(step) for step in one.phases[0].transfers] == [set(step) for step in other.phases[0].transfers]


def test_codes_of_bine_are_those_that_its_source_prints() -> None:
    assert [code(distance, 6) for distance in range(1, 6)] == [4, 3, 1, 5, 2]
    assert [code(distance, 12) for distance in range(1, 12)] == [8, 12, 2, 5, 11, 9, 1, 3, 13, 10, 4]


def test_partners_of_swing_are_each_others_partners() -> None:
    turns = [partners((16,), 0, step) for step in range(4)]
    assert [turn[0] for turn in turns] == [1, 15, 3, 11]
    assert all(turn[turn].tolist() == list(range(16)) for turn in turns)
    assert partners((4, 4), 0, 0).tolist() == [4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11]
    assert partners((4, 4), 1, 0, -1).tolist()[:4] == [3, 2, 1, 0]


@pytest.mark.parametrize("count", range(2, 42, 2))
def test_swing_sends_each_shard_once_to_each_rank_for_any_even_number(count: int) -> None:
    schedule = steps_of("swing", f"complete:nodes={count}")
    assert (schedule.steps, len(schedule)) == (bits_of(count), count * (count - 1))


@pytest.mark.parametrize(
    ("network", "steps", "times"),
    [
        ("torus:dims=4x4", 4, ["1/64", "1/32", "1/16", "1/8"]),
        ("torus:dims=2x4", 3, None),
        ("torus:dims=6x4", 5, None),
        ("torus:dims=4x4x4", 6, None),
        ("ring:nodes=8", 3, None),
        ("hypercube:dim=3", 3, None),
    ],
)
def test_swing_on_a_torus_uses_all_links(network: str, steps: int, times: list[str] | None) -> None:
    schedule = steps_of("swing-torus", network)
    assert schedule.steps == steps
    if times is not None:
        assert [str(time) for time in step_shape(schedule).step_times] == times
    assert algbw_of("swing-torus", network) >= algbw_of("swing", network)


@pytest.mark.parametrize("count", [*range(2, 30), 64, 81, 82])
def test_trivance_takes_the_logarithm_to_base_three_of_steps_for_any_number_of_ranks(count: int) -> None:
    schedule = steps_of("trivance", f"complete:nodes={count}")
    assert 3 ** (schedule.steps - 1) < count <= 3**schedule.steps
    sent = sum(each.high - each.low for step in schedule.phases[0].transfers for each in step)
    assert sent == count * (count - 1)


@pytest.mark.parametrize(
    ("network", "steps", "algbw"),
    [
        ("ring:nodes=9", 2, "3/2"),  # 2 steps of 3 shards of 1/9
        ("ring:nodes=27", 3, "1"),
        ("ring:nodes=8", 2, "16/11"),
        ("torus:dims=3x3", 2, "9/2"),  # the optimum
        ("torus:dims=9x9", 4, "27/8"),
        ("torus:dims=4x6", 4, None),
        ("torus:dims=3x3x3", 3, None),
        ("dgx-a100:boxes=2", 3, None),
    ],
)
def test_trivance_gives_each_rank_all_sums(network: str, steps: int, algbw: str | None) -> None:
    schedule = steps_of("trivance", network, "allreduce")
    assert schedule.steps == 2 * steps
    if algbw is not None:
        assert schedule.algbw == Fraction(algbw) / 2
    assert set(sums_of(schedule)) == {sum(1 << node for node in schedule.topology.compute)}


def sums_of(schedule: StepSchedule) -> Collection[int]:
    """Run an allreduce in which compute node i adds 2^i; return the value of each part on each node in the end."""
    members = schedule.topology.compute
    cuts = sorted({cut for phase in schedule.phases for step in phase.transfers for each in step for cut in each[1:3]})
    values = {(node, shard, cut): 1 << node for node in members for shard in members for cut in cuts[:-1]}
    for phase in schedule.phases:
        for step in phase.transfers:
            sent = [
                (each, cut, values[each.source, each.shard, cut])
                for each in step
                for cut in cuts
                if each.low <= cut < each.high
            ]
            for each, cut, value in sent:
                place = each.target, each.shard, cut
                values[place] = value if phase.op is PhaseOp.BROADCAST else values[place] + value
    return values.values()


@pytest.mark.parametrize("name", NAMES)
def test_an_allreduce_is_a_reduce_scatter_and_an_allgather(name: str) -> None:
    network = "torus:dims=2x4" if name == "swing-torus" else "dgx-a100:boxes=2,gpus=4"
    scattered, gathered, both = (steps_of(name, network, each.value) for each in COLLECTIVES)
    assert both.steps == scattered.steps + gathered.steps
    assert [phase.transfers.steps for phase in both.phases] == [scattered.steps, gathered.steps]
    assert step_shape(both).step_times == (*step_shape(scattered).step_times, *step_shape(gathered).step_times)


COLLECTIVES = (Collective.REDUCE_SCATTER, Collective.ALLGATHER, Collective.ALLREDUCE)


def test_direct_sends_pass_through_compute_nodes_where_they_must() -> None:
    assert steps_of("direct", "ring:nodes=5").steps == 1
    assert algbw_of("direct", "ring:nodes=5") == Fraction(5, 3)


def check(topology: Topology, collective: Collective) -> int:
    """Verify and simulate all algorithms of steps that apply; return how many apply."""
    bound = optimum(topology, collective).bound.algbw
    problem = problem_of(topology, collective)
    applied = 0
    for name in [*NAMES, "direct"]:
        try:
            schedule = made(name, problem)
        except DoesNotApplyError:
            continue
        assert schedule.algbw is not None
        assert schedule.algbw <= bound
        (point,) = simulate(schedule, [2**30])
        assert point.algbw <= float(schedule.algbw) * (1 + 1e-9)
        applied += 1
    return applied


RANDOM = st.one_of(networks(most=8), duplex_networks(most=8), one_way_networks(most=8))


@given(topology=RANDOM, data=st.data())
@examples(100)
def test_schedules_on_random_networks_verify_and_keep_the_bound(topology: Topology, data: st.DataObject) -> None:
    assert check(topology, data.draw(st.sampled_from(all_collectives()))) >= len(ALWAYS)


@pytest.mark.slow
@given(topology=RANDOM, data=st.data())
@examples(500)
def test_schedules_on_many_random_networks_verify_and_keep_the_bound(topology: Topology, data: st.DataObject) -> None:
    assert check(topology, data.draw(st.sampled_from(all_collectives()))) >= len(ALWAYS)


def test_swing_on_a_torus_needs_a_network_without_switches() -> None:
    ring = linked("0 1 2", "0=1 1=2 2=3 3=0", switches="3")
    with pytest.raises(DoesNotApplyError, match="has switches"):
        made("swing-torus", problem_of(ring))
