from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from forestcoll.base.errors import InputError, InternalError
from forestcoll.oneport import SeriesKind, compare_series
from forestcoll.simulation.series.play import good_cuts, play_series
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import examples
from oneport_platforms import figure_1, platform_of_costs, random_platforms


@pytest.mark.parametrize("messages", [1, 2, 7, 1000, 3000])
def test_figure_2_completes_two_messages_in_every_period_after_two(messages: int) -> None:
    schedule = compare_series(figure_1(), "s").schedule()
    run = play_series(schedule, messages)
    periods = -(-messages // 2)
    assert run.makespan <= schedule.makespan(periods) == 2 * periods + 4
    assert run.makespan > schedule.makespan(periods - 1)
    assert run.cycles == periods + 2


def test_the_dag_of_figure_5_completes_four_messages_in_five() -> None:
    schedule = compare_series(figure_1(), "s").schedule(SeriesKind.DAG)
    run = play_series(schedule, 4000)
    assert 5000 < run.makespan <= schedule.makespan(1000) == 5010


@given(random_platforms(5))
@examples(20)
def test_the_loss_of_throughput_is_at_most_a_constant_over_the_number_of_messages(topology: Topology) -> None:
    schedule = compare_series(topology, 0).schedule()
    cuts = good_cuts(schedule, 500)
    late = []
    for messages in (500, 1500):
        run = play_series(schedule, messages, cuts=cuts)
        late.append(run.makespan - messages / schedule.throughput)
        assert run.throughput <= schedule.throughput
    # In each cycle a node forwards the messages that were complete at its start. For each link of the path this costs
    # one cycle and one message of the tree.
    slowest = 1 / min(tree.weight for tree in schedule.trees)
    allowed = (schedule.height + 1) * run.cycle + schedule.height * slowest + len(schedule.trees) / schedule.throughput
    assert max(late) <= allowed


@given(random_platforms(4, switches=2))
@examples(20)
def test_whole_periods_take_the_makespan_of_the_schedule(topology: Topology) -> None:
    schedule = compare_series(topology, 0).schedule()
    if schedule.messages > 200:
        return
    run = play_series(schedule, 3 * schedule.messages)
    assert run.cycles == 3 + schedule.height - 1
    assert schedule.makespan(3) - schedule.period < run.makespan <= schedule.makespan(3)


def test_messages_complete_in_order_along_a_single_tree() -> None:
    topology = platform_of_costs("abc", [("a", "b", 1), ("b", "c", Fraction(1, 3))])
    run = play_series(compare_series(topology, "a").schedule(), 10)
    first = run.completed[0]
    assert Fraction(4, 3) <= first <= 2
    assert run.completed == tuple(first + place for place in range(10))


def test_a_random_platform_of_many_nodes_converges() -> None:
    schedule = compare_series(build_topology("tiers:areas=1,seed=3"), 0).schedule()
    cuts = good_cuts(schedule, 500)
    one, other = (play_series(schedule, messages, cuts=cuts) for messages in (500, 1500))
    late = [run.makespan - run.messages / schedule.throughput for run in (one, other)]
    assert abs(late[0] - late[1]) <= 2 * one.cycle
    assert other.throughput / schedule.throughput > Fraction(8, 10)


def test_the_simulator_detects_two_messages_at_the_same_time() -> None:
    schedule = compare_series(figure_1(), "s").schedule()
    first, *rest = schedule.rounds
    clash = replace(first, transfers=(*first.transfers, *schedule.rounds[2].transfers))
    with pytest.raises(InternalError, match="port is used twice at once"):
        play_series(replace(schedule, rounds=(clash, *rest)), 20)


def test_numbers_of_messages_out_of_range_raise_an_error() -> None:
    schedule = compare_series(figure_1(), "s").schedule()
    with pytest.raises(InputError, match=r"^0 messages and 1 cuts; there must be 1 or more of each$"):
        play_series(schedule, 0)
    with pytest.raises(InputError, match=r"^platform: 1000000000 messages are about .*; simulate fewer messages$"):
        play_series(schedule, 10**9)
