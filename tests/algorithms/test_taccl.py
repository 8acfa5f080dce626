"""TACCL: the best routes by brute force, known values, the sketch, and limits."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import pytest
from made import verified

from forestcoll import Link, Topology, TreeSchedule, compare, load_topology, optimum, verify
from forestcoll.algorithms.baseline import default_baselines
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.taccl import Sketch, solved
from forestcoll.demand.demand import Demand
from networks import linked

SMALL = [
    linked("a b c", "a>b b>c c>a"),
    linked("a b c", "a>c b>a c>b c>a"),
    linked("a b c", "a=b:2 b=c"),
    linked("a b c", "a>b:3 b>c c>a:2 b>a"),
    linked("a b c d", "a>b b>c:2 c>d d>a c>a:2"),
    linked("a b c d", "a=b b=c:2 c=d a=c:3"),
]

Tree = dict[int, Link]
"""The link into each node that is not the root."""


def trees_of(topology: Topology, root: int) -> Iterator[Tree]:
    """Yield all spanning trees from a root."""
    targets = [node for node in topology.compute if node != root]
    for links in product(*([link for link in topology.links if link.target == node] for node in targets)):
        tree = dict(zip(targets, links, strict=True))
        if all(distance(tree, root, node) is not None for node in targets):
            yield tree


def distance(tree: Tree, root: int, node: int) -> Fraction | None:
    """Return the time of a chunk from the root to a node; None if the root does not reach it."""
    time, seen = Fraction(0), {node}
    while node != root:
        time, node = time + 1 / tree[node].bandwidth, tree[node].source
        if node in seen:
            return None
        seen.add(node)
    return time


def routing_time(topology: Topology, trees: Sequence[tuple[int, Tree]]) -> Fraction:
    """Return the objective of the program: the longest path, or the busiest link."""
    loads = dict.fromkeys(topology.links, Fraction(0))
    longest = Fraction(0)
    for root, tree in trees:
        for node, link in tree.items():
            loads[link] += 1 / link.bandwidth
            longest = max(longest, distance(tree, root, node) or Fraction(0))
    return max(longest, *loads.values())


@pytest.mark.parametrize("topology", SMALL)
def test_the_routes_are_the_best(topology: Topology) -> None:
    made = solved(problem_of(topology), 1)
    assert made is not None
    assert made.note.startswith("HiGHS reports an optimum for ")
    assert verify(made.schedule).fault is None
    assert isinstance(made.schedule, TreeSchedule)
    links = {(link.source, link.target): link for link in topology.links}
    found = [
        (
            tree.root,
            {target: links[source, target] for source, target in map(made.schedule.routes.__getitem__, tree.routes)},
        )
        for tree in made.schedule.phases[0]
    ]
    roots = topology.compute
    every = product(*(list(trees_of(topology, root)) for root in roots))
    best = min(routing_time(topology, list(zip(roots, trees, strict=True))) for trees in every)
    assert routing_time(topology, found) == best
    assert made.algbw is not None
    assert made.algbw <= len(roots) / best


def test_the_sketch_joins_boxes_by_rails() -> None:
    sketch = Sketch.of(problem_of("dgx-a100:boxes=2"))
    assert len(sketch.routes) == 2 * 8 * 7 + 2 * 8
    assert len(sketch.images) == 1
    assert sorted(int(image[root]) for root, images in sketch.images.items() for image in images) == [
        *sketch.problem.members
    ]


def test_the_order_takes_longer_than_the_routes_where_they_meet() -> None:
    """A comparison says what the trees would allow without the times of the order."""
    row = compare("dgx-a100:boxes=2,gpus=2", baselines=["taccl"]).row("taccl")
    assert row.valid
    assert row.reason.endswith("the times of the order; the loads of its trees would allow 100 GB/s")


def test_only_a_comparison_that_names_it_has_its_row() -> None:
    assert "taccl" not in {each.name for each in default_baselines(4)}


def test_some_of_the_compute_nodes() -> None:
    network = load_topology("dgx-a100:boxes=2")
    ids = [network.nodes[network.compute[place]].id for place in (0, 1, 8, 9)]
    demand = Demand("allreduce", ranks=ids)
    found = verified("taccl", Problem(network, demand.bind(network)[1]))
    assert found.algbw is not None
    assert found.algbw <= optimum(network, demand).algbw
