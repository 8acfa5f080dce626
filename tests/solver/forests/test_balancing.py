"""Unbalanced switches: the largest balanced use, and the proof that no use has a greater rate."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import optimum
from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.collective import PhaseOp
from forestcoll.demand.demand import Demand
from forestcoll.schedule.proof.proof import ProofError
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.solver.forests.balancing import balanced_use, rate_proven
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.solver.forests.trimming import trimmed
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import SMALL, examples, linked, uneven_networks
from oracles import algbw_of_cut, bandwidths_of, best_allgather, check_bound, overdrawn_switches


def least_ratio(topology: Topology) -> Fraction:
    """Return the least exit bandwidth per compute node inside, over all sets."""
    return best_allgather(topology) / len(topology.compute)


@examples(120)
@given(uneven_networks())
def test_both_halves_of_the_proof(topology: Topology) -> None:
    """The balanced use is within the network and has the stated rate, and the dual allows no greater rate."""
    scaled = ScaledTopology.of(topology)
    found = balanced_use(scaled)
    used = found.topology
    bandwidths = bandwidths_of(topology)
    assert all(0 < bandwidth <= bandwidths[arc] for arc, bandwidth in bandwidths_of(used).items())
    assert all(used.ingress[switch] == used.egress[switch] for switch in topology.switches)
    assert least_ratio(used) == found.rate <= least_ratio(topology)
    assert rate_proven(found.proof, scaled) * scaled.unit == found.rate


@examples(60)
@given(uneven_networks(kinds=st.just(SMALL)))
def test_a_changed_proof_is_invalid_or_proves_a_weaker_bound(topology: Topology) -> None:
    scaled = ScaledTopology.of(topology)
    found = balanced_use(scaled)
    everything = tuple(range(len(topology.nodes)))
    first, *rest = found.proof.cuts
    for invalid in (replace(first, inside=everything), replace(first, weight=-first.weight)):
        with pytest.raises(ProofError):
            rate_proven(replace(found.proof, cuts=(invalid, *rest)), scaled)
    potentials = found.proof.potentials.get(PhaseOp.BROADCAST, {})
    moved = {PhaseOp.BROADCAST: {node: potentials.get(node, Fraction(0)) + node for node in topology.switches}}
    assert rate_proven(replace(found.proof, potentials=moved), scaled) * scaled.unit >= found.rate
    on_all = {PhaseOp.BROADCAST: dict.fromkeys(range(len(topology.nodes)), Fraction(1))}
    with pytest.raises(ProofError, match="more than forward data has a potential"):
        rate_proven(replace(found.proof, potentials=on_all), scaled)


BROKEN_BOX = linked(
    "g0 g1 g2 g3",
    "g0>fast:40 fast>g0:100 g1=fast:100 g2=fast:100 g3=fast:100 g0=slow:10 g1=slow:10 g2=slow:10 g3=slow:10",
    switches="fast slow",
)
"""Four GPUs on a fast and a slow switch; the link from the first GPU to the fast switch is degraded."""


def test_the_optimum_with_a_degraded_one_way_link_is_exact_and_lists_spare_links() -> None:
    best = optimum(BROKEN_BOX)
    assert algbw_of_cut(best) == Fraction(440, 3)
    check_bound(best)
    # The fast switch can send 60 less, so the four GPUs receive 380 together, not 440. They receive each shard three
    # times, so 380 >= 3 M / time.
    assert best.algbw == best.bound.algbw == Fraction(380, 3)
    assert best.is_optimal
    assert best.bound.proof.kind == "tree-dual"
    assert sum(link.bandwidth for link in best.spare) == 60
    assert {best.topology.nodes[link.source].id for link in best.spare} == {"fast"}
    schedule = schedule_for(best)
    assert schedule.algbw == best.algbw
    report = verify(schedule)
    assert report.ok


def test_a_degraded_one_way_link_limits_a_reduce_scatter_at_its_source() -> None:
    """The first GPU can send only 50: 40 over the degraded link and 10 over the slow switch."""
    best = optimum(BROKEN_BOX, "reduce-scatter")
    assert best.algbw == Fraction(4 * 50, 3) == best.bound.algbw
    assert verify(schedule_for(best)).optimal


def test_a_switch_that_receives_more_than_it_sends_does_not_reduce_the_optimum() -> None:
    best = optimum(linked("a b", "a=b a>sink:2", switches="sink"))
    assert best.algbw == best.bound.algbw == 2
    (unused,) = best.spare
    assert (unused.source, unused.target) == (0, 2)
    assert unused.bandwidth == 2
    assert verify(schedule_for(best)).optimal


FUNNEL = "root>middle:6 middle>a:6 middle>b:6 middle>c:6 a>root:1 b>root:1 c>root:1"


def test_an_idle_node_copies_if_it_can_send_more_than_it_receives() -> None:
    """The relay receives all data once and sends it to all three nodes. A switch could send each only a third."""
    best = optimum(linked("root middle a b c", FUNNEL), Demand("broadcast", ranks=[0, 2, 3, 4], root="root"))
    assert best.algbw == best.bound.algbw == 6
    assert best.forests[0].topology.nodes[1].is_compute
    assert verify(schedule_for(best)).optimal


def test_a_switch_in_place_of_the_idle_node_cannot_copy() -> None:
    best = optimum(linked("root a b c", FUNNEL, switches="middle"), "broadcast:root=root")
    assert best.algbw == best.bound.algbw == 2
    assert algbw_of_cut(best) == 6
    assert verify(schedule_for(best)).ok


@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2", "mi250:boxes=2", "rail:boxes=4", "fat-tree:levels=2,arity=4"])
def test_the_optimum_of_a_machine_with_one_one_way_link_at_half_bandwidth(spec: str) -> None:
    topology = build_topology(spec)
    up = next(link for link in topology.links if not topology.nodes[link.target].is_compute)
    weak = tuple(replace(each, bandwidth=each.bandwidth / 2) if each is up else each for each in topology.links)
    best = optimum(replace(topology, links=weak))
    assert best.algbw <= best.bound.algbw <= optimum(topology).algbw
    schedule = schedule_for(best)
    assert schedule.algbw == best.algbw
    assert verify(schedule).ok


def test_idle_nodes_not_connected_to_the_ranks_are_ignored() -> None:
    links = "root>switch:6 switch>a:6 switch>b:6 a>root:1 b>root:1 root=idle:1 apart=beside:3"
    topology = linked("root idle apart beside a b", links, switches="switch", connected=False)
    best = optimum(topology, Demand("broadcast", ranks=["root", "a", "b"], root="root"))
    assert best.algbw == 3
    assert best.bound.algbw == 6
    assert verify(schedule_for(best)).ok


def test_trimming_does_not_move_excess_around_a_cycle() -> None:
    """Trimming used to remove the capacity of a wide cycle unit by unit until it failed."""
    topology = linked("a b", "a>x:5 x>y:1e9 y>z:1e9 z>b:5 z>x:1e9 b>a:5", switches="x y z")
    capacities = [int(link.bandwidth) for link in topology.links]
    calls = []

    def fits(fewer: Sequence[int]) -> bool:
        calls.append(fewer)
        into_b = sum(each for link, each in zip(topology.links, fewer, strict=True) if link.target == 1)
        return into_b >= 3

    balanced = trimmed(topology, capacities, [0, 2, 0, 0, 0], fits)
    assert balanced is None or not overdrawn_switches(
        topology, {(link.source, link.target): each for link, each in zip(topology.links, balanced, strict=True)}
    )
    assert len(calls) < 50


@examples(40)
@given(uneven_networks(most=5, kinds=st.just(SMALL)))
def test_the_exact_solver_without_floating_point_finds_the_same_optimum(topology: Topology) -> None:
    scaled = ScaledTopology.of(topology)
    expected = balanced_use(scaled).rate
    with mock.patch.object(LinearProgram, "exact", return_value=None):
        found = balanced_use(scaled)
    assert found.rate == expected == least_ratio(found.topology)


def test_a_program_that_cannot_be_solved_exactly_raises() -> None:
    with (
        mock.patch.object(LinearProgram, "exact", return_value=None),
        mock.patch.object(LinearProgram, "exact_without_floats", return_value=None),
        pytest.raises(NoSolutionError) as caught,
    ):
        optimum(BROKEN_BOX)
    assert str(caught.value) == (
        "network: the linear program for its unbalanced switches could not be solved exactly; give bandwidths with "
        "fewer digits, or give each switch the same total bandwidth in both directions"
    )


def test_an_allreduce_whose_program_is_too_large_is_a_reduce_scatter_and_an_allgather() -> None:
    topology = BROKEN_BOX
    plan = optimum(topology, "allreduce")
    with mock.patch("forestcoll.solver.allreduce.linear_program.MOST_COLUMNS", 1):
        halves = optimum(topology, "allreduce")
    gathers, scatters = optimum(topology), optimum(topology, "reduce-scatter")
    assert halves.algbw == 1 / (1 / gathers.algbw + 1 / scatters.algbw) <= plan.algbw
    assert verify(schedule_for(halves)).ok
