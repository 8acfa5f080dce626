"""The optimum of groups that run at the same time: compared with a program over all trees, and known values."""

from fractions import Fraction
from random import Random

import pytest

from forestcoll.algorithms.generate import optimum
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import PERSONALISED, SCHEDULED, Collective
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.groups import Groups
from forestcoll.demand.groups.layout import Layout
from forestcoll.demand.groups.value import Group, groups_of
from forestcoll.solver.groups.bundling import bundle_for
from forestcoll.solver.groups.gains import group_gains
from forestcoll.solver.groups.layouts import layout_table
from forestcoll.solver.groups.search import group_search
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import drawn_network, linked, seeds
from refusal import refusal
from tree_programs import best_by_all_trees

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


def check(topology: Topology, groups: tuple[Group, ...]) -> None:
    found = group_search(topology, groups)
    assert found.algbw == found.bound.algbw == best_by_all_trees(topology, groups)
    report = verify(bundle_for(found))
    assert report.fault is None
    assert (report.algbw, report.optimal) == (found.algbw, True)


@pytest.mark.parametrize("seed", seeds(14, 320))
def test_random_groups_equal_the_program_over_all_trees(seed: int) -> None:
    topology = drawn_network(seed, nodes=5, kinds="cams", one_way=seed % 2 == 0)
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
        ("torus:dims=4x4", "0-3;4-7;8-11;12-15", "reduce-scatter", "8/3"),
        ("dgx-a100:boxes=2", DATA_PARALLEL, "all-to-all", "50"),
        ("ring:nodes=12", "0-11", "allgather", "24/11"),  # too many members for least trees
    ],
)
def test_known_optima(spec: str, groups: str, collective: str, algbw: str) -> None:
    best = optimum(spec, Groups(groups, collective))
    assert (str(best.algbw), best.is_optimal) == (algbw, True)
    report = verify(bundle_for(best))
    assert (report.fault, str(report.algbw), report.optimal) == (None, algbw, True)


@pytest.mark.parametrize("collective", Collective)
@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2,gpus=2", "mesh:dims=2x3"])
def test_a_group_of_all_nodes_has_the_optimum_of_the_collective(spec: str, collective: Collective) -> None:
    topology = build_topology(spec)
    root = topology.nodes[topology.compute[1]].id if collective.has_root else None
    found = optimum(topology, Groups([Demand(collective, None, root)]))
    expected = optimum(topology, Demand(collective, root=root))
    assert found.algbw == expected.algbw
    assert found.is_optimal
    assert verify(bundle_for(found)).optimal


def test_128_ranks_of_data_parallel_groups_use_the_symmetry() -> None:
    groups = [list(range(gpu, 128, 8)) for gpu in range(8)]
    best = optimum("dgx-h100:boxes=16", Groups(groups, "allreduce"))
    assert (str(best.algbw), best.is_optimal, best.first_groups) == ("80/3", True, (0,) * 8)


def test_sizes_scale_the_rate_of_each_group() -> None:
    best = optimum("ring:nodes=4", Groups("0,1;2,3", sizes="1,3"))
    assert best.algbw_of(1) == 3 * best.algbw_of(0) == 3 * best.algbw
    assert best.is_optimal


def test_a_group_may_use_compute_nodes_outside_it() -> None:
    best = optimum("ring:nodes=4", Groups("0,2;1,3", "allgather"))
    assert [best.uses_relays(group) for group in range(2)] == [True, True]
    apart = optimum("complete:nodes=4", Groups("0,1", "allgather"))
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
    assert refusal(optimum, "ring:nodes=4", Groups(groups, sizes=sizes)).startswith(message)  # type: ignore[arg-type]


def test_numbers_of_20_digits_that_are_equal_in_floating_point_are_told_apart() -> None:
    found = optimum(linked("a b c", f"a=b:{10**20 + 1} b=c:{10**20 + 3} c=a:{10**20 + 7}"), Groups("0,1"))
    assert found.algbw == found.bound.algbw == 4 * (10**20 + 2)


def test_an_allreduce_needs_one_root_that_both_phases_reach() -> None:
    with pytest.raises(InputError, match=r"^network: group 0 is not connected without relays; allow relays$"):
        optimum(linked("a b c", "a>b b>c c>a"), Groups("0,1", "allreduce", relays=False))


# Tables of layouts.


def test_each_row_is_the_optimum_of_its_groups() -> None:
    table = layout_table("dgx-a100:boxes=2", Groups("tp=4,cp=2,dp=2", "allreduce"))
    assert [row.name for row in table.rows] == ["tp", "cp", "dp"]
    for row in table.rows:
        best = optimum("dgx-a100:boxes=2", Groups("tp=4,cp=2,dp=2", "allreduce", run=row.name))
        assert (row.algbw, row.groups, row.is_optimal) == (best.algbw, len(best.groups), True)
        assert row.algbw_alone == min(gain.algbw_alone for gain in group_gains(best).groups)
        assert row.limited_by


def test_all_orders_are_compared_and_the_fastest_is_first() -> None:
    table = layout_table("dgx-a100:boxes=2", Groups("tp=4,cp=2,dp=2", "allreduce"))
    assert len({order.names for order in table.orders}) == 6
    times = [order.time for order in table.orders]
    assert times == sorted(times)
    for order in table.orders:
        sizes = {"tp": 4, "cp": 2, "dp": 2}
        layout = ",".join(f"{name}={sizes[name]}" for name in order.names)
        best = optimum("dgx-a100:boxes=2", Groups(layout, "allreduce", run="dp"))
        assert order.algbws["dp"] == best.algbw


def test_dimensions_of_size_1_have_no_row() -> None:
    table = layout_table("ring:nodes=4", Groups("tp=4,dp=1", "allgather"))
    assert [(row.name, row.algbw) for row in table.rows] == [("tp", Fraction(8, 3))]
    assert len(table.orders) == 2


def test_groups_without_relays_are_never_faster() -> None:
    pairs = Layout.of("tp=4,dp=4").groups("dp")
    best = optimum("dgx-h100:boxes=2", Groups(pairs, "allreduce"))
    bare = optimum("dgx-h100:boxes=2", Groups(pairs, "allreduce", relays=False))
    assert bare.algbw <= best.algbw == best.bound.algbw
    assert bare.bound.algbw == best.bound.algbw
    assert not any(bare.uses_relays(group) for group in range(len(pairs)))
    assert group_gains(best).without_relays == bare.algbw
