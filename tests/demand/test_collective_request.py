"""Requests: arguments that contradict each other are refused in one line."""

from fractions import Fraction
from typing import Any

import pytest

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import MAX_SHARDS_DIGITS
from forestcoll.demand.demand import Demand, NodeDemand
from forestcoll.topology.registry import build_topology

RING = build_topology("ring:nodes=4")
EQUAL = dict.fromkeys(range(4), "1/4")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"collective": "allgather", "root": 1}, "an allgather has no root; leave root out"),
        ({"collective": "broadcast"}, "a broadcast needs a root; give the id of a compute node"),
        (
            {"collective": "allreduce", "shards": EQUAL},
            "an allreduce has no shards of different sizes; leave shards out",
        ),
    ],
)
def test_a_request_that_no_schedule_can_answer_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Demand(**arguments).demand(RING)
    assert str(caught.value).startswith(message)


def test_a_request_is_given_alone() -> None:
    request = Demand("broadcast", root=2)
    assert Demand.of(request) is request
    assert Demand.of("broadcast", root=2) == request
    with pytest.raises(InputError, match=r"root is given in addition to a Demand; put it into the Demand, as root="):
        Demand.of(request, root=1)


def test_equal_shards_are_no_shards() -> None:
    assert Demand("allgather", shards=EQUAL).demand(RING) == NodeDemand()


def test_shards_with_a_huge_common_denominator_are_refused() -> None:
    """Each shard has about 50 digits, and there are eight different denominators."""
    ring = build_topology("ring:nodes=16")
    parts = [Fraction(1, 10**50 + 2 * pair + 1) for pair in range(8)]
    shards = {2 * pair: Fraction(1, 16) + part for pair, part in enumerate(parts)}
    shards |= {2 * pair + 1: Fraction(1, 16) - part for pair, part in enumerate(parts)}
    with pytest.raises(InputError, match=f"the common denominator has more than {MAX_SHARDS_DIGITS} digits; round"):
        Demand("allgather", shards=shards).demand(ring)
