"""The networks of Theorem 3 of *On the Computation Rate of All-Reduce*: members, other networks, and a wrong sum."""

from collections import Counter
from fractions import Fraction
from random import Random

import pytest

from forestcoll.solver.bounds.cut_edge import CutEdge
from forestcoll.solver.bounds.table import bounds
from forestcoll.topology import Topology
from networks import linked

Arc = tuple[int, int]


def network(bandwidths: dict[Arc, int]) -> Topology:
    nodes = sorted({end for arc in bandwidths for end in arc})
    links = (f"{source}>{target}:{bandwidth}" for (source, target), bandwidth in sorted(bandwidths.items()))
    return linked(" ".join(map(str, nodes)), " ".join(links))


def pair_of_trees(random: Random, nodes: int) -> Counter[Arc]:
    """Return the arcs of a random in-tree and a random out-tree of one root, as in Definition 3."""
    arcs: Counter[Arc] = Counter()
    root = random.randrange(nodes)
    for backwards in (False, True):
        order = [root, *random.sample([each for each in range(nodes) if each != root], nodes - 1)]
        for place in range(1, nodes):
            parent, child = order[random.randrange(place)], order[place]
            arcs[(child, parent) if backwards else (parent, child)] += 1
    return arcs


def lone_arc(arcs: Counter[Arc]) -> Arc | None:
    """Return an arc of bandwidth 1 that is the only one into its target."""
    entering = Counter(target for _, target in arcs)
    return next((arc for arc in sorted(arcs) if arcs[arc] == 1 and entering[arc[1]] == 1), None)


@pytest.mark.parametrize("seed", range(6))
def test_sums_of_pairs_of_trees_with_one_cut_edge_have_its_rate(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (not for security)
    nodes = random.randint(3, 5)
    members = (pair_of_trees(random, nodes) for _ in range(400))
    by_arc: dict[Arc, list[Counter[Arc]]] = {}
    for arcs in members:
        arc = lone_arc(arcs)
        if arc is not None:
            by_arc.setdefault(arc, []).append(arcs)
    arc, summands = max(by_arc.items(), key=lambda item: (len(item[1]), item[0]))
    weights = [random.randint(1, 5) for _ in summands[:3]]
    total: Counter[Arc] = Counter()
    for weight, arcs in zip(weights, summands, strict=False):
        for each, count in arcs.items():
            extra = 0 if each == arc else random.randint(0, 3)
            total[each] += weight * (count + extra)
    rate = bounds(network(dict(total))).allreduce_rate
    assert rate.tree_lower == rate.cut_set_upper.algbw == sum(weights)
    assert rate.factor == 1
    assert rate.cut_edge is not None
    assert total[rate.cut_edge.source, rate.cut_edge.target] == sum(weights)


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ({(0, 1): 5, (1, 2): 2, (1, 3): 4, (3, 4): 7}, CutEdge(1, 2, (0, 1, 3, 4))),
        ({(0, 1): 5, (1, 2): 2, (2, 3): 7}, CutEdge(1, 2, (0, 1))),  # between inner nodes
    ],
)
def test_a_tree_of_full_duplex_links_has_the_rate_of_its_least_link(links: dict[Arc, int], expected: CutEdge) -> None:
    rate = bounds(network(links | {arc[::-1]: bandwidth for arc, bandwidth in links.items()})).allreduce_rate
    assert (rate.tree_lower, rate.cut_edge) == (Fraction(2), expected)


@pytest.mark.parametrize("spec", ["ring:nodes=3", "complete:nodes=4", "ring:nodes=4,one_way=true", "hypercube:dim=2"])
def test_networks_without_a_known_rate_have_no_cut_edge(spec: str) -> None:
    assert bounds(spec).allreduce_rate.cut_edge is None


def test_a_cut_of_more_than_one_link_is_no_cut_edge() -> None:
    rate = bounds(network({(0, 1): 4, (1, 0): 4, (0, 2): 1, (2, 0): 1, (1, 2): 1, (2, 1): 1})).allreduce_rate
    assert (rate.factor, rate.tree_lower, rate.cut_edge) == (Fraction(1), Fraction(2), None)


@pytest.mark.parametrize(("third", "expected"), [(2, Fraction(1)), (1, Fraction(3, 4))])
def test_a_circle_of_three_is_a_member_if_its_bandwidths_differ_enough(third: int, expected: Fraction) -> None:
    rate = bounds(network({(0, 1): 1, (1, 2): 1, (2, 0): third})).allreduce_rate  # Theorem 6
    assert rate.tree_lower == expected
    assert (rate.cut_edge is None) == (expected < 1)


def test_summands_with_cut_edges_at_different_ends_have_a_greater_rate() -> None:
    """The theorem does not exclude this sum of two networks of rate 1 with the cut-edge 1 -> 2, but its rate is 12."""
    into = {(1, 2): 1, (2, 1): 1, (3, 1): 10, (1, 3): 10}  # root 1; nothing else enters 2
    out = {(1, 2): 1, (2, 1): 10, (3, 2): 10, (2, 3): 10}  # root 2; nothing else leaves 1
    for each in (into, out):
        rate = bounds(network(each)).allreduce_rate
        assert rate.tree_lower == rate.factor == 1
    total = bounds(network(dict(Counter(into) + Counter(out)))).allreduce_rate
    assert total.tree_lower == total.cut_set_upper.algbw == 12
    assert total.cut_edge is None


def test_a_switch_that_only_sends_is_no_end_of_a_cut_edge() -> None:
    rate = bounds(linked("a b", "a>b b>a a>s s>b b>a", switches="s")).allreduce_rate
    assert (rate.tree_lower, rate.cut_edge) == (Fraction(2), CutEdge(1, 0, (1,)))
