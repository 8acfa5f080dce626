"""The optimum of groups that run at the same time: compared with a program over all trees, and known values."""

from fractions import Fraction
from random import Random

import pytest
from group_oracles import best_by_all_trees

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import PERSONALISED, SCHEDULED, Collective
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.value import Group, groups_of
from forestcoll.solver.groups.bundling import bundle_for
from forestcoll.solver.groups.search import group_search
from forestcoll.solver.groups.solving import generate_groups, groups_optimum
from forestcoll.solver.groups.value import GroupsOptimum
from forestcoll.solver.optimum import optimum
from forestcoll.solver.personalised import flow_optimum
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import drawn_network

DATA_PARALLEL = ";".join(f"{gpu},{gpu + 8}" for gpu in range(8))
TENSOR_PARALLEL = "0-7;8-15"


def drawn_groups(topology: Topology, seed: int) -> tuple[Group, ...]:
    """Return two or three groups with different collectives and sizes; they may share ranks."""
    random = Random(seed)  # noqa: S311 (a test)
    compute = topology.compute
    requests = []
    for _ in range(random.randint(2, 3)):
        ranks = sorted(random.sample(range(len(compute)), random.randint(2, min(3, len(compute)))))
        collective = random.choice((*SCHEDULED, *PERSONALISED))
        root = topology.nodes[compute[random.choice(ranks)]].id if collective.has_root else None
        requests.append(Demand(collective, ranks, root))
    return groups_of(topology, requests, sizes=[random.choice(["1", "2", "1/3"]) for _ in requests])


def check(topology: Topology, groups: tuple[Group, ...]) -> GroupsOptimum:
    found = group_search(topology, groups)
    assert found.algbw == found.bound.algbw == best_by_all_trees(topology, groups)
    report = verify(bundle_for(found))
    assert report.fault is None
    assert (report.algbw, report.optimal) == (found.algbw, True)
    return found


@pytest.mark.parametrize("one_way", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_random_groups_equal_the_program_over_all_trees(seed: int, *, one_way: bool) -> None:
    topology = drawn_network(seed, nodes=5, kinds="cams", one_way=one_way)
    check(topology, drawn_groups(topology, seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300))
def test_more_random_groups_equal_the_program_over_all_trees(seed: int) -> None:
    topology = drawn_network(1000 + seed, nodes=5, kinds="cams", one_way=seed % 2 == 0)
    check(topology, drawn_groups(topology, seed))


@pytest.mark.parametrize("seed", range(6))
def test_allreduces_on_full_duplex_networks_equal_the_program_over_all_trees(seed: int) -> None:
    topology = drawn_network(seed, nodes=5, kinds="cas", one_way=False)
    groups = groups_of(topology, [[0, 1], [1, 2], [0, 2]], Collective.ALLREDUCE, [1, 2, 1])
    check(topology, groups)


@pytest.mark.parametrize(
    ("spec", "groups", "collective", "algbw"),
    [
        ("dgx-a100:boxes=2", DATA_PARALLEL, "allreduce", "25"),
        ("dgx-a100:boxes=2", TENSOR_PARALLEL, "allreduce", "1300/7"),
        ("dgx-a100:boxes=2", f"{TENSOR_PARALLEL};{DATA_PARALLEL}", "allgather", "50"),
        ("mi250:boxes=2", "0-15;16-31", "broadcast", "332"),
        ("torus:dims=4x4", "0-3;4-7;8-11;12-15", "reduce-scatter", "8/3"),
        ("dgx-a100:boxes=2", DATA_PARALLEL, "all-to-all", "50"),
    ],
)
def test_known_optima(spec: str, groups: str, collective: str, algbw: str) -> None:
    best = groups_optimum(spec, groups, collective)
    assert (str(best.algbw), best.is_optimal) == (algbw, True)
    report = verify(generate_groups(spec, groups, collective))
    assert (report.fault, str(report.algbw), report.optimal) == (None, algbw, True)


@pytest.mark.parametrize("collective", PERSONALISED)
@pytest.mark.parametrize("spec", ["ring:nodes=4", "dgx-a100:boxes=2,gpus=2", "mesh:dims=2x3"])
def test_a_group_of_all_nodes_has_the_optimum_of_its_flows(spec: str, collective: Collective) -> None:
    topology = build_topology(spec)
    root = topology.nodes[topology.compute[1]].id if collective.has_root else None
    found = groups_optimum(topology, [Demand(collective, None, root)])
    assert found.algbw == found.bound.algbw == flow_optimum(topology, collective, root=root).algbw
    assert verify(bundle_for(found)).optimal


@pytest.mark.parametrize("collective", SCHEDULED)
@pytest.mark.parametrize("spec", ["ring:nodes=4", "dgx-a100:boxes=2,gpus=2", "mesh:dims=2x3"])
def test_a_group_of_all_nodes_has_the_optimum_of_the_collective(spec: str, collective: Collective) -> None:
    topology = build_topology(spec)
    root = topology.nodes[topology.compute[1]].id if collective.has_root else None
    found = groups_optimum(topology, [Demand(collective, None, root)])
    assert found.algbw == optimum(topology, collective, root=root).algbw
    assert found.is_optimal


def test_128_ranks_of_data_parallel_groups_use_the_symmetry() -> None:
    groups = [list(range(gpu, 128, 8)) for gpu in range(8)]
    best = groups_optimum("dgx-h100:boxes=16", groups, "allreduce")
    assert (str(best.algbw), best.is_optimal, best.first_groups) == ("80/3", True, (0,) * 8)


def test_sizes_scale_the_rate_of_each_group() -> None:
    best = groups_optimum("ring:nodes=4", "0,1;2,3", sizes="1,3")
    assert best.algbw_of(1) == 3 * best.algbw_of(0) == 3 * best.algbw
    assert best.is_optimal


def test_a_group_may_use_compute_nodes_outside_it() -> None:
    best = groups_optimum("ring:nodes=4", "0,2;1,3", "allgather")
    assert [best.uses_relays(group) for group in range(2)] == [True, True]
    apart = groups_optimum("complete:nodes=4", "0,1", "allgather")
    assert apart.algbw == Fraction(6)


@pytest.mark.parametrize(
    ("groups", "sizes", "message"),
    [
        ("0,1;2", None, "group 1: 1 rank is named; a collective needs two"),
        ("0,1;2,9", None, "group 1: there is no rank 9"),
        ("0,1;;2,3", None, "group 1: '' has an empty part"),
        ("0,1;2,3", "1", "there are 1 sizes and 2 groups; give one size for each group"),
        ("0,1;2,3", "1,0", "the size of group 1 is '0'; it must be greater than 0"),
        ("0,1;2,3", "1,x", "the size of group 1, 'x', is not a number; write a number such as 1/2"),
        ([], None, "there are no groups; give at least one"),
        ([3], None, "group 0: 3 names no ranks"),
        ([Demand("all-to-all", matrix=[[0, 1]])], None, "group 0: "),
    ],
)
def test_bad_groups_are_refused_with_their_place(groups: object, sizes: str | None, message: str) -> None:
    with pytest.raises(InputError) as caught:
        groups_optimum("ring:nodes=4", groups, sizes=sizes)  # type: ignore[arg-type]  # wrong on purpose
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
