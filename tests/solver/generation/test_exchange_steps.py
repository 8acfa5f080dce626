"""All-to-alls in steps: right on every network, as fast as a plain linear program says, and refused if broken."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.exchange_steps import Steps
from forestcoll.algorithms.generate import generate, optimum
from forestcoll.base.errors import InputError
from forestcoll.design.realisation import topology_of
from forestcoll.design.search.finder import TopologyFinder
from forestcoll.schedule.steps.value import StepSchedule, Transfer, Transfers
from forestcoll.simulation.simulate import simulate
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Topology
from forestcoll.topology.registry import load_topology
from forestcoll.verification import StepReport, verify
from networks import SMALL, examples, networks


@cache
def made(topology: Topology | str, steps: int | None = None) -> tuple[StepSchedule, StepReport]:
    schedule = generate(topology, "all-to-all", Steps(steps=steps))
    report = verify(schedule)
    assert isinstance(report, StepReport)
    assert report.fault is None, report.fault
    return schedule, report


@pytest.mark.parametrize(
    ("spec", "steps", "factor"),
    [
        ("ring:nodes=5", 2, "6/5"),
        ("torus:dims=4x4", 4, "2"),
        ("hypercube:dim=4", 4, "2"),
        ("mesh:dims=3x3", 4, "8/3"),
        ("complete:nodes=4", 1, "3/4"),
    ],
)
def test_networks_in_the_fewest_steps(spec: str, steps: int, factor: str) -> None:
    schedule, report = made(spec)
    assert (schedule.steps, str(report.bandwidth_factor)) == (steps, factor)
    assert report.least_factor is not None
    assert report.bandwidth_factor is not None
    assert report.optimal == (report.bandwidth_factor == report.least_factor)
    assert report.bandwidth_factor <= report.least_factor * Fraction(11, 10)
    (large,) = simulate(schedule, [2**44])  # large data takes the stated time
    assert large.algbw == pytest.approx(float(report.algbw or 0), rel=0.01)


@pytest.mark.parametrize(("nodes", "steps", "printed"), [(32, 3, 5.71e-2), (32, 4, 5.26e-2)])
def test_the_rates_of_the_papers_networks_are_reached(nodes: int, steps: int, printed: float) -> None:
    # the MCF column of Table 7, for L(K4,4) and DistReg(4,32)
    (member,) = [
        each for each in TopologyFinder(published_only=True).find(nodes, 4).members if each.cost.steps == steps
    ]
    topology = topology_of(member)
    _, report = made(topology)
    assert report.algbw is not None
    assert float(f"{float(report.algbw / nodes / topology.links[0].bandwidth):.2e}") == printed


def test_the_document_shows_the_actual_rates() -> None:
    text = (Path(__file__).parents[3] / "docs" / "steps.md").read_text()
    rows = re.findall(r"^\| `([a-z]+:\S+)` \| (.*) \|$", text, re.MULTILINE)
    assert len(rows) == 5
    for spec, shown in rows:
        cells = shown.split(" | ")
        fewest, first = made(spec)
        reports = [first, made(spec, fewest.steps + 1)[1]]
        best = optimum(spec, "all-to-all").algbw
        assert cells[0::3][:2] == [str(fewest.steps), str(fewest.steps + 1)]
        assert reports[1].optimal  # one step more than the fewest reaches the rate of the best flow
        assert reports[1].algbw == best
        assert [str(each.bandwidth_factor) for each in reports] == [cells[1], cells[4]]
        assert [str(each.least_factor) for each in reports] == [cells[6]] * 2
        algbws = [reports[0].algbw, reports[1].algbw, best]
        nodes = len(load_topology(spec).compute)
        assert [f"{float(each or 0) / nodes:.4f}" for each in algbws] == [cells[2], cells[5], cells[7]]


def plain_time(topology: Topology, steps: int) -> float:
    """Return the time of the fastest all-to-all by a program with one flow for each pair, without any symmetry."""
    nodes, links = len(topology.nodes), [(link.source, link.target) for link in topology.links]
    pairs = [(source, target) for source in range(nodes) for target in range(nodes) if source != target]
    capacities = ScaledTopology.of(topology).capacities
    places = {
        (pair, link, step): steps + number
        for number, (pair, link, step) in enumerate(
            (pair, link, step) for pair in range(len(pairs)) for link in range(len(links)) for step in range(steps)
        )
    }
    program = LinearProgram([-1] * steps + [0] * len(places))
    for link in range(len(links)):
        for step in range(steps):
            loads = {places[pair, link, step]: 1 for pair in range(len(pairs))}
            program.add(Constraint({step: -capacities[link]} | loads, None, 0))
    for pair, (source, target) in enumerate(pairs):
        for node in range(nodes):
            for step in range(steps + 1):
                row: dict[int, int] = {}
                for link, (tail, head) in enumerate(links):
                    for each in range(steps):
                        if head == node and each < step:
                            row[places[pair, link, each]] = row.get(places[pair, link, each], 0) + 1
                        if tail == node and each < min(step + 1, steps):
                            row[places[pair, link, each]] = row.get(places[pair, link, each], 0) - 1
                own = int(node == source)
                exact = int(node == target) - own if step == steps else None
                program.add(Constraint(row, -own if exact is None else exact, exact))
    unit = Fraction(1, nodes) / (topology.links[0].bandwidth / capacities[0])
    return float(sum(program.solve().values[:steps])) * float(unit)


@examples(15)
@given(networks(kinds=st.just(SMALL), most=4, switches=False), st.integers(0, 1))
def test_the_time_is_that_of_a_plain_program(topology: Topology, more: int) -> None:
    fewest, _ = made(topology)
    schedule, report = made(topology, fewest.steps + more)
    assert report.algbw is not None
    assert float(1 / report.algbw) == pytest.approx(plain_time(topology, schedule.steps), rel=1e-9)


# Broken schedules.


def with_steps(schedule: StepSchedule, steps: list[list[Transfer]]) -> StepSchedule:
    (phase,) = schedule.phases
    return replace(schedule, phases=(replace(phase, transfers=Transfers.of(steps)),))


def broken(schedule: StepSchedule) -> Iterator[tuple[str, StepSchedule]]:
    """Yield schedules with one change, and the rules that may find it."""
    steps = [list(step) for step in schedule.phases[0].transfers]
    for number, step in enumerate(steps):
        for place, each in enumerate(step):
            rest = [*step[:place], *step[place + 1 :]]
            changes = {
                "part-missing part-not-held": rest,
                "transfer-link part-missing part-not-held": [*rest, each._replace(target=each.source)],
                "part-missing part-not-held transfer-part": [
                    *rest,
                    each._replace(high=each.low + (each.high - each.low) / 2),
                ],
                "part-not-held part-missing": [*rest, each._replace(shard=(each.shard + 1) % len(schedule.members))],
            }
            for rules, changed in changes.items():
                yield rules, with_steps(schedule, [*steps[:number], changed, *steps[number + 1 :]])
    yield "part-not-held", with_steps(schedule, steps[::-1])
    yield "part-missing", with_steps(schedule, steps[:-1])
    for number, _ in enumerate(pairwise(steps)):
        joined = [*steps[:number], steps[number] + steps[number + 1], *steps[number + 2 :]]
        yield "part-not-held", with_steps(schedule, joined)


def test_every_broken_schedule_is_refused() -> None:
    schedule, _ = made("circulant:nodes=6,offsets=1+2")
    for rules, wrong in broken(schedule):
        fault = verify(wrong).fault
        assert fault is not None
        assert fault.rule in rules.split()


def test_wrong_claims_are_refused() -> None:
    schedule, report = made("ring:nodes=4")
    assert report.algbw is not None
    assert schedule.bound is not None
    for rule, wrong in (
        ("algbw-wrong", replace(schedule, algbw=report.algbw + 1)),
        ("step-shards", replace(schedule, shards=(Fraction(1, 4),) * 4)),
        ("step-phases", replace(schedule, phases=schedule.phases * 2)),
        ("part-missing", replace(schedule, collective=generate("ring:nodes=4", method="bfb").collective)),
        ("certificate-bound", replace(schedule, bound=replace(schedule.bound, algbw=schedule.bound.algbw / 2))),
    ):
        fault = verify(wrong).fault
        assert fault is not None
        assert fault.rule == rule


def test_a_network_with_switches_is_refused() -> None:
    with pytest.raises(InputError, match="needs a network without"):
        generate("dgx-a100:boxes=2,gpus=2", "all-to-all", "steps")
