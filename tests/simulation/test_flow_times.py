"""The times of flows."""

import pytest

from forestcoll.base.errors import InputError
from forestcoll.simulation import Costs, simulate
from forestcoll.simulation.simulate import Model, loads_of
from forestcoll.solver.personalised import generate_flows


@pytest.mark.parametrize(
    ("spec", "collective"),
    [("dgx-a100:boxes=2", "all-to-all"), ("torus:dims=4x4", "all-to-all"), ("mi250:boxes=2", "gather")],
)
def test_large_messages_reach_algbw(spec: str, collective: str) -> None:
    schedule = generate_flows(spec, collective, root=None if collective == "all-to-all" else 0)
    (point,) = simulate(schedule, [2**44])
    assert point.algbw == pytest.approx(float(schedule.algbw), rel=0.01)
    nodes = len(schedule.members)
    assert point.busbw == pytest.approx(point.algbw * (nodes - 1) / nodes)


def test_a_small_message_takes_the_latency_of_all_sends() -> None:
    schedule = generate_flows("ring:nodes=6,one_way=true", "scatter", root=0)  # five sends to node 5
    (point,) = simulate(schedule, [1], Costs(alpha_us=10, overhead_us=2))
    assert point.seconds * 1e6 == pytest.approx(5 * 12, rel=1e-3)


def test_a_symmetry_does_not_change_times() -> None:
    base, listed = (generate_flows("torus:dims=3x4", compact=compact) for compact in (True, False))
    assert [each.seconds for each in simulate(base, [10**4, 10**9])] == pytest.approx(
        [each.seconds for each in simulate(listed, [10**4, 10**9])]
    )
    assert loads_of(base).parts.tolist() == pytest.approx(loads_of(listed).parts.tolist())


def test_a_gather_has_no_program() -> None:
    with pytest.raises(InputError, match="no runtime loads a program for a gather"):
        simulate(generate_flows("ring:nodes=3", "gather", root=0), [1000], model=Model.PROGRAM)
