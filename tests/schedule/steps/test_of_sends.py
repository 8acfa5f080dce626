"""`StepSchedule.of_sends` checks what its help says, one send after another."""

from fractions import Fraction

import pytest

from forestcoll import StepSchedule, verify
from refusal import refusal

STEPS = [[((node - step) % 3, node, (node + 1) % 3) for node in range(3)] for step in range(2)]


def of_sends(*phases: object, collective: str = "allgather") -> StepSchedule:
    return StepSchedule.of_sends("ring:nodes=3", collective, *phases)  # type: ignore[arg-type]


def test_parts_are_exact_fractions() -> None:
    halves = [(0, Fraction(1, 2)), ("1/2", 1)]
    schedule = of_sends([[(*send, *half) for send in step for half in halves] for step in STEPS])
    assert verify(schedule).ok
    assert len(schedule) == 12


def test_a_send_without_a_link_follows_switches() -> None:
    steps = [[((node - step) % 8, node, (node + 1) % 8) for node in range(8)] for step in range(7)]
    ring = StepSchedule.of_sends("dgx-a100:boxes=2,gpus=4", "allgather", steps)
    report = verify(ring)
    assert report.ok
    assert report.algbw == Fraction(200, 7)  # 7 steps of 1/8 M over NICs of 25 GB/s
    assert len(ring.routes) == 8
    apart = StepSchedule.of_sends("ring:nodes=4", "allgather", [[(0, 0, 2)]])
    fault = verify(apart).fault
    assert fault is not None
    assert "no link leads from 0 to 2" in fault.message


@pytest.mark.parametrize(
    ("phase", "message"),
    [
        ([(0, 0, 1)], "a send is 0; expected (owner, source, target)"),
        ([[None]], "a send is None; expected (owner, source, target)"),
        ([["abc"]], "a send is 'abc'; expected (owner, source, target)"),
        ([[{0: 1, 1: 2, 2: 3}]], "a send is {0: 1, 1: 2, 2: 3}; expected (owner, source, target)"),
        ([[(0, 1)]], "a send is (0, 1); expected (owner, source, target)"),
        (5, "5 is no list; a phase is a list of steps, and a step is a list of sends"),
        ([5], "5 is no list; a phase is a list of steps, and a step is a list of sends"),
        ([[(0, 1, 1)]], "a send is (0, 1, 1); its source and its target must differ"),
        ([[(0, 0, 1, 0, 2)]], "the part of a send is (0, 2); expected 0 <= begin < end <= 1"),
        ([[(0, 0, 1, "1/2", "1/2")]], "the part of a send is ('1/2', '1/2'); expected 0 <= begin < end <= 1"),
        ([[(0, 0, 1, None, 1)]], "the part of a send is (None, 1): is not a number; give two rationals"),
    ],
)
def test_a_wrong_send_is_refused(phase: object, message: str) -> None:
    assert refusal(of_sends, phase).startswith(message)


def test_a_collective_without_steps_is_refused() -> None:
    message = "a broadcast is no collective of steps; there are allgather, reduce-scatter, allreduce, all-to-all"
    assert refusal(of_sends, STEPS, collective="broadcast") == message


def test_an_allreduce_needs_two_lists_of_steps() -> None:
    message = "an allreduce has 2 lists of steps, each an argument of its own; 1 given"
    assert refusal(of_sends, (STEPS, STEPS), collective="allreduce") == message
