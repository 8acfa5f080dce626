from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, cycle, pairwise
from math import lcm

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import Collective, Topology, load_topology
from forestcoll.demand.demand import NodeDemand
from forestcoll.oneport import Platform, compare_series, pipelined_broadcast, steady_optimum
from forestcoll.oneport.message.pipelined import Pipeline
from forestcoll.oneport.platform.odd_sets import violated_odd_sets
from forestcoll.oneport.series.coloring import PortTask
from forestcoll.oneport.series.dag import dag_optimum
from forestcoll.oneport.series.odd_coloring import matchings_of_any_graph
from forestcoll.schedule.proof import Bound, PricesProof
from forestcoll.schedule.proof.proof import ProofError
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.verification import verify
from forestcoll.verification.series.timetable import timetable_fault
from networks import built, examples
from oneport_platforms import broken, every_tree, half_duplex_platforms

HALF = "half-duplex"

Pair = tuple[int, int]


def every_matching(pairs: list[Pair]) -> Iterator[tuple[Pair, ...]]:
    """Yield every set of pairs without a common node."""
    for size in range(1, len(pairs) + 1):
        for chosen in combinations(pairs, size):
            if len({node for pair in chosen for node in pair}) == 2 * size:
                yield chosen


def optimum_by_matchings(platform: Platform) -> Fraction:
    """Return the optimum of the linear program over all trees and all matchings of nodes."""
    topology = platform.topology
    trees = list(every_tree(platform))
    ends = [(min(link.source, link.target), max(link.source, link.target)) for link in topology.links]
    pairs = sorted(set(ends))
    matchings = list(every_matching(pairs))
    program = LinearProgram([1] * len(trees) + [0] * len(matchings))
    for pair in pairs:
        row: dict[int, Fraction] = {}
        for column, routes in enumerate(trees):
            links = [link for route in routes for link in platform.links_of(route) if ends[link] == pair]
            if links:
                row[column] = sum((platform.costs[link] for link in links), Fraction(0))
        scale = lcm(*(time.denominator for time in row.values()))
        whole = {column: int(time * scale) for column, time in row.items()}
        busy = {len(trees) + place: -scale for place, matching in enumerate(matchings) if pair in matching}
        program.add(Constraint(whole | busy, None, 0))
    program.add(Constraint({len(trees) + place: 1 for place in range(len(matchings))}, None, 1))
    exact = program.exact(program.solve())
    assert exact is not None
    assert program.proves(*exact)
    return sum(exact[0][: len(trees)], Fraction(0))


def complete(nodes: int, speeds: tuple[int, ...] = (1,)) -> Topology:
    """Return a half-duplex network with a link between every two nodes."""
    pairs = zip(combinations(range(nodes), 2), cycle(speeds), strict=False)
    return built(range(nodes), [(*pair, speed) for pair, speed in pairs], name=f"complete {nodes}", port_model=HALF)


@given(half_duplex_platforms())
@examples(100)
def test_the_optimum_equals_that_of_the_program_over_all_trees_and_matchings(topology: Topology) -> None:
    best = steady_optimum(Platform.of(topology, 0))
    assert best.throughput == optimum_by_matchings(best.platform)
    assert best.throughput == best.certificate.throughput


def test_a_triangle_sends_one_message_in_two_units_of_time() -> None:
    compared = compare_series(complete(3), 0)
    assert str(compared.best.throughput) == "1/2"
    assert compared.best.certificate.odd_sets == ((Fraction(1, 2), (0, 1, 2)),)


def test_a_cycle_of_five_nodes_has_two_busy_links_at_a_time() -> None:
    ring = replace(load_topology("ring:nodes=5"), port_model=HALF)
    compared = compare_series(ring, 0)
    assert str(compared.best.throughput) == "1/2"
    assert verify(compared.schedule()).optimal


def test_each_pair_of_restrictions_is_verified_on_a_complete_network() -> None:
    compared = compare_series(complete(4, (3, 1, 2)), 0)
    schedules = [compared.schedule(along) for along in ("graph", "dag", "tree")]
    assert all(verify(each).ok for each in schedules)
    assert compared.tree.throughput <= compared.dag.throughput <= compared.best.throughput
    assert verify(compared.schedule(loss=Fraction(1, 10))).ok


