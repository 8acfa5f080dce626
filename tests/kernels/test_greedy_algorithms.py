"""TACOS, MultiTree and shallow trees: all cores find the same, and refuse bad input."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import generate
from forestcoll.algorithms import multitree, shallow, tacos
from forestcoll.algorithms.method import DoesNotApplyError
from forestcoll.kernels import Core, TurnRule, cores, selection
from forestcoll.topology import Topology
from networks import examples, networks, one_way_networks


class _AllCores:
    """Calls all cores that are wide enough, and returns their result if it is the same."""

    def __init__(self, bound: int) -> None:
        narrowest = selection.core_for(bound)
        every = list(cores().values())
        self._cores = every[next(place for place, core in enumerate(every) if core is narrowest) :]

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self._same(name, arguments)

    def _same(self, name: str, arguments: tuple[Any, ...]) -> Any:
        first, *others = [getattr(core, name)(*arguments) for core in self._cores]
        for other in others:
            assert _plain(other) == _plain(first)
        return first


def _plain(found: Any) -> Any:
    return found and [each.tolist() if isinstance(each, np.ndarray) else each for each in found]


@pytest.fixture(autouse=True)
def _every_core(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (multitree, shallow, tacos):
        monkeypatch.setattr(module, "core_for", _AllCores)


METHODS = ["tacos", *(f"multitree{rule}" for rule in ("", "-source", "-remaining", "-bandwidth"))]
METHODS += [f"shallow:more={more},trees={trees}" for more, trees in ((0, 1), (0, 2), (1, 1), (2, 3))]


@pytest.mark.parametrize("method", METHODS)
@examples(30)
@given(st.one_of(networks(), one_way_networks()))
def test_all_cores_make_the_same_schedules(method: str, topology: Topology) -> None:
    try:
        found = generate(topology, method=method)
    except DoesNotApplyError:
        return
    assert found.algbw is not None


@pytest.mark.parametrize("method", [*METHODS, "central", "central:more=1,times=2"])
@pytest.mark.parametrize("network", ["dgx-a100:boxes=2", "mi250:boxes=1", "fat-tree:levels=2,arity=4"])
def test_all_cores_make_the_same_schedules_of_an_allreduce(method: str, network: str) -> None:
    try:
        found = generate(network, "allreduce", method)
    except DoesNotApplyError:
        return
    assert found.algbw is not None


PATHS: dict[str, Any] = {
    "places": 2,
    "links": [[], [0], [1], []],
    "rates": [0, 3, 3, 0],
    "durations": [0, 2, 2, 0],
    "capacities": [3, 3],
    "chunks": 1,
    "seed": 1,
}
TURNS: dict[str, Any] = {
    "nodes": 2,
    "tails": [0, 1],
    "heads": [1, 0],
    "widths": [0, 0],
    "copies": [1, 1],
    "members": [0, 1],
    "rule": TurnRule.WIDEST,
}
SENDS: dict[str, Any] = {
    "places": 2,
    "links": [[], [0], [1], []],
    "following": [1, 0, 0, 1],
    "weights": [1, 1],
    "roots": [0, 1],
    "more": 1,
    "height": 1,
    "passes": 1,
}


def test_what_the_cores_take_is_what_they_say() -> None:
    for core in cores().values():
        assert _plain(core.take_chunks(**PATHS)) == [2, [1, 0], [1, 0], [0, 1]]
        assert _plain(core.take_turns(**TURNS)) == [[0, 2, 4], [0, 1, 1, 0]]
        assert _plain(core.grow_shallow(**SENDS)) == [[0, 1, 0], [-1, 0, 1, -1, -1, 0]]


def test_what_cannot_be_reached_is_left_out() -> None:
    for core in cores().values():
        assert _plain(core.take_chunks(**(PATHS | {"links": [[], [0], [], []]}))) == [2, [0], [0], [1]]
        one_way = {"tails": [0], "heads": [1], "widths": [0], "copies": [1]}
        assert core.take_turns(**(TURNS | one_way)) is None


@pytest.mark.parametrize(
    ("method", "given", "change", "message"),
    [
        ("take_chunks", PATHS, {"places": 0}, "places and chunks must be 1 or more"),
        ("take_chunks", PATHS, {"chunks": 0}, "places and chunks must be 1 or more"),
        ("take_chunks", PATHS, {"rates": [0, 3, 3]}, "links, rates and durations must have one entry per pair"),
        ("take_chunks", PATHS, {"links": [[], [0], [2], []]}, "a link number is out of range"),
        ("take_chunks", PATHS, {"rates": [0, 3, 4, 0]}, "the rate of a path must be above 0 and at most"),
        ("take_chunks", PATHS, {"durations": [0, 0, 2, 0]}, "a duration must be above 0"),
        ("take_turns", TURNS, {"tails": [0]}, "tails, heads, widths and copies must have the same length"),
        ("take_turns", TURNS, {"heads": [2, 0]}, "a node number is out of range"),
        ("take_turns", TURNS, {"copies": [0, 1]}, "the copies of a link 1 or more"),
        ("take_turns", TURNS, {"members": []}, "members must not be empty"),
        ("take_turns", TURNS, {"members": [0, 0]}, "members must be different nodes"),
        ("take_turns", TURNS, {"rule": 4}, "there is no such rule"),
        ("grow_shallow", SENDS, {"places": 0}, "places must be 1 or more"),
        ("grow_shallow", SENDS, {"following": [1, 0, 0]}, "links and following must have one entry per pair"),
        ("grow_shallow", SENDS, {"links": [[], [0], [2], []]}, "a link number is out of range"),
        ("grow_shallow", SENDS, {"roots": []}, "roots must not be empty"),
        ("grow_shallow", SENDS, {"roots": [2]}, "a root is out of range"),
        ("grow_shallow", SENDS, {"height": 0}, "no tree of this height reaches all places"),
    ],
)
@pytest.mark.parametrize("native", ["narrow", "wide"])
def test_bad_input_is_refused(
    native: str, method: str, given: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    core: Core = cores()[native]
    with pytest.raises(ValueError, match=message):
        getattr(core, method)(**(given | change))
