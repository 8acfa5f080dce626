"""Allreduces along packed trees, where relays and switches copy and add up data."""

from fractions import Fraction

import pytest

from forestcoll.algorithms.generate import generate, optimum
from forestcoll.algorithms.trees import Trees
from forestcoll.base.progress import SILENT
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand, NodeDemand
from forestcoll.solver.allreduce.tree_packing.packing import packed_trees
from forestcoll.topology.graph.part import usable_part
from forestcoll.topology.symmetry.orbits import Orbits
from forestcoll.verification import verify
from networks import drawn_network, linked, seeds
from tree_programs import best_of_allreduce

HALF = "0-3,8-11"


@pytest.mark.parametrize(
    ("spec", "ranks", "algbw"),
    [
        ("dgx-h100:boxes=2", HALF, "400"),
        ("mi300x:boxes=2", HALF, "2704/7"),
        ("torus:dims=4x4", HALF, "3"),
        ("mesh:dims=3x3", "0,2,6,8", "2"),
        ("mi250:boxes=2", "0-7,16-23", "2656/13"),
        pytest.param("gb200-nvl72:boxes=2,nvls=true", None, "131400/143", marks=pytest.mark.slow),
    ],
)
def test_packed_trees_reach_the_bound(spec: str, ranks: str | None, algbw: str) -> None:
    report = verify(generate(spec, Demand("allreduce", ranks=ranks)))
    assert (report.ok, report.optimal, str(report.algbw)) == (True, True, algbw)


@pytest.mark.parametrize(
    ("spec", "ranks", "algbw", "kind"),
    [
        ("dgx-h100:boxes=2", "0-6,8-14", "27100/91", "tree-distances"),
        pytest.param("dgx-h100:boxes=4", "0-5,8-13,16-21", "2975/9", "tree-distances", marks=pytest.mark.slow),
        # The bound of the linear program, which does not see the paths through switches, is 350.
        pytest.param("dgx-h100:boxes=2", "0-5,8-13", "3700/11", "tree-lengths", marks=pytest.mark.slow),
    ],
)
def test_prices_prove_the_optimum_beside_forwarding_switches(spec: str, ranks: str, algbw: str, kind: str) -> None:
    schedule = generate(spec, Demand("allreduce", ranks=ranks))
    report = verify(schedule)
    assert (report.ok, report.optimal, str(report.algbw)) == (True, True, algbw)
    assert schedule.bound is not None
    assert schedule.bound.proof.kind == kind


@pytest.mark.parametrize("seed", range(12))
def test_packings_equal_the_program_over_all_trees(seed: int) -> None:
    one_way = seed % 2 == 0
    topology = drawn_network(seed, nodes=5 if one_way else 4, kinds="ca", one_way=one_way)
    best = best_of_allreduce(topology)
    found = packed_trees(topology, Orbits.of(topology), 2 * best, SILENT)
    assert found.packing.algbw(topology) == best
    assert found.proof is not None
    assert found.proof.algbw(topology, NodeDemand(Collective.ALLREDUCE)) == best


@pytest.mark.parametrize("seed", seeds(12, 500))
def test_schedules_of_random_networks(seed: int) -> None:
    schedule = generate(drawn_network(seed, nodes=6 + seed % 8, kinds="caams", one_way=seed % 2 == 0), "allreduce")
    report = verify(schedule)
    assert report.ok, report.fault
    assert report.algbw == schedule.algbw
    assert schedule.bound is not None
    assert Fraction(98, 100) * schedule.bound.algbw <= schedule.algbw <= schedule.bound.algbw


@pytest.mark.parametrize("trees", [1, 3])
def test_a_number_of_trees(trees: int) -> None:
    schedule = generate("dgx-h100:boxes=2", Demand("allreduce", ranks=HALF), Trees(k=trees))
    assert verify(schedule).ok
    assert schedule.algbw <= 400
    assert schedule.trees_per_root is not None
    assert schedule.trees_per_root <= trees


def test_roots_on_relays_can_double_the_rate() -> None:
    """One-way links a, b -> c -> r -> d -> a, b: with a root on c, r or d, each link carries all data once.

    With a root on a rank, the link c -> r carries all data in the reduce and again in the broadcast.
    """
    topology = linked("a b r c d", "a>c b>c c>r r>d d>a d>b")
    best = optimum(topology, Demand("allreduce", ranks=["a", "b"]))
    assert best.algbw == 1
    assert best.is_optimal
    schedule = generate(topology, Demand("allreduce", ranks=["a", "b"]))
    assert verify(schedule).ok
    assert not {root for phase in schedule.phases for root in phase.roots} & set(best.members)
    part = usable_part(topology, best.members)
    assert best_of_allreduce(part) == 1
    assert best_of_allreduce(part, roots=best.members) == Fraction(1, 2)
