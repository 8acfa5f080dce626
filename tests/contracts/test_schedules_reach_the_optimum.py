"""Every generated schedule passes the verifier, reaches the optimum, and has k trees from every root."""

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.method import Method
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.forests.value import Optimum
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.solver.optimum import optimum
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology, builders
from forestcoll.verification import verify
from networks import SMALL, duplex_networks, examples, networks, one_way_networks
from oracles import best_allgather

SPECS = [
    "alibaba-hpn:boxes=1",
    "alibaba-hpn:boxes=2",
    "aws-p4d:boxes=2",
    "aws-p5:boxes=2",
    "cayley:outer=5,inner=2,ratio=4,generators=1+2+3",
    "circulant:nodes=5,offsets=1+2",
    "circulant:nodes=7,offsets=1+2,one_way=true",
    "circulant:nodes=8,offsets=1+3+4,one_way=true,bandwidth=25/3",
    "cluster:box=dgx-a100,boxes=2",
    "cluster:box=dgx-a100:gpus=4,boxes=4,rails=2,nics=4,boxes_per_leaf=2,oversubscription=2",
    "cluster:box=mi250:gpus=8,boxes=2,nics=4,nic_bandwidth=25",
    "complete-bipartite:left=1,right=4",
    "complete-bipartite:left=3,right=4",
    "complete:nodes=2",
    "complete:nodes=6",
    "de-bruijn:degree=2,length=3",
    "dgx-1:boxes=1",
    "dgx-1:boxes=2",
    "dgx-1:boxes=3,gpus=3",
    "dgx-2:boxes=1",
    "dgx-2:boxes=2,gpus=5",
    "dgx-a100:boxes=1",
    "dgx-a100:boxes=2",
    "dgx-a100:boxes=2,gpus=3,nics=true",
    "dgx-a100:boxes=2,nics=true",
    "dgx-a100:boxes=2,nvswitch_bandwidth=1000000000000,ib_bandwidth=1/7",
    "dgx-a100:boxes=3,gpus=5",
    "dgx-a100:boxes=4,gpus=1",
    "dgx-b200:boxes=2",
    "dgx-h100:boxes=2",
    "dgx-h100:boxes=2,gpus=4,nvls=true",
    "dgx-h200:boxes=2,gpus=4",
    "diamond",
    "directed-circulant:degree=3",
    "distance-regular:nodes=10",
    "double-binary-tree:nodes=5",
    "dragonfly:routers=2,nodes=1,global_links=1",
    "dragonfly:routers=3,nodes=2,global_links=1,global_bandwidth=5/2",
    "fat-tree:levels=1,arity=4",
    "fat-tree:levels=2,arity=4,oversubscription=7/3",
    "fat-tree:levels=3,arity=2,oversubscription=2",
    "gb200-nvl72:boxes=1,gpus=8",
    "gb200-nvl72:boxes=2,gpus=6",
    "generalized-kautz:degree=3,nodes=7",
    "generalized-petersen:outer=5,step=2",
    "grand-teton:boxes=2",
    "hamming:dim=2,base=3",
    "hgx-a100-4:boxes=2",
    "hypercube:dim=1",
    "hypercube:dim=4",
    "kautz:degree=2,length=2",
    "mesh:dims=2x3x2",
    "mesh:dims=5",
    "mi250:boxes=1",
    "mi250:boxes=2",
    "mi250:boxes=2,gpus=8",
    "mi300x:boxes=1",
    "mi300x:boxes=2",
    "mi355x:boxes=1",
    "modified-de-bruijn:degree=2,length=3",
    "rail-only:boxes=3,gpus=4,scale_up_bandwidth=18,rail_bandwidth=1",
    "rail:boxes=2,gpus=4",
    "rail:boxes=3,gpus=2,oversubscription=3",
    "ring:nodes=2",
    "ring:nodes=4,one_way=true,parallel=2",
    "ring:nodes=6,one_way=true",
    "ring:nodes=9",
    "shifted-ring:nodes=7",
    "superpod-b300:boxes=2",
    "superpod-h100:boxes=2",
    "torus:dims=2x2x3",
    "torus:dims=3x4",
    "tpu-v4:dims=2x2x2",
    "tpu-v5p:dims=4x2x2",
    "trainium2-ultra:boxes=1",
    "trainium2:boxes=1",
    "twisted-hypercube:dim=3",
    "twisted-torus:dims=3x4",
]


