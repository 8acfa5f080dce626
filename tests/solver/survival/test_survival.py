"""Trees that survive failures, compared with a linear program over all trees of small networks."""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from math import lcm

import pytest

from forestcoll import TopologyBuilder, load_topology, optimum, verify
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.demand.texts import bound_on
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.solver.survival.schedule import Survival, surviving_schedule
from forestcoll.topology import Topology
from forestcoll.topology.changes import Change
from forestcoll.topology.failures import parts_of

Path = tuple[int, ...]


def survival_of(spec: str | Topology, part: str = "links", demand: str = "allgather") -> Survival:
    topology, bound_demand = bound_on(spec, demand)
    return surviving_schedule(topology, bound_demand, part, optimum(topology, demand).bound)


def paths_between(topology: Topology, start: int, end: int) -> Iterator[Path]:
    """Yield all paths without repeated nodes whose inner nodes are switches."""
    open_paths: list[Path] = [(start,)]
    while open_paths:
        path = open_paths.pop()
        for node in topology.targets[path[-1]]:
            if node == end:
                yield (*path, end)
            elif node not in path and not topology.nodes[node].is_compute:
                open_paths.append((*path, node))


def all_trees(topology: Topology, root: int) -> Iterator[list[Path]]:
    """Yield every tree: a path into each other compute node, so that all are reached from the root."""
    compute = topology.compute
    others = [node for node in compute if node != root]
    into = [[path for one in compute if one != node for path in paths_between(topology, one, node)] for node in others]
    for choice in product(*into):
        parents = {path[-1]: path[0] for path in choice}
        reached = {root}
        for _ in others:
            reached |= {node for node, parent in parents.items() if parent in reached}
        if len(reached) == len(compute):
            yield list(choice)


def is_kept(tree: list[Path], failure: Change) -> bool:
    """Return whether all nodes that are left still receive the data along the tree."""
    for path in tree:
        if path[-1] in failure.nodes:
            continue
        if any(node in failure.nodes for node in path):
            return False
        if any(tuple(sorted(ends)) in failure.links for ends in pairwise(path)):
            return False
    return True


def best_of_all_trees(topology: Topology, part: str) -> tuple[Fraction, Fraction]:
    """Return the greatest guarantee of an allgather, and the greatest algbw with this guarantee."""
    failures = parts_of(topology, part)
    trees = [(root, tree) for root in topology.compute for tree in all_trees(topology, root)]
    unit = lcm(*(link.bandwidth.denominator for link in topology.links))
    members = len(topology.compute)

    def solved(least: Fraction | None) -> Fraction:
        """Maximise the guarantee or, if it is given, the algbw; the last column is what is maximised."""
        program = LinearProgram([0] * len(trees) + [1])
        for number, link in enumerate(topology.links):
            ends = (link.source, link.target)
            uses = {
                place: sum(each == ends for path in tree for each in pairwise(path))
                for place, (_, tree) in enumerate(trees)
            }
            assert topology.link_numbers[ends] == number
            program.add(Constraint({k: v for k, v in uses.items() if v}, None, int(link.bandwidth * unit)))
        for root in topology.compute:
            own = {place: 1 for place, (other, _) in enumerate(trees) if other == root}
            if least is not None:
                program.add(Constraint(dict.fromkeys(own, members) | {len(trees): -1}, 0, None))
            for failure in failures:
                left = members - sum(node in topology.compute for node in failure.nodes)
                if root in failure.nodes:
                    continue
                kept = {place: left for place in own if is_kept(trees[place][1], failure)}
                if least is None:
                    program.add(Constraint(kept | {len(trees): -1}, 0, None))
                else:
                    whole = {place: each * least.denominator for place, each in kept.items()}
                    program.add(Constraint(whole, least.numerator * unit, None))
        exact = program.proven(program.solve())
        assert exact is not None
        return exact[0][-1] / unit

    guarantee = solved(None)
    return guarantee, solved(guarantee)


def random_network(seed: int) -> Topology:
    """Return a network of 3 or 4 compute nodes, perhaps with a switch, that no single failure divides."""
    draws = random.Random(seed)  # noqa: S311 (networks of tests)
    count = draws.choice([3, 4])
    builder = TopologyBuilder(f"random {seed}")
    for node in range(count):
        builder.add_compute(node)
    pairs = [(node, (node + 1) % count) for node in range(count)]
    if draws.random() < 0.5:
        builder.add_switch("switch")
        pairs += [(node, "switch") for node in range(count) if node < 2 or draws.random() < 0.7]  # type: ignore[misc]
    if count == 4 and draws.random() < 0.5:
        pairs.append((0, 2))
    for one, other in pairs:
        bandwidth = Fraction(draws.randint(1, 4), draws.randint(1, 2))
        builder.add_link(one, other, bandwidth)
        builder.add_link(other, one, bandwidth)
    return builder.build()


