"""Switches that take in more than they give out, or less: what can be used, and the proof that no more can be."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.collective import PhaseOp
from forestcoll.errors import NoSolutionError
from forestcoll.exact_lp.linear_program import LinearProgram
from forestcoll.generation.forest import schedule_for
from forestcoll.optima.balancing import balanced_use, rate_proven
from forestcoll.optima.scaling import ScaledTopology
from forestcoll.optima.trimming import trimmed
from forestcoll.proof.proof import ProofError
from forestcoll.solver.optimum import optimum
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import SMALL, examples, uneven_networks
from oracles import algbw_of_cut, check_bound, exit_bandwidth, overdrawn_switches, subsets


def least_ratio(topology: Topology) -> Fraction:
    """Return the least exit bandwidth for a compute node inside, by every set."""
    compute = frozenset(topology.compute)
    sets = subsets(range(len(topology.nodes)))
    return min(
        exit_bandwidth(topology, inside) / len(inside & compute)
        for inside in sets
        if inside & compute and not compute <= inside
    )


@examples(80)
@given(uneven_networks())
def test_both_halves_of_the_proof(topology: Topology) -> None:
    """What can be used is balanced and within the network, has the rate, and the dual allows no more."""
    scaled = ScaledTopology.of(topology)
    found = balanced_use(scaled)
    used = found.topology
    bandwidths = {(link.source, link.target): link.bandwidth for link in topology.links}
    assert all(0 < link.bandwidth <= bandwidths[link.source, link.target] for link in used.links)
    assert all(used.ingress[switch] == used.egress[switch] for switch in topology.switches)
    assert least_ratio(used) == found.rate <= least_ratio(topology)
    assert rate_proven(found.proof, scaled) * scaled.unit == found.rate


@examples(60)
@given(uneven_networks(kinds=st.just(SMALL)))
def test_a_spoiled_proof_proves_nothing_or_less(topology: Topology) -> None:
    scaled = ScaledTopology.of(topology)
    found = balanced_use(scaled)
    everything = tuple(range(len(topology.nodes)))
    first, *rest = found.proof.cuts
    for spoiled in (replace(first, inside=everything), replace(first, weight=-first.weight)):
        with pytest.raises(ProofError):
            rate_proven(replace(found.proof, cuts=(spoiled, *rest)), scaled)
    potentials = found.proof.potentials.get(PhaseOp.BROADCAST, {})
    moved = {PhaseOp.BROADCAST: {node: potentials.get(node, Fraction(0)) + node for node in topology.switches}}
    assert rate_proven(replace(found.proof, potentials=moved), scaled) * scaled.unit >= found.rate
    on_all = {PhaseOp.BROADCAST: dict.fromkeys(range(len(topology.nodes)), Fraction(1))}
    with pytest.raises(ProofError, match="more than pass data on has a potential"):
        rate_proven(replace(found.proof, potentials=on_all), scaled)


def broken_box(up: Fraction) -> Topology:
    """Four GPUs on a fast and a slow switch; the first sends into the fast one with bandwidth `up` only."""
    builder = TopologyBuilder("broken")
    fast, slow = builder.add_switch("fast"), builder.add_switch("slow")
    for number in range(4):
        gpu = builder.add_compute(f"g{number}")
        builder.add_link(gpu, fast, up if number == 0 else 100)
        builder.add_link(fast, gpu, 100)
        builder.add_duplex(gpu, slow, 10)
    return builder.build()


def test_a_failed_half_link_is_exact_and_says_what_stays_unused() -> None:
    best = optimum(broken_box(Fraction(40)))
    assert algbw_of_cut(best) == Fraction(440, 3)
    check_bound(best)
    # What the fast switch gives out falls by 60, so the four GPUs take in 380 together and not 440: each shard three
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


def test_of_a_reduction_it_is_the_other_way_round() -> None:
    """Data that is added up meets the failed direction at the other end: less than it must go into the switch."""
    best = optimum(broken_box(Fraction(40)), "reduce-scatter")
    assert best.algbw == Fraction(4 * 50, 3) == best.bound.algbw
    assert verify(schedule_for(best)).optimal


def test_what_a_switch_takes_in_beyond_what_it_gives_out_does_no_harm() -> None:
    builder = TopologyBuilder("drain")
    builder.add_duplex(builder.add_compute("a"), builder.add_compute("b"), 1)
    builder.add_link("a", builder.add_switch("sink"), 2)
    best = optimum(builder.build())
    assert best.algbw == best.bound.algbw == 2
    (unused,) = best.spare
    assert (unused.source, unused.target) == (0, 2)
    assert unused.bandwidth == 2
    assert verify(schedule_for(best)).optimal


def test_an_idle_node_copies_where_more_leads_out_of_it_than_into_it() -> None:
    """All that the others get comes over the relay once: as a switch it could pass on a third of it to each."""
    builder = TopologyBuilder("funnel")
    builder.add_compute("root")
    builder.add_compute("relay")
    builder.add_link("root", "relay", 6)
    for node in "abc":
        builder.add_compute(node)
        builder.add_link("relay", node, 6)
        builder.add_link(node, "root", 1)
    topology = builder.build()
    best = optimum(topology, "broadcast", root="root", ranks=[0, 2, 3, 4])
    assert best.algbw == best.bound.algbw == 6
    assert best.forests[0].topology.nodes[1].is_compute
    assert verify(schedule_for(best)).optimal


def test_a_switch_in_its_place_cannot() -> None:
    builder = TopologyBuilder("funnel")
    builder.add_compute("root")
    builder.add_switch("switch")
    builder.add_link("root", "switch", 6)
    for node in "abc":
        builder.add_compute(node)
        builder.add_link("switch", node, 6)
        builder.add_link(node, "root", 1)
    best = optimum(builder.build(), "broadcast", root="root")
    assert best.algbw == best.bound.algbw == 2
    assert algbw_of_cut(best) == 6
    assert verify(schedule_for(best)).ok


@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2", "mi250:boxes=2", "rail:boxes=4", "fat-tree:levels=2,arity=4"])
def test_half_a_link_of_a_machine(spec: str) -> None:
    topology = build_topology(spec)
    up = next(link for link in topology.links if not topology.nodes[link.target].is_compute)
    weak = tuple(replace(each, bandwidth=each.bandwidth / 2) if each is up else each for each in topology.links)
    best = optimum(replace(topology, links=weak))
    assert best.algbw <= best.bound.algbw <= optimum(topology).algbw
    schedule = schedule_for(best)
    assert schedule.algbw == best.algbw
    assert verify(schedule).ok


def test_idle_nodes_apart_from_all_ranks_are_left_alone() -> None:
    builder = TopologyBuilder("funnel")
    for node in ("root", "idle", "apart", "from it"):
        builder.add_compute(node)
    builder.add_switch("switch")
    builder.add_duplex("apart", "from it", 3)
    builder.add_duplex("root", "idle", 1)
    builder.add_link("root", "switch", 6)
    for node in "ab":
        builder.add_compute(node)
        builder.add_link("switch", node, 6)
        builder.add_link(node, "root", 1)
    best = optimum(builder.build(connected=False), "broadcast", root="root", ranks=[0, 4, 5])
    assert best.algbw == 3
    assert best.bound.algbw == 6
    assert verify(schedule_for(best)).ok


def cycle_of_switches(capacity: int) -> Topology:
    """Two compute nodes and a cycle of three switches between them, each with a wide link to the next."""
    builder = TopologyBuilder("cycle")
    for node in "ab":
        builder.add_compute(node)
    for node in "xyz":
        builder.add_switch(node)
    for source, target in pairwise("axyzb"):
        builder.add_link(source, target, 5)
    builder.add_link("z", "x", capacity)
    builder.add_link("b", "a", 5)
    return builder.build()


def test_trimming_hands_nothing_round_a_cycle() -> None:
    """Units of a wide cycle were taken one by one, round and round, until trimming gave up."""
    topology = cycle_of_switches(10**9)
    wide = tuple(
        replace(each, bandwidth=Fraction(10**9)) if min(each.source, each.target) > 1 else each
        for each in topology.links
    )
    topology = replace(topology, links=wide)
    capacities = [int(link.bandwidth) for link in topology.links]
    asked = []

    def fits(fewer: Sequence[int]) -> bool:
        asked.append(fewer)
        into_b = sum(each for link, each in zip(topology.links, fewer, strict=True) if link.target == 1)
        return into_b >= 3

    balanced = trimmed(topology, capacities, [0, 2, 0, 0, 0], fits)
    assert balanced is None or not overdrawn_switches(
        topology, {(link.source, link.target): each for link, each in zip(topology.links, balanced, strict=True)}
    )
    assert len(asked) < 50


@examples(40)
@given(uneven_networks(most=6, kinds=st.just(SMALL)))
def test_programs_solved_in_fractions_alone_have_the_same_optimum(topology: Topology) -> None:
    scaled = ScaledTopology.of(topology)
    expected = balanced_use(scaled).rate
    with mock.patch.object(LinearProgram, "exact", return_value=None):
        found = balanced_use(scaled)
    assert found.rate == expected == least_ratio(found.topology)


def test_what_cannot_be_solved_exactly_is_refused() -> None:
    with (
        mock.patch.object(LinearProgram, "exact", return_value=None),
        mock.patch.object(LinearProgram, "exact_alone", return_value=None),
        pytest.raises(NoSolutionError) as caught,
    ):
        optimum(broken_box(Fraction(40)))
    assert str(caught.value) == (
        "broken: how much of its unbalanced switches can be used is a linear program that could not be solved in "
        "fractions; give bandwidths of fewer digits, or make each switch take in as much as it gives out"
    )


def test_an_allreduce_whose_program_is_too_large_goes_by_halves() -> None:
    topology = broken_box(Fraction(40))
    plan = optimum(topology, "allreduce")
    with mock.patch("forestcoll.allreduce.program.MOST_COLUMNS", 1):
        halves = optimum(topology, "allreduce")
    gathers, scatters = optimum(topology), optimum(topology, "reduce-scatter")
    assert halves.algbw == 1 / (1 / gathers.algbw + 1 / scatters.algbw) <= plan.algbw
    assert verify(schedule_for(halves)).ok
