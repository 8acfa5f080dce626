"""The baselines: correct on their networks, with the published costs, and clear errors on other networks."""

from fractions import Fraction

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.design.given import base_network
from forestcoll.schedule.steps.shape import StepShape, step_shape
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import linked
from refusal import refusal


def _cost(name: str, method: str, collective: str = "allgather", chunks: int | None = None) -> StepShape:
    options = "" if chunks is None else f":chunks={chunks}"
    schedule = generate(build_topology(name), collective, f"{method}{options}")
    assert verify(schedule).fault is None
    assert schedule.collective == collective
    return step_shape(schedule)


def _best(nodes: int) -> Fraction:
    return Fraction(nodes - 1, nodes)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize(
    ("name", "method", "nodes", "steps"),
    [
        ("ring:nodes=2", "ring", 2, 1),
        ("ring:nodes=8", "ring", 8, 7),
        ("ring:nodes=9", "ring", 9, 8),
        ("circulant:nodes=7,offsets=1+2,one_way=true", "ring", 7, 6),
        ("shifted-ring:nodes=6", "ring", 6, 5),
        ("shifted-ring:nodes=12", "ring", 12, 11),
        ("torus:dims=4x4", "torus-rings", 16, 6),
        ("torus:dims=3x3x3", "torus-rings", 27, 6),
        ("hypercube:dim=4", "torus-rings", 16, 4),
    ],
)
def test_rings_reach_the_least_bandwidth_time(name: str, method: str, nodes: int, steps: int, collective: str) -> None:
    cost, phases = _cost(name, method, collective), 2 if collective == "allreduce" else 1
    assert (cost.steps, cost.bandwidth_factor) == (phases * steps, phases * _best(nodes))


def test_rings_share_data_by_bandwidth_and_accept_any_numbering() -> None:
    ring = linked("a b c d e", "a>d:3 d>a d>b:3 b>d b>e:3 e>b e>c:3 c>e c>a:3 a>c")
    schedule = generate(ring, method="ring")
    assert verify(schedule).optimal
    assert schedule.phases[0].transfers.points[1] in {Fraction(1, 4), Fraction(3, 4)}


def test_torus_rings_of_different_sizes_are_as_slow_as_the_longest() -> None:
    cost = _cost("torus:dims=2x3x5", "torus-rings")
    assert cost.steps == 1 + 2 + 4
    assert cost.bandwidth_factor > _best(30)


def test_halving_and_doubling_uses_one_link_at_a_time() -> None:
    for collective, phases in (("allgather", 1), ("reduce-scatter", 1), ("allreduce", 2)):
        cost = _cost("hypercube:dim=3", "halving-doubling", collective)
        assert (cost.steps, cost.bandwidth_factor) == (3 * phases, 3 * phases * _best(8))


@pytest.mark.parametrize(("nodes", "height"), [(2, 1), (3, 1), (7, 2), (8, 3), (15, 3), (16, 4)])
@pytest.mark.parametrize("chunks", [1, 2, 5])
def test_a_double_binary_tree_is_a_pipeline(nodes: int, height: int, chunks: int) -> None:
    cost = _cost(f"double-binary-tree:nodes={nodes}", "double-binary-tree", "allreduce", chunks)
    assert cost.steps == 2 * (height + chunks - 1)
    assert set(cost.step_times) <= {
        Fraction(1, 2 * chunks),
        Fraction(1, 4 * chunks),
    }  # an edge of both trees has twice the bandwidth


@pytest.mark.parametrize(
    ("name", "method", "words"),
    [
        ("torus:dims=4x4", "ring", "the links are not rings through all 16 nodes"),
        ("circulant:nodes=8,offsets=1+2", "ring", "the links are not rings through all 8 nodes"),
        ("complete-bipartite:left=2,right=3", "ring", "the links are not rings through all 5 nodes"),
        ("ring:nodes=8", "halving-doubling", "no link from 0 to 2, partners at step 1"),
        ("ring:nodes=6", "halving-doubling", "6 nodes; recursive halving and doubling needs a power of two"),
        ("complete:nodes=5", "torus-rings", "not a torus with nodes numbered row by row"),
        ("dgx-a100:boxes=1", "ring", "is a switch"),
        ("dgx-a100:boxes=1", "torus-rings", "is a switch"),
        ("dgx-a100:boxes=1", "halving-doubling", "is a switch"),
        ("double-binary-tree:nodes=8", "double-binary-tree", "is not a method for an allgather, only for allreduce"),
    ],
)
def test_unsupported_networks_raise_an_error(name: str, method: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        generate(build_topology(name), method=method)
    assert "\n" not in str(raised.value)


def test_unsupported_arguments_raise_an_error() -> None:
    ring = build_topology("ring:nodes=8")
    with pytest.raises(InputError, match="no full-duplex link between 1 and 3, an edge of the double binary tree"):
        generate(ring, Collective.ALLREDUCE, "double-binary-tree")
    assert "'finest': no such method; did you mean 'best'? there are best, bfb" in refusal(
        generate, ring, method="finest"
    )
    said = "ring: there is no parameter 'chunks'; ring has no parameters"
    assert said in refusal(generate, ring, method="ring:chunks=2")
    assert "ring takes no size" in refusal(generate, ring, method="ring", size=2)
    assert "ring is not a method for a reduce" in refusal(generate, ring, "reduce:root=0", "ring")


@pytest.mark.parametrize(
    ("spec", "steps", "scatter"),
    [
        ("diamond", 3, "7/8"),
        ("modified-de-bruijn:degree=2,length=3", 4, "7/8"),
        ("modified-de-bruijn:degree=2,length=4", 5, "15/16"),
        ("modified-de-bruijn:degree=3,length=2", 3, "10/9"),
        ("modified-de-bruijn:degree=4,length=2", 3, "3/2"),
    ],
)
def test_a_stored_schedule_is_the_answer_of_all_commands(spec: str, steps: int, scatter: str) -> None:
    nodes = len(build_topology(spec).nodes)
    cost = _cost(spec, "best")
    assert (cost.steps, cost.bandwidth_factor) == (steps, _best(nodes))
    assert _cost(spec, "bfb").bandwidth_factor > _best(nodes)
    assert _cost(spec, "best", "reduce-scatter").bandwidth_factor == Fraction(scatter)
    assert _cost(spec, "best", "allreduce").bandwidth_factor == _best(nodes) + Fraction(scatter)
    base = base_network(spec)
    assert (base.cost.steps, base.cost.bandwidth_factor) == (steps, _best(nodes))


def test_the_best_steps_are_breadth_first_where_none_are_stored_and_count_bandwidths() -> None:
    assert generate("torus:dims=3x4", method="best") == generate("torus:dims=3x4", method="bfb")
    fast = linked("a b c", "a>b:2 b>c:2 c>a:2")
    assert verify(generate(fast, method="best")).optimal
    assert "is a switch" in refusal(generate, "dgx-a100:boxes=1", "allgather", "best")
