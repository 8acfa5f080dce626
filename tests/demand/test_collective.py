"""Names of collectives, and requests: arguments that contradict each other are refused in one line."""

from fractions import Fraction
from typing import Any

from forestcoll.demand.collective import MAX_SHARDS_DIGITS, Collective, collective_named
from forestcoll.demand.demand import Demand, NodeDemand
from forestcoll.topology.registry import build_topology
from refusal import refusal

SPELLINGS = {
    "allgather": "allgather all_gather all-gather AllGather allGather ALLGATHER ALL_GATHER All-Gather",
    "reduce-scatter": "reduce-scatter reduce_scatter ReduceScatter reducescatter REDUCE_SCATTER",
    "allreduce": "allreduce all_reduce all-reduce AllReduce allReduce ALLREDUCE",
    "broadcast": "broadcast Broadcast BROADCAST",
    "reduce": "reduce Reduce REDUCE",
    "all-to-all": "all-to-all alltoall all_to_all AllToAll all2all ALL2ALL",
}


def test_collectives_are_read_in_the_usual_spellings() -> None:
    for each in Collective:
        for spelling in (*SPELLINGS.get(each.value, "").split(), each, each.value, each.name):
            assert collective_named(spelling) is each


def test_the_error_for_an_unknown_collective_suggests_the_nearest_name() -> None:
    for name, hint in [
        ("allgahter", "did you mean 'allgather'? "),
        ("Reduce-Scater", "did you mean 'reduce-scatter'? "),
        ("gossip", ""),
        ("", ""),
        (3, ""),
        (None, ""),
    ]:
        head, _, known = refusal(collective_named, name).partition("there are ")
        assert head == f"there is no collective {'null' if name is None else repr(name)}; {hint}"
        assert known == ", ".join(Collective), name


RING = build_topology("ring:nodes=4")
EQUAL = dict.fromkeys(range(4), "1/4")


def test_a_request_that_no_schedule_can_answer_is_refused() -> None:
    def said(collective: str, **options: Any) -> str:
        return refusal(Demand(collective, **options).bind, RING)

    assert said("allgather", root=1).startswith("an allgather has no root; leave root out")
    assert said("broadcast").startswith("a broadcast needs a root; give the id of a compute node")
    message = "an allreduce has no shards of different sizes; leave shards out"
    assert said("allreduce", shards=EQUAL).startswith(message)


def test_equal_shards_are_no_shards() -> None:
    assert Demand("allgather", shards=EQUAL).bind(RING)[1] == NodeDemand()


def test_shards_with_a_huge_common_denominator_are_refused() -> None:
    """Each shard has about 50 digits, and there are eight different denominators."""
    ring = build_topology("ring:nodes=16")
    parts = [Fraction(1, 10**50 + 2 * pair + 1) for pair in range(8)]
    shards = {2 * pair: Fraction(1, 16) + part for pair, part in enumerate(parts)}
    shards |= {2 * pair + 1: Fraction(1, 16) - part for pair, part in enumerate(parts)}
    said = refusal(Demand("allgather", shards=shards).bind, ring)
    assert f"the common denominator has more than {MAX_SHARDS_DIGITS} digits; round" in said
