"""Layouts cover all elements once, near to the schedule's shares, and the same for each rank."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from players import NETWORKS

from forestcoll.base.errors import InputError
from forestcoll.runtime.engine.plan import Plan, plan_of
from forestcoll.runtime.engine.sizing import MOST_CHUNK, layout_of, shard_counts
from networks import examples

PLANS = {name: [plan_of(schedule) for schedule in make()] for name, make in NETWORKS.items()}


@examples(150)
@given(
    st.sampled_from(sorted(PLANS)),
    st.integers(0, 9),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(0, 10**7),
    st.sampled_from([None, 10**6]),
)
def test_every_element_lies_in_one_flow(name: str, place: int, itemsize: int, count: int, rate: int | None) -> None:
    plan = PLANS[name][place % len(PLANS[name])]
    if plan.collective.has_shards:
        count -= count % (6 * len(plan.members))
    rates = None if rate is None else [rate] * len(plan.edges)
    layout = layout_of(plan, count, None, itemsize, rates)
    end = 0
    for offset, length, chunk in layout.ranges:
        assert offset == end
        assert length >= 0
        assert 1 <= chunk <= MOST_CHUNK
        end += length
    assert end == count
    if plan.collective.has_shards:
        assert sum(layout.counts) == count


def test_flows_have_their_shares_of_large_data() -> None:
    for plan in PLANS["boxes"]:
        count = 2**22
        for flow, (_, length, _) in zip(plan.flows, layout_of(plan, count, None, 4).ranges, strict=True):
            assert abs(length - flow.share * count) <= 32


def test_small_data_take_few_trees() -> None:
    plan = next(plan for plan in PLANS["boxes"] if plan.collective == "allreduce")
    used = [length for _, length, _ in layout_of(plan, 256, None, 4).ranges if length]
    assert used == [256]


def allgather(name: str) -> Plan:
    return next(plan for plan in PLANS[name] if plan.collective == "allgather")


def test_shards_of_any_counts() -> None:
    layout = layout_of(allgather("ring"), 10, [0, 1, 2, 3, 4], 4)
    assert layout.begins == (0, 0, 1, 3, 6)
    assert shard_counts(allgather("uneven"), 12) == (6, 2, 4)


@pytest.mark.parametrize("counts", [[1, 1], [3, 3, 3, 3, -2], [1, 1, 1, 1, 1]])
def test_counts_that_do_not_add_up(counts: list[int]) -> None:
    with pytest.raises(InputError, match="expected 5 numbers from 0 that add up to 10"):
        layout_of(allgather("ring"), 10, counts, 4)


def test_unequal_parts_are_refused() -> None:
    with pytest.raises(InputError, match="7 elements cannot be shared equally by 5 members"):
        layout_of(allgather("ring"), 7, None, 4)