@pytest.mark.parametrize("part", ["links", "nodes"])
@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 30))])
def test_no_schedule_is_better_than_the_one_that_is_found(seed: int, part: str) -> None:
    topology = random_network(seed)
    found = survival_of(topology, part)
    guarantee, algbw = best_of_all_trees(topology, part)
    assert found.is_optimal
    assert found.guarantee == guarantee <= found.replanned
    assert found.schedule.algbw is not None
    assert found.schedule.algbw >= algbw  # at least, because the shares of roots are equal and bandwidth may be left


@pytest.mark.parametrize(
    "spec", ["ring:nodes=5", "complete:nodes=5", "torus:dims=3x3", "hypercube:dim=3", "circulant:nodes=7,offsets=1+2"]
)
def test_a_failed_link_of_a_symmetric_network_costs_the_bandwidth_of_two(spec: str) -> None:
    found = survival_of(spec)
    assert found.is_optimal
    assert found.schedule.algbw == optimum(spec).algbw
    assert found.guarantee == found.schedule.algbw - 2


@pytest.mark.parametrize(
    ("spec", "part", "guarantee"),
    [
        ("dgx-a100:boxes=2,gpus=4", "nics", 150),
        ("dgx-a100:boxes=3,gpus=2", "boxes", 50),
        pytest.param("dgx-a100:boxes=2", "nics", 300, marks=pytest.mark.slow),
        pytest.param("dgx-a100:boxes=4", "nics", Fraction(700, 3), marks=pytest.mark.slow),
    ],
)
def test_boxes_keep_their_algbw(spec: str, part: str, guarantee: Fraction | int) -> None:
    found = survival_of(spec, part)
    assert found.guarantee == guarantee
    assert found.is_optimal
    assert found.schedule.algbw == optimum(spec).algbw


@pytest.mark.parametrize(
    ("spec", "part", "demand"),
    [
        ("torus:dims=3x3", "links", "broadcast:root=0"),
        ("torus:dims=3x3", "links", "reduce:root=4"),
        ("torus:dims=3x3", "nodes", "reduce-scatter"),
        ("torus:dims=3x3", "nodes", "allreduce"),
        ("circulant:nodes=6,offsets=1+2,one_way=true", "links", "reduce-scatter"),
        ("dgx-a100:boxes=2,gpus=3", "nics", "allreduce"),
        ("dgx-a100:boxes=3,gpus=2", "boxes", "allgather"),
        ("dgx-a100:boxes=2,gpus=2", "nodes", "reduce-scatter"),
    ],
)
def test_the_trees_that_are_left_are_a_right_schedule_with_the_guarantee(spec: str, part: str, demand: str) -> None:
    found = survival_of(spec, part, demand)
    assert verify(found.schedule).ok
    whole = found.schedule
    ids = {tuple(whole.topology.ids(whole.routes[route])) for route in range(len(whole.routes))}
    left = list(found.left())
    assert [failure for failure, _ in left] == parts_of(load_topology(spec), part)
    assert found.left_algbw == min(schedule.algbw or 0 for _, schedule in left)
    for failure, schedule in left:
        assert verify(schedule).ok
        assert schedule.algbw is not None
        assert schedule.algbw >= found.guarantee
        assert schedule.topology == failure.network(whole.topology)
        assert {tuple(schedule.topology.ids(schedule.routes[route])) for route in range(len(schedule.routes))} <= ids
        assert max(map(len, schedule.phases)) < max(map(len, whole.phases)) or failure.nodes


def test_a_reduce_scatter_on_one_way_links_is_an_allgather_on_the_reversed_links() -> None:
    topology = load_topology("circulant:nodes=6,offsets=1+2,one_way=true")
    reduced = survival_of(topology, "links", "reduce-scatter")
    assert reduced.guarantee == survival_of(topology.transposed(), "links").guarantee
    assert {phase.op.value for phase in reduced.schedule.phases} == {"reduce"}


@pytest.mark.parametrize(
    ("spec", "part", "demand", "message"),
    [
        ("dgx-a100:boxes=2", "switches", "allgather", "no schedule survives the failure of ib: b0/gpu0 cannot reach"),
        ("ring:nodes=4", "nodes", "broadcast:root=1", "the failure of 1 takes the root away"),
        ("complete:nodes=2", "nodes", "allgather", "leaves fewer than two compute nodes"),
        ("ring:nodes=4", "nics", "allgather", "there are no nics that can fail"),
        ("circulant:nodes=6,offsets=1+2,one_way=true", "links", "allreduce", "same bandwidth in both directions"),
        ("torus:dims=16x16", "links", "allgather", "are 131,072 conditions, 65,536 at most"),
    ],
)
def test_what_cannot_survive_is_refused_in_one_line(spec: str, part: str, demand: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        survival_of(spec, part, demand)


def test_the_same_network_has_the_same_trees() -> None:
    one, other = survival_of("hypercube:dim=3"), survival_of("hypercube:dim=3")
    assert one.schedule == other.schedule
    assert Collective.ALLGATHER is one.schedule.collective