@given(half_duplex_platforms(5))
@examples(8)
def test_the_best_order_is_not_better_than_the_optimum(topology: Topology) -> None:
    platform = Platform.of(topology, 0)
    compared = compare_series(topology, 0)
    dag = dag_optimum(platform, compared.dag.dag.order)
    assert not violated_odd_sets(platform, dag.trees)
    assert dag.throughput <= compared.best.throughput


@given(st.integers(3, 6), st.data())
@examples(50)
def test_matchings_do_all_jobs_in_the_least_time(nodes: int, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.sampled_from(list(combinations(range(nodes), 2))), min_size=1, max_size=9))
    jobs = [PortTask(one, other, data.draw(st.integers(1, 10**6))) for one, other in pairs]
    found, factor = matchings_of_any_graph(jobs)
    done = [0] * len(jobs)
    for matching in found:
        ends = [end for place in matching.jobs for end in (jobs[place].sender, jobs[place].receiver)]
        assert len(set(ends)) == len(ends)
        for place in matching.jobs:
            done[place] += matching.time
    assert done == [job.time * factor for job in jobs]
    groups = [[job for job in jobs if node in (job.sender, job.receiver)] for node in range(nodes)]
    loads = [Fraction(sum(job.time for job in group)) for group in groups]
    for size in range(3, nodes + 1, 2):
        for inside in combinations(range(nodes), size):
            within = sum(job.time for job in jobs if {job.sender, job.receiver}.issubset(inside))
            loads.append(Fraction(within, size // 2))
    assert sum(matching.time for matching in found) == max(loads) * factor


def priced(**changes: object) -> PricesProof:
    """Return the proof of the triangle with some parts changed."""
    proof = compare_series(complete(3), 0).best.certificate
    return replace(proof, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("odd_sets", "reason"),
    [
        (((Fraction(-1, 2), (0, 1, 2)),), "price of an odd set is 0 or less"),
        (((Fraction(1, 2), (0, 1)),), "an odd set does not have an odd number"),
        (((Fraction(1, 2), (0, 1, 1)),), "an odd set does not have an odd number"),
        (((Fraction(1, 4), (0, 1, 2)),), "less than 1/2, the weight of the cuts that it enters"),
        ((), "less than 1/2, the weight of the cuts that it enters"),
    ],
    ids=["negative", "even", "twice", "low", "none"],
)
def test_a_changed_price_of_an_odd_set_proves_nothing(
    odd_sets: tuple[tuple[Fraction, tuple[int, ...]], ...], reason: str
) -> None:
    network = complete(3)
    proof = priced(odd_sets=odd_sets)
    schedule = compare_series(network, 0).schedule()
    rule, text = broken(replace(schedule, bound=Bound(Collective.BROADCAST, Fraction(1, 2), proof)))
    assert (rule, reason in text) == ("certificate", True), text
    with pytest.raises(ProofError):
        proof.algbw(network, NodeDemand(Collective.BROADCAST, root=0))


def test_odd_sets_have_no_prices_in_other_port_models() -> None:
    schedule = compare_series(complete(3), 0).schedule()
    other = replace(schedule, topology=replace(complete(3), port_model="one-port"))
    assert broken(other)[1] == "odd sets have prices only if nodes are half-duplex"


def test_two_rounds_in_one_break_the_rule_of_ports() -> None:
    schedule = compare_series(complete(3), 0).schedule()
    for before, after in pairwise(schedule.rounds):
        together = replace(before, transfers=(*before.transfers, *after.transfers))
        assert broken(replace(schedule, rounds=(together,)))[0] == "ports"


@pytest.mark.parametrize("packets", [None, 1, 40])
def test_packets_on_odd_cycles_are_at_or_above_their_bound(packets: int | None) -> None:
    plan = pipelined_broadcast(complete(3, (1, 2)), 0, 10**6, packets=packets)
    assert plan.makespan >= plan.bound
    assert verify(plan.schedule()).ok
    assert plan.timetable is not None
    assert timetable_fault(plan.timetable) is None


def test_a_plan_by_cycles_leaves_time_for_odd_sets() -> None:
    network = complete(3)
    plan = Pipeline(network, 0).plan_by_cycles(10**6, packets=1000)
    assert plan.schedule().period / plan.schedule().messages <= plan.cycle / plan.packets_per_cycle
