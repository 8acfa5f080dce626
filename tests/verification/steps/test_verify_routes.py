"""The verifier of step schedules with routes: compared with a plain simulation, on correct and on changed schedules."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from plain_steps import simulates, step_times

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfer, Transfers
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import examples, linked, with_abilities
from routed_steps import routed_schedules

Path = tuple[int, ...]


@examples(150)
@given(routed_schedules())
def test_a_schedule_with_routes_is_accepted_with_its_exact_times(schedule: StepSchedule) -> None:
    report = verify(schedule)
    assert report.fault is None
    assert simulates(schedule)
    assert report.step_times == step_shape(schedule).step_times == step_times(schedule)


@examples(250)
@given(routed_schedules((Collective.ALLGATHER,)), st.data())
def test_a_change_is_refused_exactly_if_a_route_is_wrong_or_data_is_missing(
    schedule: StepSchedule, data: st.DataObject
) -> None:
    for _ in range(data.draw(st.integers(1, 2))):
        schedule = data.draw(st.sampled_from([_with_other_path, _with_other_route, _without_route]))(schedule, data)
    assert verify(schedule).ok == simulates(schedule)


def _with_other_path(schedule: StepSchedule, data: st.DataObject) -> StepSchedule:
    """Drop, add, change or exchange nodes of a route."""
    paths = [list(path) for path in schedule.routes]
    if not paths:
        return schedule
    path = data.draw(st.sampled_from(paths))
    node, place = st.integers(0, len(schedule.topology.nodes) - 1), data.draw(st.integers(0, max(0, len(path) - 1)))
    change = data.draw(st.sampled_from(["drop", "add", "change", "reverse"]))
    if change == "drop":
        del path[place : place + 1]
    elif change == "add":
        path.insert(place, data.draw(node))
    elif change == "change":
        path[place : place + 1] = [data.draw(node)]
    else:
        path.reverse()
    return replace(schedule, routes=Rows.of(paths))


def _with_other_route(schedule: StepSchedule, data: st.DataObject) -> StepSchedule:
    most = len(schedule.routes) - 1
    return schedule if most < 0 else _with_route(schedule, data, data.draw(st.integers(0, most)))


def _without_route(schedule: StepSchedule, data: st.DataObject) -> StepSchedule:
    return _with_route(schedule, data, None)


def _with_route(schedule: StepSchedule, data: st.DataObject, route: int | None) -> StepSchedule:
    (phase,) = schedule.phases
    steps = [list(step) for step in phase.transfers]
    step = data.draw(st.sampled_from([step for step in steps if step]))
    place = data.draw(st.integers(0, len(step) - 1))
    step[place] = step[place]._replace(route=route)
    return replace(schedule, phases=(StepPhase(phase.op, Transfers.of(steps)),))


WHOLE = (Fraction(0), Fraction(1))


def crossing(*routes: Path, sent: tuple[tuple[int, int, int | None], ...] = ((0, 1, 0), (1, 0, 1))) -> StepSchedule:
    """Nodes 0 and 1 on the switches 2 and 3, of which 2 can copy, and the transfers (source, target, route)."""
    network = linked("a b", "a=s:2 b=s:2 a=t:2 b=t:2 s=t:2", switches="s t")
    topology = with_abilities(network, [(True, True)])
    steps = [[Transfer(source, *WHOLE, source, target, route) for source, target, route in sent]]
    phase = StepPhase(PhaseOp.BROADCAST, Transfers.of(steps))
    return StepSchedule(topology, Collective.ALLGATHER, (phase,), routes=Rows.of(list(routes)))


RIGHT = ((0, 2, 1), (1, 3, 2, 0))


def test_loads_count_every_link_of_a_route() -> None:
    report = verify(crossing(*RIGHT))
    assert (report.fault, report.step_times) == (None, (Fraction(1, 4),))
    both = crossing(*RIGHT, (0, 2, 3, 1), sent=((0, 1, 0), (1, 0, 1), (0, 1, 2)))
    assert verify(both).step_times == (Fraction(1, 2),)
    assert verify(crossing(*RIGHT)).bandwidth_factor == 1


def test_idle_nodes_pass_data_on() -> None:
    transfers = Transfers.of([[Transfer(0, *WHOLE, 0, 1, 0), Transfer(1, *WHOLE, 1, 0)]])
    phase, routes = StepPhase(PhaseOp.BROADCAST, transfers), Rows.of([[0, 2, 1]])
    topology = build_topology("ring:nodes=3")
    schedule = StepSchedule(topology, Collective.ALLGATHER, (phase,), ranks=(0, 1), routes=routes)
    assert verify(schedule).ok
    assert verify(schedule).algbw == 2
