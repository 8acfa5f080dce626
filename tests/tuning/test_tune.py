"""Tuning: never slower than a candidate, never below the bound, ranges without gaps, and right programs."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.baseline import baselines
from forestcoll.algorithms.generate import generate
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.files import parse_document
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.presentation.results.programs.tuning import tuning_page
from forestcoll.programs.formats import msccl_xml, mscclpp
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import lower
from forestcoll.programs.model import Protocol
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation import Costs
from forestcoll.simulation.program.events import run_in_time
from forestcoll.simulation.program.paths import Paths
from forestcoll.simulation.simulate import simulate
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.tuning import Tuning
from forestcoll.tuning.costs import program_costs
from forestcoll.tuning.tune import tune
from forestcoll.verification import verify
from networks import examples

SIZES = tuple(8**power for power in range(4, 9, 2))
TWO_BOXES, RING = "dgx-a100:boxes=2,gpus=2", "hypercube:dim=2"
COLLECTIVES = ("allgather", "reduce-scatter", "allreduce")
QUICK = {
    (TWO_BOXES, "allreduce"),
    (RING, "allreduce"),
    ("dgx-a100:boxes=1,gpus=4", "reduce-scatter"),
    (RING, "allgather"),
}
"""One switch, boxes, and links that relays need, with each collective; the others take half a minute."""


@cache
def tuned(spec: str, collective: str) -> Tuning:
    return tune(spec, collective, SIZES)


def candidates(spec: str, collective: str) -> list[tuple[str, Schedule]]:
    """Return schedules that are made and simulated without the code under test."""
    topology = build_topology(spec)
    problem = Problem(topology, NodeDemand(Collective(collective)))
    found: list[tuple[str, Schedule]] = [("optimum", generate(topology, collective))]
    for baseline in baselines():
        if baseline.name in {"milp", "taccl", "tacos", "te-ccl"}:
            continue
        try:
            found.append((baseline.name, baseline.result(problem).schedule))
        except DoesNotApplyError:
            continue
    return found


@pytest.mark.parametrize(
    ("spec", "collective"),
    [
        pytest.param(*each, marks=[] if each in QUICK else pytest.mark.slow)
        for each in product((TWO_BOXES, RING, "dgx-a100:boxes=1,gpus=4", "ring:nodes=5"), COLLECTIVES)
    ],
)
def test_a_tuning_is_fast_and_has_right_programs_for_all_sizes(spec: str, collective: str) -> None:
    found = tuned(spec, collective)
    check_times(found, spec, collective)
    check_ranges(found, build_topology(spec))
    check_plans(found)


def check_times(found: Tuning, spec: str, collective: str) -> None:
    """Check that no time is above that of a candidate or below the bound."""
    for name, schedule in candidates(spec, collective):
        try:
            if SIZES[0] % lower(schedule).program.chunks:
                continue  # such a program is for none of the sizes
            points = simulate(schedule, SIZES, model="program")
        except (InputError, NoSolutionError):
            continue
        for point, least in zip(points, found.microseconds, strict=True):
            assert least <= point.seconds * 1e6 * (1 + 1e-9), (name, point.size)
    for place, best in enumerate(found.microseconds):
        known = [time for curve in found.curves if (time := curve.microseconds[place]) is not None]
        assert min(known) == best >= found.bounds[place] * (1 - 1e-9)


def check_ranges(found: Tuning, topology: Topology) -> None:
    """Check that ranges cover all sizes, and that their files are right and take their times."""
    assert (found.ranges[0].least, found.ranges[-1].most) == (SIZES[0], SIZES[-1])
    assert all(one.most + 1 == other.least for one, other in pairwise(found.ranges))
    for size, time in zip(found.sizes, found.microseconds, strict=True):
        (inside,) = [each for each in found.ranges if each.least <= size <= each.most]
        if inside.most == size:
            assert inside.microseconds == time
    paths = Paths(topology, tuple(topology.compute), {})
    for each in found.ranges:
        algorithm = msccl_xml.parse_algorithm(each.programs["msccl-xml"].encode(), where="file")
        assert algorithm.attributes["minBytes"] == str(each.least)
        assert algorithm.attributes["maxBytes"] == str(each.most + 1)
        program = msccl_xml.to_program(algorithm)
        assert check(program).fault is None
        assert verify(each.schedule).ok
        assert program.chunks == each.chunks
        if each.schedule_name != each.candidate:
            seconds = run_in_time(program, paths, each.most, Costs()).seconds
            assert seconds * 1e6 == pytest.approx(each.microseconds)


def check_plans(found: Tuning) -> None:
    """Check that plans of MSCCL++ are right and for the sizes of their ranges."""
    for each in found.ranges:
        document = parse_document(each.programs["mscclpp-json"].encode(), __file__)  # type: ignore[arg-type]
        assert (document["min_message_size"], document["max_message_size"]) == (each.least, each.most)
        plan = mscclpp.plan_from_document(document, where="file")
        assert mscclpp.plan_fault(plan) is None
        assert check(mscclpp.to_program(plan)).fault is None


def test_small_messages_use_relays_where_ranks_do_not_reach_each_other_directly() -> None:
    found = tuned(RING, "allreduce")
    assert found.ranges[0].candidate == "exchange-relayed"
    assert found.ranges[-1].candidate != "exchange-relayed"
    directly = dict(tune("dgx-a100:boxes=1,gpus=2", "allreduce", [2**10]).skipped)
    assert directly["exchange-relayed"] == "all ranks reach each other directly"


@examples(3)
@given(
    nodes=st.integers(3, 4),
    sizes=st.sets(st.integers(16, 2**26), min_size=1, max_size=2),
    alpha=st.floats(0.1, 50),
    collective=st.sampled_from(COLLECTIVES),
)
def test_any_sizes_and_costs(nodes: int, sizes: set[int], alpha: float, collective: str) -> None:
    costs = Costs(alpha_us=alpha)
    chosen = sorted(size * 16 * nodes for size in sizes)
    found = tune(f"complete:nodes={nodes}", collective, chosen, costs=costs)
    own = simulate(generate(f"complete:nodes={nodes}", collective), chosen, costs, model="program")
    for point, time, least in zip(own, found.microseconds, found.bounds, strict=True):
        assert least * (1 - 1e-9) <= time <= point.seconds * 1e6 * (1 + 1e-9)
    assert all(one.most + 1 == other.least for one, other in pairwise(found.ranges))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("spec", "collective", "sizes", "most"),
    [
        ("dgx-a100:boxes=2,gpus=4", "allreduce", range(10, 33, 2), 2),
        ("dgx-a100:boxes=2,gpus=4", "allreduce", range(26, 33, 2), 1.1),
        *((f"mi250:boxes={boxes}", each, range(10, 26), 2) for boxes in (1, 2) for each in COLLECTIVES),
        *((f"mi250:boxes={boxes}", each, range(26, 27), 1.1) for boxes in (1, 2) for each in COLLECTIVES),
    ],
)
def test_programs_are_within_a_part_of_the_bound(spec: str, collective: str, sizes: range, most: float) -> None:
    """Within 2 times the bound everywhere, and 1.1 times from 64 MiB on."""
    found = tune(spec, collective, [2**power for power in sizes])
    assert max(found.ratio(place) for place in range(len(sizes))) <= most
    if spec.startswith("mi250") and most == 1.1:
        assert found.ranges[0].variant.startswith("stolen hops, ")


@pytest.mark.parametrize(
    ("spec", "has_one"), [("mi250:boxes=2,gpus=2", True), ("mi250:boxes=1,gpus=2", False), (TWO_BOXES, False)]
)
def test_trees_with_one_peer_are_compared_on_several_boxes_with_direct_links(spec: str, *, has_one: bool) -> None:
    found = tune(spec, "allgather", [2**12])
    names = {each.name for each in found.curves} | {name for name, _ in found.skipped}
    assert ("one-peer" in names) == has_one


@pytest.mark.slow
def test_trees_with_central_roots_are_fastest_for_an_allreduce_of_medium_data() -> None:
    found = tune("mesh:dims=3x3", "allreduce", [2**10, 2**18, 2**28])
    assert found.ranges[0].candidate.startswith("central-0x")
    assert not found.ranges[-1].candidate.startswith("central")
    assert verify(found.ranges[0].schedule).ok
    skipped = dict(found.skipped)
    assert skipped["central-2x1"] == "all compute nodes would be roots; these are shallow forests"


@pytest.mark.slow
def test_trees_with_one_peer_are_fastest_for_large_data_on_boxes_of_mi250() -> None:
    found = tune("mi250:boxes=2,gpus=8", "reduce-scatter", [2**28])
    assert [each.candidate for each in found.ranges] == ["one-peer"]
    assert all(verify(each.schedule).ok for each in found.ranges)


def test_a_protocol_with_a_low_latency_is_used_for_small_messages() -> None:
    costs = {"LL": Costs(alpha_us=1, efficiency=0.5)}
    found = tune("dgx-a100:boxes=1,gpus=4", "allgather", [2**10, 2**28], costs=costs)
    assert [each.variant.endswith("LL") for each in (found.ranges[0], found.ranges[-1])] == [True, False]
    assert 'proto="LL"' in found.ranges[0].programs["msccl-xml"]


def test_the_costs_of_the_machine_are_used_and_stated() -> None:
    """A send in a box takes 3.4 us on an A100, between boxes 14 us; a block moves 24 GB/s."""
    found = tune("dgx-a100:boxes=2,gpus=2", "allgather", [2**10], costs="machine")
    assert found.costs.source == "machine a100"
    assert found.costs.protocols[Protocol.SIMPLE] == Costs(alpha_us=2.4, block_gbps=24)
    assert found.bounds[0] == pytest.approx(14 + 1)
    assert found.bounds[0] <= found.microseconds[0]
    document = tuning_page(found).document()
    assert document["costs"] == found.costs.document()
    assert found.costs.network_us == pytest.approx(10.6)
    assert tuned(TWO_BOXES, "allreduce").costs.source == "default"


def test_latencies_of_the_machine_leave_the_schedules_and_stated_latencies_as_they_are() -> None:
    network = build_topology("dgx-a100:boxes=2,gpus=2")
    costs = program_costs(network, "machine")
    assert {link.latency_us for link in costs.network(network).links} == {None, Fraction(costs.network_us)}
    stated = replace(network, links=tuple(replace(link, latency_us=Fraction(1)) for link in network.links))
    assert costs.network(stated) == stated
    found = tune(network, "allgather", [2**10], costs="machine")
    assert all(each.schedule.topology == network for each in found.ranges)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"demand": "broadcast:root=0"}, "tune has no candidates for a broadcast; use one of allgather"),
        ({"sizes": []}, "sizes are empty; give one at least"),
        ({"sizes": [0]}, "0; expected a size of 1 byte or more"),
        ({"sizes": [4]}, "no candidate has a program for 4 bytes: .*; use sizes of 48 bytes or more"),
        ({"costs": {"XL": Costs()}}, "there is no protocol 'XL'; use Simple, LL or LL128"),
        ({"costs": "machine"}, "the name contains no known machine \\(gb300, gb200"),
        ({"costs": "a100"}, "'a100' is no name of costs; use \"machine\""),
        ({"dialect": "x"}, "there is no dialect 'x'"),
    ],
)
def test_bad_input(arguments: dict[str, object], message: str) -> None:
    with pytest.raises((InputError, NoSolutionError), match=message):
        tune("ring:nodes=3", **{"demand": "allgather", "sizes": [2**20], **arguments})  # type: ignore[arg-type]


def test_the_reason_is_stated_if_no_candidate_has_a_program() -> None:
    with pytest.raises(NoSolutionError, match=r"no candidate has a program; optimum: .*'b0/gpu3'"):
        tune("mi250:boxes=1", "allreduce:ranks='0-2'", [2**20])


def test_links_that_lead_one_way_have_programs_but_no_plans() -> None:
    found = tune("ring:nodes=3,one_way=true", "allgather", [2**10])
    assert all(list(each.programs) == ["msccl-xml"] for each in found.ranges)


def test_bandwidths_without_bytes_are_refused() -> None:
    network = build_topology("ring:nodes=3")
    with pytest.raises(InputError, match="is not known"):
        tune(replace(network, bandwidth_unit="apples"), "allgather", [2**20])


@pytest.mark.parametrize(
    ("collective", "dialect"),
    [
        ("allreduce", "microsoft"),
        pytest.param("allreduce", "azure", marks=pytest.mark.slow),
        ("allgather", "microsoft"),
    ],
)
def test_programs_are_for_the_calls_of_frameworks(collective: str, dialect: str) -> None:
    found = tune("dgx-a100:boxes=1,gpus=2", collective, [2**12, 2**20], dialect=dialect)
    in_place, both = collective == "allreduce", dialect == "azure"
    for each in found.ranges:
        attributes = msccl_xml.parse_algorithm(each.programs["msccl-xml"].encode(), where="a file").attributes
        assert attributes["inplace"] == str(int(in_place or both))
        assert attributes.get("outofplace", str(int(not in_place))) == str(int(both or not in_place))
        assert json.loads(each.programs["mscclpp-json"])["inplace"] == in_place
