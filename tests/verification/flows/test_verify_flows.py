"""The verifier of flows: each rule finds its fault, and no change of a schedule is accepted by mistake."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow_oracles import is_right
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.schedule.files import schedule_from_document
from forestcoll.schedule.flows.document import text_of
from forestcoll.schedule.flows.value import Flows, FlowSchedule
from forestcoll.schedule.proof import Bound, CutProof, LengthsProof, ReceiptProof
from forestcoll.schedule.rows import Rows
from forestcoll.solver.personalised import generate_flows
from forestcoll.topology import Shift, Symmetry
from forestcoll.topology.registry import build_topology
from forestcoll.verification import rules, verify
from networks import examples

MATRIX = [["0", "1/2", "1/3"], ["1", "0", "0"], ["0", "1/4", "0"]]


def schedules() -> list[FlowSchedule]:
    return [
        generate_flows("ring:nodes=4"),
        generate_flows("dgx-a100:boxes=2,gpus=2"),
        generate_flows("mesh:dims=2x3", "gather", root=0),
        generate_flows("mesh:dims=2x3", "scatter", root=1),
        generate_flows("ring:nodes=3", matrix=MATRIX),
        generate_flows("ring:nodes=6", ranks="0,2,3"),
    ]


GOOD = schedules()


def document_of(schedule: FlowSchedule) -> dict[str, Any]:
    found = json.loads("".join(text_of(schedule)))
    assert isinstance(found, dict)
    return found


def changed(schedule: FlowSchedule, **columns: Any) -> FlowSchedule:
    flows = schedule.flows
    fields = {name: getattr(flows, name) for name in ("sources", "targets", "shares", "routes")} | columns
    return replace(schedule, flows=Flows(**fields))


def with_entry(column: Any, place: int, value: int) -> Any:
    copy = column.copy()
    copy[place] = value
    return copy


def test_good_schedules_are_right() -> None:
    for schedule in GOOD:
        assert is_right(schedule)
        assert verify(schedule).optimal


RING, BOXES, GATHER, SCATTER, DEMAND, PART = GOOD


BROKEN: list[tuple[FlowSchedule, str, str]] = [
    (changed(RING, shares=RING.flows.shares[1:]), "rows-malformed", "shares"),
    (replace(PART, ranks=(3, 2, 0)), "ranks-wrong", "ascending order"),
    (replace(RING, routes=Rows.of([[0, 9]])), "route-node-unknown", "node number 9"),
    (replace(RING, routes=Rows.of([[0]])), "route-too-short", "two or more"),
    (replace(BOXES, routes=Rows.of([[0, 4, 0]])), "route-node-repeated", "twice"),
    (replace(RING, routes=Rows.of([[0, 2]])), "route-link-missing", "no such link"),
    (replace(RING, routes=Rows.of([[0, 1, 2]])), "route-interior-compute", "passes through"),
    (replace(BOXES, routes=Rows.of([[0, 4]])), "route-ends-on-switch", "ends on switch"),
    (changed(RING, targets=with_entry(RING.flows.targets, 0, 0)), "flow-ends", "the same node"),
    (changed(BOXES, targets=with_entry(BOXES.flows.targets, 0, 5)), "flow-ends", "is not a compute node"),
    (changed(PART, targets=with_entry(PART.flows.targets, 0, 1)), "flow-ends", "is not a rank"),
    (changed(RING, targets=with_entry(RING.flows.targets, 0, 7)), "flow-ends", "expected 0 to 3"),
    (changed(RING, routes=Rows.of([[]] * len(RING.flows))), "flow-route-unknown", "has no route"),
    (changed(RING, routes=Rows.of([[99]] * len(RING.flows))), "flow-route-unknown", "route number 99"),
    (changed(RING, sources=with_entry(RING.flows.sources, 0, 3)), "flow-chain", "starts on 0; expected 3"),
    (changed(RING, targets=with_entry(RING.flows.targets, 0, 3)), "flow-chain", "ends on 1; expected its target"),
    (replace(DEMAND, matrix=((Fraction(1),),)), "demand-wrong", "3 rows and 3 columns"),
    (replace(DEMAND, matrix=((Fraction(-1),) * 3,) * 3), "demand-wrong", "is -1"),
    (replace(GATHER, matrix=((Fraction(0), Fraction(1), *[Fraction(0)] * 4),) * 6), "demand-wrong", "root 0"),
    (changed(RING, shares=(Fraction(0), *RING.flows.shares[1:])), "share-not-positive", "the share is 0"),
    (
        changed(RING, shares=(Fraction(1, 10**4001), *RING.flows.shares[1:])),
        "share-too-fine",
        "more than 4000 digits",
    ),
    (changed(RING, shares=(Fraction(1, 3), *RING.flows.shares[1:])), "flow-shares", "0 -> 1 add up to 1/3"),
    (replace(DEMAND, matrix=(*(DEMAND.matrix or ())[:2], (Fraction(0),) * 3)), "flow-shares", "expected no flow"),
    (replace(RING, algbw=Fraction(5)), "algbw-wrong", "algbw is 5"),
    (
        replace(RING, bound=Bound(Collective.ALLGATHER, Fraction(2), CutProof((0,)))),
        "certificate-collective",
        "all-to-all",
    ),
    (replace(RING, bound=Bound(Collective.ALL_TO_ALL, Fraction(2), ReceiptProof())), "certificate-kind", "receipt"),
    (replace(GATHER, bound=Bound(Collective.GATHER, Fraction(2), CutProof((0,)))), "certificate-data", "no data"),
    (replace(SCATTER, bound=Bound(Collective.SCATTER, Fraction(3), CutProof((1,)))), "certificate-bound", "is 3"),
    (
        replace(RING, bound=Bound(Collective.ALL_TO_ALL, Fraction(1), LengthsProof(((0, 1),), (-1,)))),
        "certificate-proof",
        "negative",
    ),
]


@pytest.mark.parametrize(("schedule", "rule", "words"), BROKEN)
def test_each_rule_finds_its_fault(schedule: FlowSchedule, rule: str, words: str) -> None:
    fault = verify(schedule).fault
    assert fault is not None
    assert fault.rule == rule
    assert words in fault.message
    assert "\n" not in fault.message
    assert rule in dict(rules("flows"))


def test_rules_of_symmetries() -> None:
    base = generate_flows("ring:nodes=4", compact=True)
    assert base.symmetry is not None
    turn = Shift(4, np.array([1, 2, 3, 0], dtype=np.int32))
    assert verify(replace(base, symmetry=Symmetry((turn,)))).ok
    for shift, rule in (
        (Shift(2, turn.image), "symmetry-return"),
        (Shift(4, np.array([1, 0, 3, 2], dtype=np.int32)), "symmetry-free"),
        (Shift(2, np.array([2, 1, 0, 3], dtype=np.int32)), "symmetry-free"),
        (Shift(2, np.array([0, 0, 1, 1], dtype=np.int32)), "symmetry-image"),
    ):
        fault = verify(replace(base, symmetry=Symmetry((shift,)))).fault
        assert fault is not None
        assert fault.rule == rule
    rooted = verify(replace(generate_flows("ring:nodes=4", "gather", root=0), symmetry=Symmetry((turn,)))).fault
    assert rooted is not None
    assert rooted.rule == "symmetry-root"
    skewed = [[0, 1, 0, 0], [0] * 4, [0] * 4, [0] * 4]
    uneven = verify(replace(generate_flows("ring:nodes=4", matrix=skewed), symmetry=Symmetry((turn,)))).fault
    assert uneven is not None
    assert uneven.rule == "symmetry-demand"


def test_base_flows_of_any_source_of_an_orbit_are_counted() -> None:
    base = generate_flows("ring:nodes=4", compact=True)
    assert base.symmetry is not None
    image = base.symmetry.shifts[0].image
    routes = Rows.of([[int(image[node]) for node in route] for route in base.routes])
    moved = replace(base, routes=routes)
    moved = changed(moved, sources=image[base.flows.sources], targets=image[base.flows.targets])
    assert verify(moved).optimal


def _mutated(draw: st.DrawFn, document: dict[str, Any]) -> None:
    """Change one number of a document."""
    flows, nodes = document["flows"], len(document["topology"]["nodes"])
    flow = flows[draw(st.integers(0, len(flows) - 1))]
    number = st.integers(0, nodes - 1)
    changes: list[Any] = [
        lambda: flow.update(source=draw(number)),
        lambda: flow.update(target=draw(number)),
        lambda: flow.update(share=str(draw(st.fractions(0, 1, max_denominator=8)))),
        lambda: flow.update(routes=draw(st.lists(st.integers(0, len(document["routes"]) - 1), max_size=4))),
        lambda: flows.remove(flow),
        lambda: flows.append(dict(flow)),
        lambda: document["routes"].__setitem__(
            draw(st.integers(0, len(document["routes"]) - 1)), draw(st.lists(number, max_size=4))
        ),
        lambda: document.update(algbw=str(draw(st.fractions(1, 9, max_denominator=4)))),
        lambda: document.update(collective=draw(st.sampled_from(["all-to-all", "gather", "scatter"]))),
        lambda: document.update(demand=None),
    ]
    draw(st.sampled_from(changes))()


@st.composite
def mutations(draw: st.DrawFn) -> tuple[FlowSchedule, dict[str, Any]]:
    schedule = draw(st.sampled_from(GOOD))
    document = document_of(schedule)
    del document["optimal_algbw"], document["certificate"]
    for _ in range(draw(st.integers(1, 2))):
        if document["flows"]:
            _mutated(draw, document)
    return schedule, document


@examples(500)
@given(mutations())
def test_a_changed_schedule_is_accepted_only_if_it_is_right(context: tuple[FlowSchedule, dict[str, Any]]) -> None:
    _, document = context
    try:
        schedule = schedule_from_document(document, where="mutation")
    except InputError:
        return
    assert isinstance(schedule, FlowSchedule)
    report = verify(schedule)
    assert report.ok == (bool(len(schedule.flows)) and is_right(schedule))


def test_rules_of_an_all_to_all_are_those_of_flows() -> None:
    assert rules("all-to-all") == rules("flows") == rules(Collective.GATHER)


def test_a_cut_does_not_bound_an_all_to_all() -> None:
    schedule = replace(RING, bound=Bound(Collective.ALL_TO_ALL, Fraction(2), CutProof((0,))))
    fault = verify(schedule).fault
    assert fault is not None
    assert "a cut does not bound an all-to-all" in fault.message


def test_flows_on_a_network_of_one_box_are_verified() -> None:
    schedule = generate_flows(build_topology("dgx-a100:boxes=1"))
    assert verify(schedule).busiest_count > 0
