"""Plans say the same as the schedules that they come from, for each kind of schedule and network."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from players import NETWORKS, schedules_of

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import SCHEDULED, Collective, PhaseOp
from forestcoll.runtime.engine.plan import Plan, plan_of, rates_of
from forestcoll.runtime.engine.trees import Hops
from forestcoll.solver.generation.step_duality import from_allgathers
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import examples, networks, ranks_for, shards_for
from routed_steps import random_allgather


def check(plan: Plan) -> None:
    """Check that flows cover all data once, and that each tree joins all members."""
    covered: dict[int, list[tuple[Fraction, Fraction]]] = defaultdict(list)
    for flow in plan.flows:
        covered[flow.part].append((flow.low, flow.high))
        assert flow.share == plan.parts[flow.part] * (flow.high - flow.low)
        for op, hops in ((PhaseOp.REDUCE, flow.reduce), (PhaseOp.BROADCAST, flow.broadcast)):
            if hops:
                check_tree(plan, flow.root, hops, op)
        assert bool(flow.reduce) == (plan.collective not in {Collective.ALLGATHER, Collective.BROADCAST})
        assert bool(flow.broadcast) == (plan.collective not in {Collective.REDUCE_SCATTER, Collective.REDUCE})
    for root, ranges in covered.items():
        assert ranges[0][0] == 0, root
        assert ranges[-1][1] == 1
        assert all(one[1] == other[0] for one, other in pairwise(ranges))
    assert sum(plan.parts.values()) == 1
    assert [edge.number for edge in plan.edges] == list(range(len(plan.edges)))


def check_tree(plan: Plan, root: int, hops: Hops, op: PhaseOp) -> None:
    outward = hops if op is PhaseOp.BROADCAST else [hop.backwards() for hop in reversed(hops)]
    reached = {root}
    for hop in outward:
        assert hop.source in reached
        assert hop.target not in reached
        reached.add(hop.target)
    assert reached >= set(plan.members)


@pytest.mark.parametrize("name", NETWORKS)
def test_flows_are_trees_that_cover_the_data(name: str) -> None:
    for schedule in NETWORKS[name]():
        check(plan_of(schedule))


@pytest.mark.parametrize("collective", [Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE])
def test_steps_with_routes_name_the_links_at_both_ends(collective: Collective) -> None:
    network = build_topology("dgx-a100:boxes=2,gpus=3")
    steps = from_allgathers(network, collective, lambda each: random_allgather(each, Random(4), relays=False))  # noqa: S311
    plan = plan_of(steps)
    check(plan)
    ends = {(hop.leaves, hop.enters) for flow in plan.flows for hop in (*flow.reduce, *flow.broadcast)}
    assert {node for pair in ends for node in pair} == set(network.switches)


def test_steps_of_some_ranks_have_a_plan_of_these_members() -> None:
    network = build_topology("dgx-a100:boxes=2,gpus=3")
    plan = plan_of(random_allgather(network, Random(4), relays=False, ranks=(0, 2, 4, 5)))  # noqa: S311
    check(plan)
    assert plan.members == (0, 2, 4, 5)


def test_steps_with_routes_through_compute_nodes_cannot_be_run() -> None:
    with pytest.raises(InputError, match="a transfer passes through a compute node"):
        plan_of(random_allgather(build_topology("ring:nodes=5"), Random(1)))  # noqa: S311


@examples(40)
@given(networks(most=6), st.data())
def test_random_networks(topology: Topology, data: st.DataObject) -> None:
    ranks = data.draw(ranks_for(topology))
    for collective in SCHEDULED:
        root = topology.nodes[topology.compute[ranks[0]]].id if collective.has_root else None
        check(plan_of(generate(topology, collective, ranks=ranks, root=root)))
    shards = data.draw(shards_for(topology))
    check(plan_of(generate(topology, shards=shards)))


def test_compact_schedules_have_all_trees() -> None:
    topology = build_topology("ring:nodes=6")
    compact = generate(topology, compact=True)
    assert compact.symmetry is not None
    check(plan_of(compact))


def test_equal_schedules_have_equal_digests() -> None:
    one, other = (plan_of(generate(build_topology("ring:nodes=4"), name)) for name in ("allgather", "allreduce"))
    assert plan_of(generate(build_topology("ring:nodes=4"))).digest == one.digest
    assert one.digest != other.digest


def test_a_wrong_schedule_is_refused() -> None:
    schedule = generate(build_topology("ring:nodes=4"))
    phase = schedule.phases[0]
    wrong = replace(schedule, phases=(replace(phase, shares=(phase.shares[0] / 2, *phase.shares[1:])),))
    with pytest.raises(InputError, match=r"the schedule of an allgather on .* is not right"):
        plan_of(wrong)


def test_rates_fill_the_busiest_link() -> None:
    plan = plan_of(generate(build_topology("ring:nodes=4,bandwidth=3")))
    of_lane: dict[object, int] = defaultdict(int)
    for edge, rate in zip(plan.edges, rates_of(plan, Fraction(10**9)), strict=True):
        of_lane[edge.hop] += rate
    assert set(of_lane.values()) == {3 * 10**9}


def test_relays_and_sums_are_staged() -> None:
    for schedule in schedules_of(build_topology("ring:nodes=4"), ranks=(0, 2)):
        plan = plan_of(schedule)
        for edge in plan.edges:
            assert edge.is_staged == (edge.op is PhaseOp.REDUCE or edge.hop.target not in (0, 2))
