"""Optima that papers state, or that a search over all cuts found. Bandwidths are in GB/s."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from forestcoll.algorithms.generate import optimum
from forestcoll.algorithms.trees import Trees
from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.demand import Demand
from forestcoll.topology.registry import build_topology
from networks import linked
from refusal import refusal


@pytest.mark.parametrize(
    ("spec", "algbw"),
    [
        ("dgx-a100:boxes=1", "2400/7"),
        ("dgx-a100:boxes=2", "1040/3"),
        ("dgx-a100:boxes=4", "800/3"),
        ("dgx-a100:boxes=8", "1600/7"),
        ("dgx-h100:boxes=1", "3600/7"),
        ("dgx-h100:boxes=2", "1600/3"),
        ("dgx-h100:boxes=16", "1280/3"),
        ("mi250:boxes=2", "5312/15"),
        ("mi250:boxes=2,gpus=8", "208"),
        ("torus:dims=8x8", "256/63"),
        ("ring:nodes=7,one_way=true", "7/6"),
        ("hypercube:dim=4", "64/15"),
        ("complete:nodes=9", "9"),
    ],
)
def test_published_optimum(spec: str, algbw: str) -> None:
    assert optimum(build_topology(spec)).algbw == Fraction(algbw)


@pytest.mark.parametrize(
    ("method", "trees", "algbw"),
    [
        (Trees(), 83, "5312/15"),
        (Trees(k=1), 1, "320"),
        (Trees(k=2), 2, "1024/3"),
        (Trees(k=3), 3, "2400/7"),
        (Trees(k=4), 4, "1024/3"),
        (Trees(k=5), 5, "8000/23"),
        (Trees(k=83), 83, "5312/15"),
        (Trees(most=1), 1, "320"),
        (Trees(most=2), 2, "1024/3"),
        (Trees(most=4), 3, "2400/7"),
        (Trees(most=5), 5, "8000/23"),
    ],
)
def test_two_boxes_of_mi250_by_number_of_trees(method: Trees, trees: int, algbw: str) -> None:
    best = optimum(build_topology("mi250:boxes=2"), method=method)
    assert (best.trees_per_root, best.algbw) == (trees, Fraction(algbw))
    assert best.bound.algbw == Fraction(5312, 15)


@pytest.mark.parametrize("bandwidth", [Fraction(1), Fraction(25, 3)])
def test_figure_5_of_the_forestcoll_paper(bandwidth: Fraction) -> None:
    gpus = [f"{box}.{place}" for box in range(2) for place in range(4)]
    links = (f"{gpu}=inside{gpu[0]}:{10 * bandwidth} {gpu}=between:{bandwidth}" for gpu in gpus)
    best = optimum(linked(" ".join(gpus), " ".join(links), switches="between inside0 inside1"))
    assert best.algbw == 8 * bandwidth
    assert (best.trees_per_root, best.tree_bandwidth) == (1, bandwidth)
    assert best.compute_inside == 4
    assert best.exit_bandwidth == 4 * bandwidth


def test_equal_shards_are_the_default() -> None:
    topology = build_topology("ring:nodes=4")
    shards: dict[Any, object] = {0: "1/4", "1": 0.25, 2: Fraction(1, 4), 3: "0.25"}
    assert optimum(topology, Demand(shards=shards)) == optimum(topology)


def test_reduce_scatter_and_allgather_differ_on_one_way_networks() -> None:
    """Node 0 has an incoming bandwidth of 1 and an outgoing bandwidth of 2, so an allgather is slower."""
    topology = linked("0 1 2 3", "0>1:1 0>2:1 1>2:3 2>3:5 3>0:1 3>1:3")
    assert optimum(topology).algbw == Fraction(4, 3)
    assert optimum(topology, "reduce-scatter").algbw == Fraction(8, 3)
    assert optimum(topology, "broadcast:root=0").algbw == 2
    assert optimum(topology, "reduce:root=0").algbw == 1


# What has no optimum.


def test_a_number_of_trees_whose_rounding_unbalances_a_switch_is_refused() -> None:
    topology = linked("a b c", "a>hub:2 hub>a:3 b=hub:3 c>hub:4 hub>c:3", switches="hub")
    with pytest.raises(NoSolutionError) as caught:
        optimum(topology, method="trees:k=1")
    assert str(caught.value) == (
        "network: with 1 tree per root, switch 'hub' would receive 1 tree fewer than it sends, and "
        f"the trees need all routes over it; use {optimum(topology).trees_per_root} trees per root"
    )
    assert optimum(topology, method=Trees(k=optimum(topology).trees_per_root)).algbw == optimum(topology).algbw


def test_numpy_integers_are_accepted_as_numbers_of_trees() -> None:
    ring = build_topology("ring:nodes=4")
    assert optimum(ring, method=Trees(k=np.int64(2))).trees_per_root == 2  # type: ignore[arg-type]
    assert optimum(ring, method=Trees(most=np.int32(2))) == optimum(ring, method="trees:most=2")  # type: ignore[arg-type]


A_COUNT = "expected an integer of 1 or more, with at most 100 digits"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, f"k is 0; {A_COUNT}"),
        ({"k": -3}, f"k is -3; {A_COUNT}"),
        ({"most": 0}, f"most is 0; {A_COUNT}"),
        ({"k": 1.5}, f"k is 1.5; {A_COUNT}"),
        ({"k": "x"}, f"k is 'x'; {A_COUNT}"),
        ({"k": True}, f"k is true; {A_COUNT}"),
        ({"most": 2.0}, f"most is 2.0; {A_COUNT}"),
        ({"k": 10**100}, f"k is an integer of about 101 digits; {A_COUNT}"),
        ({"most": 10**5000}, f"most is an integer of about 5001 digits; {A_COUNT}"),
        ({"k": 1, "most": 2}, "k and most exclude each other; give one of them"),
    ],
)
def test_invalid_numbers_of_trees_are_refused(options: dict[str, Any], message: str) -> None:
    assert refusal(Trees, **options) == f"trees: {message}"
