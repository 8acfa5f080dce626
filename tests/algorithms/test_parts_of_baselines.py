"""The parts that algorithms are made of: orders of rings, binary trees, routes and boxes."""

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from made import made

from forestcoll import TreeSchedule, load_topology, read_schedule, verify, write_schedule
from forestcoll.algorithms.baseline import baselines
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.nccl_tree import binary_tree, mirrored_tree
from forestcoll.algorithms.ring_orders import closed_orders, passages
from forestcoll.programs import lower
from forestcoll.topology.graph.routes import Routes
from networks import linked


@pytest.mark.parametrize("gpus", [2, 4, 6, 8])
def test_rings_on_a_mesh_use_each_link_once(gpus: int) -> None:
    problem = problem_of(f"mi300x:boxes=2,gpus={gpus}")
    found = passages(problem, problem.boxes.members[0])
    hops = [hop for passage in found for hop in pairwise(passage.order)]
    assert len(hops) == len(set(hops)) == gpus * (gpus - 1)
    assert {passage.part for passage in found} == {Fraction(1, gpus)}


def test_each_nic_is_entered_once_and_left_once() -> None:
    for topology in ("dgx-a100:boxes=2", "dgx-a100:boxes=2,pcie=true", "dgx-2:boxes=2", "mi300x:boxes=2"):
        problem = problem_of(topology)
        found = passages(problem, problem.boxes.members[0])
        entered, left = [each.arrival[:2] for each in found], [each.departure[-2:][::-1] for each in found]
        assert len(set(entered)) == len(entered)
        assert set(entered) == set(left)


def test_closed_rings_have_parts_that_add_up() -> None:
    problem = problem_of("mi250:boxes=1")
    found = closed_orders(problem, problem.boxes.members[0])
    assert sum(part for part, _ in found) == 1
    assert all(sorted(order) == list(problem.members) for _, order in found)


@pytest.mark.parametrize("size", range(1, 20))
def test_binary_trees_span_all_numbers(size: int) -> None:
    for parents in (binary_tree(size), mirrored_tree(size)):
        assert parents.count(None) == 1
        for number in range(size):
            seen = set()
            above: int | None = number
            while above is not None:
                assert above not in seen
                seen.add(above)
                above = parents[above]
        assert max(parents.count(number) for number in range(size)) <= 2


@pytest.mark.parametrize("size", range(4, 20, 2))
def test_a_number_with_children_in_one_tree_is_a_leaf_of_the_mirrored_tree(size: int) -> None:
    one, other = (set(parents) - {None, parents.index(None)} for parents in (binary_tree(size), mirrored_tree(size)))
    assert not one & other


def test_a_route_is_the_widest_of_the_shortest_through_switches() -> None:
    topology = linked("a b", "a=narrow b=narrow a=wide:2 b=wide:2", switches="narrow wide")
    route = Routes(topology).find(0, 1)
    assert route is not None
    assert topology.ids(route) == ["a", "wide", "b"]
    assert Routes(load_topology("ring:nodes=4")).find(0, 2) is None


def test_trees_of_two_levels_are_low() -> None:
    topology = load_topology("dgx-a100:boxes=2")
    schedule = made("two-level", problem_of("dgx-a100:boxes=2"))
    assert isinstance(schedule, TreeSchedule)
    names = [topology.ids(schedule.routes[route]) for route in schedule.phases[0][0].routes]
    assert names[0][0] == "b0/gpu0"
    assert sum("ib" in name for name in names) == 1


@pytest.mark.parametrize(
    "name", [pytest.param(each.name, marks=[pytest.mark.slow] * (each.most_by_default == 0)) for each in baselines()]
)
def test_a_schedule_can_be_written_read_and_lowered(name: str, tmp_path: Path) -> None:
    topology = {
        "rccl-ring": "mi300x:boxes=2",
        "nvls": "dgx-h100:boxes=1,nvls=true",
        "nvls-tree": "dgx-h100:boxes=2,nvls=true",
        "blink": "dgx-1",
        "swing-torus": "torus:dims=2x4",
    }.get(name, "dgx-a100:boxes=2,gpus=4")
    schedule = made(name, problem_of(topology, "allreduce"))
    write_schedule(schedule, tmp_path / "schedule.json")
    found = read_schedule(tmp_path / "schedule.json")
    assert type(found) is type(schedule)
    assert verify(found).algbw == schedule.algbw
    assert len(lower(found).program.ranks) == len(schedule.topology.compute)


def test_the_transposed_problem_of_a_network_with_equal_links_both_ways_is_the_problem_itself() -> None:
    same, other = problem_of("dgx-a100:boxes=2"), problem_of(linked("a b c", "a>c b>a c>b"))
    assert same.transposed() is same
    assert other.transposed() is not other
    ends = {(link.source, link.target) for link in other.topology.links}
    assert {(link.target, link.source) for link in other.transposed().topology.links} == ends
