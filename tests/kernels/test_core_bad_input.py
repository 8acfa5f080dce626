"""The native cores raise an exception for bad input; they never crash or return a wrong number."""

from contextlib import suppress
from typing import Any

import pytest
from flow_problems import problem_of

from forestcoll.base.errors import InternalError
from forestcoll.kernels import AnyProblem, Core, core_for, cores
from oracles import Arc

NATIVE = ["narrow", "wide"]
TRIANGLE: dict[str, Any] = {
    "nodes": 3,
    "tails": [0, 1, 2],
    "heads": [1, 2, 0],
    "capacities": [1, 1, 1],
    "terminals": [0, 1, 2],
}


def out_of_reach(core: Core) -> AnyProblem:
    """Return a network in which nothing leads to node 2."""
    return core.Problem(3, [0, 1], [1, 0], [1, 1], [0, 1, 2])


@pytest.fixture(params=NATIVE)
def native(request: pytest.FixtureRequest) -> Core:
    return cores()[request.param]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"capacities": [1, -1, 1]}, "a capacity is negative"),
        ({"heads": [1, 2, 3]}, "a node number is out of range"),
        ({"tails": [0, 1, -1]}, "a node number is out of range"),
        ({"nodes": 0}, "a node number is out of range"),
        ({"nodes": -1}, "a network needs zero or more nodes"),
        ({"tails": [0, 1]}, "tails, heads and capacities must have the same length"),
        ({"terminals": []}, "terminals must not be empty"),
        ({"terminals": [1, 0]}, "terminals must rise"),
        ({"terminals": [0, 0, 1]}, "terminals must rise"),
        ({"terminals": [-1, 0]}, "a terminal is out of range"),
        ({"terminals": [0, 3]}, "a terminal is out of range"),
        ({"weights": [1, 1]}, "weights must have one entry per terminal"),
        ({"weights": [1, -1, 1]}, "a weight is negative"),
        ({"weights": [0, 0, 0]}, "all weights are 0"),
    ],
)
def test_an_invalid_problem_is_refused(native: Core, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        native.Problem(**(TRIANGLE | change))


def test_numbers_that_do_not_fit_are_refused() -> None:
    for name, limit in (("narrow", 2**63), ("wide", 2**127)):
        with pytest.raises(TypeError):
            cores()[name].Problem(**(TRIANGLE | {"capacities": [1, 1, limit]}))
        cores()[name].Problem(**(TRIANGLE | {"capacities": [1, 1, limit - 1]}))


LONE_EXIT = {(0, 1): 1, (1, 0): 1, (2, 0): 1}  # node 2 is a switch that sends more than it receives


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        *(
            ("split_capacity", (1, way, 1), "a node number is out of range")
            for way in ((0, 1, 3), (-1, 1, 2), (0, 7, 2))
        ),
        *(("tree_capacity", ([0] * 3, arc, 1), "the arc number is out of range") for arc in (-1, 3)),
        ("tree_capacity", ([0, 0], 0, 1), "remaining must have one entry per node"),
        ("distance_sum", ([1, 1],), "lengths must have one entry per arc"),
        ("broadcast_breadth_first", (1, [0, 0], 0), "latencies must have one entry per arc"),
        ("broadcast_breadth_first", (1, [0, -1, 0], 0), "a latency is negative"),
    ],
)
def test_bad_arguments_are_refused(native: Core, method: str, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(native, method)(native.Problem(**TRIANGLE), *arguments)


@pytest.mark.parametrize("arcs", [LONE_EXIT, {(0, 1): 1, (1, 0): 1, (0, 2): 1, (2, 0): 2}])
def test_a_switch_with_more_egress_than_ingress_capacity_is_refused(native: Core, arcs: dict[Arc, int]) -> None:
    with pytest.raises(RuntimeError, match="could not be split off"):
        native.remove_switches(problem_of(native, 3, arcs, [0, 1]), 1)


def test_an_unreachable_terminal_is_refused(native: Core) -> None:
    with pytest.raises(ValueError, match="a compute node cannot be reached"):
        native.bottleneck(out_of_reach(native))


def test_trees_that_do_not_fit_are_refused(native: Core) -> None:
    problem = native.Problem(**TRIANGLE)
    with pytest.raises(RuntimeError, match="a cut fell short although the trees to come fitted"):
        native.pack_trees(problem, native.remove_switches(problem, 1), 1)


def test_the_reference_finds_trees_that_do_not_fit_to_be_a_defect() -> None:
    reference = cores()["reference"]
    problem = reference.Problem(**TRIANGLE)
    with pytest.raises(InternalError, match="no arc could be added to a tree from node number 0"):
        reference.pack_trees(problem, reference.remove_switches(problem, 1), 1)
    with pytest.raises(InternalError, match="switch number 2 could not be split off"):
        reference.remove_switches(problem_of(reference, 3, LONE_EXIT, [0, 1]), 1)


def test_every_core_refuses_networks_with_a_node_out_of_reach(core: Core) -> None:
    with pytest.raises(ValueError, match=r"cannot (reach|be reached)"):
        core.distance_sum(out_of_reach(core), [1, 1])
    with pytest.raises(ValueError, match="cannot reach"):
        core.broadcast_breadth_first(out_of_reach(core), 1, [0, 0], 0)


def complete(core: Core, nodes: int, capacity: int) -> AnyProblem:
    arcs = {(tail, head): capacity for tail in range(nodes) for head in range(nodes) if tail != head}
    return problem_of(core, nodes, arcs, range(nodes))


def star(core: Core, leaves: int, capacity: int) -> AnyProblem:
    """Return a switch, the last node, in the middle of `leaves` compute nodes."""
    arcs = {arc: capacity for leaf in range(leaves) for arc in ((leaf, leaves), (leaves, leaf))}
    return problem_of(core, leaves + 1, arcs, range(leaves))


@pytest.mark.parametrize(("name", "bits"), [("narrow", 63), ("wide", 127)])
def test_sums_beyond_the_integer_width_overflow(name: str, bits: int) -> None:
    core, most = cores()[name], 2**bits - 1
    full, hub = complete(core, 3, most), star(core, 3, most)
    for call in (
        lambda: core.bottleneck(full),
        lambda: core.supply_reaches_all(full, most),
        lambda: core.remove_switches(hub, most),
        lambda: core.remove_switches(hub, most // 3),
        lambda: core.split_capacity(hub, most // 3, (0, 3, 1), most),
        lambda: core.tree_capacity(full, [most, most, most], 0, 1),
        lambda: core.pack_trees(full, core.remove_switches(full, 1), most),
    ):
        with pytest.raises(OverflowError):
            call()


@pytest.mark.parametrize(("name", "bits"), [("narrow", 63), ("wide", 127)])
def test_near_the_integer_width_the_answer_is_correct_or_overflows(name: str, bits: int) -> None:
    core, unbounded = cores()[name], cores()["reference"]
    for divisor in range(1, 40):
        capacity = (2**bits - 1) // divisor
        for make in (complete, star):
            with suppress(OverflowError):
                found = core.bottleneck(make(core, 4, capacity))
                expected = unbounded.bottleneck(make(unbounded, 4, capacity))
                assert found[0] * expected[1] == expected[0] * found[1], divisor
        for supply in (capacity // 3, capacity // 4, capacity):
            with suppress(OverflowError):
                amount = core.split_capacity(star(core, 4, capacity), supply, (0, 4, 1), capacity)
                whole = unbounded.split_capacity(star(unbounded, 4, capacity), supply, (0, 4, 1), capacity)
                assert amount == whole, divisor


@pytest.mark.parametrize(
    ("bound", "name"),
    [
        (0, "narrow"),
        (2**61 - 1, "narrow"),
        (2**61, "wide"),
        (2**125 - 1, "wide"),
        (2**125, "reference"),
        (2**1000, "reference"),
    ],
)
def test_the_narrowest_core_that_is_wide_enough_is_picked(bound: int, name: str) -> None:
    assert core_for(bound) is cores()[name]


ROTATION: dict[str, Any] = {"images": [[1, 2, 0]], "arc_orbits": [0, 0, 0], "unit": 3}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"images": [[1, 2]]}, "a shift of other nodes"),
        ({"images": [[1, 2, 3]]}, "an image is out of range"),
        ({"images": [[1, 2, -1]]}, "an image is out of range"),
        ({"arc_orbits": [0, 0]}, "orbits of other arcs"),
        ({"arc_orbits": [0, 0, 3]}, "an arc's orbit is out of range"),
        ({"arc_orbits": [0, 0, -1]}, "an arc's orbit is out of range"),
        ({"unit": 0}, "the unit of orbits is 1 or more"),
        ({"unit": 2}, "the unit does not divide an orbit of roots"),
    ],
)
def test_an_invalid_symmetry_is_refused(native: Core, change: dict[str, Any], message: str) -> None:
    problem = native.Problem(**(TRIANGLE | {"capacities": [2, 2, 2]}))
    with pytest.raises(ValueError, match=message):
        native.grow_base_trees(problem, 1, **(ROTATION | change))


