"""The question that a bound answers: what each node has, needs and exchanges."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.schedule.schedule import Schedule
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError, require_coarse

ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)
THIRDS = (Fraction(1, 3),) * 3
BROADCAST = generate("ring:nodes=4", "broadcast:root=2")
EXCHANGE = generate("ring:nodes=3", "all-to-all")
MATRIX = ((ZERO, HALF, ZERO), (ZERO, ZERO, ONE), (ZERO, ZERO, ZERO))


@pytest.mark.parametrize(
    ("schedule", "members", "parts", "root"),
    [
        (generate("ring:nodes=3"), (0, 1, 2), THIRDS, None),
        (generate("ring:nodes=3", Demand(shards={0: "1/2", 1: "1/2", 2: 0})), (0, 1, 2), (HALF, HALF, ZERO), None),
        (generate("ring:nodes=4", "allgather:ranks='1,3'"), (1, 3), (HALF, HALF), None),
        (BROADCAST, (0, 1, 2, 3), (ZERO, ZERO, ONE, ZERO), 2),
        (EXCHANGE, (0, 1, 2), THIRDS, None),
        (replace(EXCHANGE, matrix=MATRIX), (0, 1, 2), THIRDS, None),
        (replace(BROADCAST, sources=(1, 2), targets=(0, 3)), (0, 1, 2, 3), (ZERO, ZERO, ONE, ZERO), 2),
    ],
)
def test_the_question_of_a_schedule_has_its_demand(
    schedule: Schedule, members: tuple[int, ...], parts: tuple[Fraction, ...], root: int | None
) -> None:
    network, demand = Network(schedule.topology), schedule.demand
    found = BoundQuestion.of(schedule, network)
    ends = (demand.matrix, demand.sources, demand.targets)
    assert found == BoundQuestion(network, schedule.collective, members, parts, root, *ends)


def test_what_a_node_keeps_is_no_pair() -> None:
    matrix = ((ONE, HALF, ZERO), *MATRIX[1:])
    question = BoundQuestion(Network(EXCHANGE.topology), Collective.ALL_TO_ALL, (0, 1, 2), THIRDS, None, matrix)
    assert list(question.pairs()) == [(0, 1, HALF), (1, 2, ONE)]


def test_a_common_denominator_has_4000_digits_at_most() -> None:
    require_coarse([ONE, Fraction(1, 10**4000 - 1)])
    with pytest.raises(UnprovenError, match="more than 4000 digits"):
        require_coarse([Fraction(1, 10**4000)])