def check(topology: Topology, **options: Any) -> None:
    best = optimum(topology, **options)
    for method in Method:
        try:
            schedule = schedule_for(best, method=method)
        except NoSolutionError:
            assert method is Method.FAST
        else:
            check_schedule(best, schedule)


def check_schedule(best: Optimum, schedule: TreeSchedule) -> None:
    report = verify(schedule)
    assert report.fault is None
    assert report.algbw == best.algbw == schedule.algbw
    assert report.optimal == (best.algbw == best.bound.algbw)
    assert schedule.trees_per_root == best.trees_per_root
    unit = Fraction(1, len(best.topology.compute) * best.trees_per_root)
    trees: Counter[int] = Counter()
    for tree in schedule.phases[0]:
        copies = tree.share / unit
        assert copies.denominator == 1
        trees[tree.root] += copies.numerator
    assert trees == dict.fromkeys(best.topology.compute, best.trees_per_root)


def test_every_builder_is_among_the_cases() -> None:
    assert {spec.partition(":")[0] for spec in SPECS} == {
        builder.name for builder in builders() if builder.recipe.port_model is None
    }


@pytest.mark.parametrize("spec", SPECS)
def test_machines_and_families(spec: str) -> None:
    check(build_topology(spec))


@pytest.mark.parametrize("spec", SPECS)
def test_machines_and_families_with_few_trees(spec: str) -> None:
    topology = build_topology(spec)
    answered = 0
    numbers: list[dict[str, Any]] = [{"trees": 1}, {"trees": 2}, {"trees": 3}, {"max_trees": 4}]
    for options in numbers:
        try:
            optimum(topology, **options)
        except NoSolutionError:
            continue
        check(topology, **options)
        answered += 1
    assert answered > 0


@examples(300)
@given(duplex_networks())
def test_full_duplex_networks(topology: Topology) -> None:
    check(topology)


@examples(300)
@given(one_way_networks(unbalanced=False))
def test_one_way_networks(topology: Topology) -> None:
    check(topology)


@examples(300)
@given(one_way_networks(unbalanced=True))
def test_one_way_networks_with_unbalanced_compute_nodes(topology: Topology) -> None:
    check(topology)


@examples(300)
@given(networks(kinds=st.just(SMALL)), st.integers(1, 6))
def test_a_given_number_of_trees(topology: Topology, trees: int) -> None:
    try:
        optimum(topology, trees=trees)
    except NoSolutionError:
        return
    check(topology, trees=trees)


@examples(150)
@given(networks(kinds=st.just(SMALL)), st.integers(1, 6))
def test_the_best_of_several_numbers_of_trees(topology: Topology, most: int) -> None:
    try:
        optimum(topology, max_trees=most)
    except NoSolutionError:
        return
    check(topology, max_trees=most)


@pytest.mark.parametrize("bits", [61, 70, 128, 190])
@examples(60)
@given(st.data())
def test_bandwidths_of_many_digits(bits: int, data: st.DataObject) -> None:
    bandwidths = st.one_of(st.integers(1, 2**bits), st.integers(2**bits - 9, 2**bits), st.just(1)).map(Fraction)
    check(data.draw(networks(most=6, kinds=st.just(bandwidths))))


@pytest.mark.slow
@pytest.mark.parametrize("unbalanced", [False, True])
@examples(10_000)
@given(st.data())
def test_thousands_of_one_way_networks(unbalanced: bool, data: st.DataObject) -> None:  # noqa: FBT001
    topology = data.draw(one_way_networks(most=9, unbalanced=unbalanced))
    check(topology)
    assert optimum(topology).algbw == best_allgather(topology)


@pytest.mark.slow
@examples(10_000)
@given(duplex_networks(most=9))
def test_thousands_of_full_duplex_networks(topology: Topology) -> None:
    check(topology)
    assert optimum(topology).algbw == best_allgather(topology)


@pytest.mark.slow
@examples(10_000)
@given(networks(most=9, kinds=st.just(SMALL)), st.integers(1, 9))
def test_thousands_of_numbers_of_trees(topology: Topology, trees: int) -> None:
    try:
        optimum(topology, trees=trees)
    except NoSolutionError:
        return
    check(topology, trees=trees)


@pytest.mark.slow
@examples(100)
@given(st.one_of(duplex_networks(most=40), one_way_networks(most=40)))
def test_larger_networks(topology: Topology) -> None:
    check(topology)