@pytest.mark.parametrize("name", cores())
def test_base_trees_of_a_symmetry(name: str) -> None:
    core = cores()[name]
    routed, counters = core.grow_base_trees(core.Problem(**(TRIANGLE | {"capacities": [2, 2, 2]})), 1, **ROTATION)
    if name == "reference":
        assert counters["missing"] == 1  # the reference does not grow base trees
    else:
        assert counters["missing"] == 0
        assert routed[0] == [0]
        assert routed[4].tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize("name", [name for name in cores() if name != "reference"])
def test_a_root_in_place_has_fewer_base_trees_than_a_root_that_moves(name: str) -> None:
    """In a triangle, node 0 stays in place: its orbit has one node, and that of node 1 has two."""
    core = cores()[name]
    arcs = {"tails": [0, 0, 1, 1, 2, 2], "heads": [1, 2, 0, 2, 0, 1], "capacities": [1] * 6}
    problem = core.Problem(**(TRIANGLE | arcs))
    routed, counters = core.grow_base_trees(problem, 1, [[0, 2, 1]], [0, 0, 2, 3, 2, 3], 1)
    assert counters["missing"] == 0
    supplies = {0: 0, 1: 0}
    for root, multiplicity in zip(routed[0], routed[1], strict=True):
        supplies[root] += multiplicity
    assert supplies == {0: 1, 1: 2}
