"""Runs of hops in the core refuse numbers that are out of range."""

from typing import Any, cast

import numpy as np
import pytest

from forestcoll.kernels.events import HopTables, hop_program


def tables(**changes: Any) -> HopTables:
    """Return two hops of one pair, one after the other, over one link."""
    whole: dict[str, Any] = {
        "pairs": np.zeros(2, np.int32),
        "sizes": np.ones(2),
        "after": (np.array([0, 1, 1], np.int32), np.array([1], np.int32)),
        "lanes": np.ones(1, np.int32),
        "places": np.ones(1, np.int32),
        "links": (np.array([0, 1], np.int32), np.zeros(1, np.int32)),
        "weights": np.array([0.5]),
        "bandwidths": np.ones(1),
    }
    return cast("HopTables", whole | changes)


def test_a_hop_begins_when_the_data_of_the_one_before_has_arrived() -> None:
    begins, ends, lanes = hop_program(tables()).run(order=np.arange(2, dtype=np.int32), overhead=0.25, latency=1.0)
    assert begins.tolist() == pytest.approx([0, 1.75])
    assert ends.tolist() == pytest.approx([0.75, 2.5])
    assert lanes.tolist() == [0, 0]


def test_hops_of_two_pairs_take_turns_on_a_link_with_one_place() -> None:
    shared = tables(
        pairs=np.array([0, 1], np.int32),
        after=(np.zeros(3, np.int32), np.zeros(0, np.int32)),
        lanes=np.ones(2, np.int32),
        links=(np.array([0, 1, 2], np.int32), np.zeros(2, np.int32)),
        weights=np.array([0.5, 0.5]),
    )
    begins, ends, _ = hop_program(shared).run(order=np.array([1, 0], np.int32), overhead=0.25, latency=1.0)
    assert begins.tolist() == pytest.approx([0.75, 0])
    assert ends.tolist() == pytest.approx([1.5, 0.75])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pairs": np.array([0, 1], np.int32)}, "a pair is out of range"),
        ({"sizes": np.ones(1)}, "sizes needs a number for each hop"),
        ({"lanes": np.zeros(1, np.int32)}, "a pair has no lane"),
        ({"places": np.ones(2, np.int32)}, "places needs a number for each link"),
        ({"places": np.zeros(1, np.int32)}, "a link has no place"),
        ({"after": (np.array([0, 1, 1], np.int32), np.array([2], np.int32))}, "after is malformed"),
        ({"links": (np.array([0, 1], np.int32), np.array([1], np.int32))}, "links is malformed"),
        ({"weights": np.ones(2)}, "weights needs a number for each link of a flow"),
        ({"weights": np.zeros(1)}, "a flow takes nothing of any link"),
    ],
)
def test_numbers_that_are_out_of_range_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hop_program(tables(**changes))


def test_an_order_has_a_place_for_each_hop() -> None:
    with pytest.raises(ValueError, match="order needs a number for each hop"):
        hop_program(tables()).run(order=np.zeros(1, dtype=np.int32), overhead=0.0, latency=0.0)
