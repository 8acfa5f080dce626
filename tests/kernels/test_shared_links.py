"""Transfers of the core share links as the plain simulation says, however few of them a change touches."""

from itertools import pairwise
from random import Random
from typing import Any, cast

import numpy as np
import pytest

from forestcoll.kernels.events import HopTables, Rows, hop_program
from forestcoll.simulation.program.paths import Multipath
from plain_transfers import Clock, Process, Sharing

FAR_APART = (1.0, 2.0, 3.0, 5.0, 5.0, 7.0, 40.0, 1e3)


def rows(lists: list[list[int]]) -> Rows:
    starts = np.concatenate(([0], np.cumsum([len(each) for each in lists])))
    return starts.astype(np.int32), np.array([value for each in lists for value in each], np.int32)


def network(random: Random, links: int, flows: int, hops: int) -> HopTables:
    """Return hops of many flows, each over a few links, that begin when others have arrived."""
    crossed = [random.sample(range(links), random.randint(1, 3)) for _ in range(flows)]
    after = [sorted(random.sample(range(hop + 1, hops), min(2, hops - hop - 1))) for hop in range(hops)]
    return {
        "pairs": np.array([random.randrange(flows) for _ in range(hops)], np.int32),
        "sizes": np.array([random.choice((0.5, 1.0, 1.0, 3.5)) for _ in range(hops)]),
        "after": rows([each if random.random() < 0.4 else [] for each in after]),
        "lanes": np.full(flows, hops, np.int32),
        "places": np.full(links, hops * flows, np.int32),
        "links": rows(crossed),
        "weights": np.array([random.choice((1.0, 1.0, 0.5, 0.25)) for each in crossed for _ in each]),
        "bandwidths": np.array([random.choice(FAR_APART) for _ in range(links)]),
    }


def plain_ends(tables: HopTables, latency: float) -> list[float]:
    """Return when the data of each hop has moved, by the plain sharing of links."""
    pairs, sizes = tables["pairs"].tolist(), tables["sizes"].tolist()
    after, lists = (
        [values[first:last].tolist() for first, last in pairwise(starts.tolist())]
        for starts, values in (tables["after"], tables["links"])
    )
    weights = iter(tables["weights"].tolist())
    multipaths = [Multipath(tuple(each), tuple(next(weights) for _ in each), 0) for each in lists]
    clock = Clock(Sharing(multipaths, tables["bandwidths"]), len(multipaths))
    waits = np.bincount(tables["after"][1], minlength=len(pairs)).tolist()
    ends = [0.0] * len(pairs)

    def move(hop: int) -> Process:
        yield lambda: not waits[hop]
        yield from clock.transfer(pairs[hop], sizes[hop])
        ends[hop] = clock.now
        yield clock.now + latency
        for other in after[hop]:
            waits[other] -= 1

    for hop in range(len(pairs)):
        clock.start(move(hop))
    clock.run()
    return ends


def check_ends(tables: HopTables, latency: float) -> None:
    order = np.arange(len(tables["pairs"]), dtype=np.int32)
    _, ends, _ = hop_program(tables).run(order=order, overhead=0.0, latency=latency)
    assert ends.tolist() == pytest.approx(plain_ends(tables, latency), rel=1e-7)


@pytest.mark.parametrize("seed", range(24))
def test_random_transfers_take_as_long_as_plain_ones(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (a test)
    flows = random.choice((2, 10, 60))
    check_ends(network(random, links=random.choice((3, 10, 80)), flows=flows, hops=4 * flows), latency=0.25)


def test_a_flow_may_become_faster_than_others_on_a_link_that_stays_full() -> None:
    """On the first link, one flow becomes slower when another becomes faster, and a third one must become faster."""
    links = [[0], [0, 1], [0, 2], [2], [1]]
    tables: HopTables = {
        "pairs": np.arange(5, dtype=np.int32),
        "sizes": np.array([10, 10, 10, 0.9, 10]),
        "after": rows([[], [], [], [4], []]),
        "lanes": np.ones(5, np.int32),
        "places": np.full(3, 5, np.int32),
        "links": rows(links),
        "weights": np.ones(7),
        "bandwidths": np.array([3, 0.9, 1.8]),
    }
    check_ends(tables, latency=0.0)


# Runs of two hops, and numbers that are out of range.


def two_hops(**changes: Any) -> HopTables:
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
    begins, ends, lanes = hop_program(two_hops()).run(order=np.arange(2, dtype=np.int32), overhead=0.25, latency=1.0)
    assert begins.tolist() == pytest.approx([0, 1.75])
    assert ends.tolist() == pytest.approx([0.75, 2.5])
    assert lanes.tolist() == [0, 0]


def test_hops_of_two_pairs_take_turns_on_a_link_with_one_place() -> None:
    shared = two_hops(
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
        ({"sizes": np.ones(1)}, "sizes must have one entry per hop"),
        ({"lanes": np.zeros(1, np.int32)}, "a pair has no lane"),
        ({"places": np.ones(2, np.int32)}, "places must have one entry per link"),
        ({"places": np.zeros(1, np.int32)}, "a link has no place"),
        ({"after": (np.array([0, 1, 1], np.int32), np.array([2], np.int32))}, "after is malformed"),
        ({"links": (np.array([0, 1], np.int32), np.array([1], np.int32))}, "links is malformed"),
        ({"weights": np.ones(2)}, "weights must have one entry per link of a flow"),
        ({"weights": np.zeros(1)}, "a flow takes nothing of any link"),
    ],
)
def test_numbers_that_are_out_of_range_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hop_program(two_hops(**changes))


def test_an_order_has_a_place_for_each_hop() -> None:
    with pytest.raises(ValueError, match="order must have one entry per hop"):
        hop_program(two_hops()).run(order=np.zeros(1, dtype=np.int32), overhead=0.0, latency=0.0)
