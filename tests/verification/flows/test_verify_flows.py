"""The verifier of flows: no change of a schedule is accepted by mistake, and the loads of links are exact."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow_oracles import is_right
from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.demand import Demand
from forestcoll.schedule.files import schedule_from_document
from forestcoll.schedule.flows.document import text_of
from forestcoll.schedule.flows.value import FlowList, FlowSchedule
from forestcoll.schedule.rows import Rows
from forestcoll.verification import verify
from forestcoll.verification.flows.context import FlowContext
from networks import examples

MATRIX = [["0", "1/2", "1/3"], ["1", "0", "0"], ["0", "1/4", "0"]]


RING = generate("ring:nodes=4", "all-to-all")
BOXES = generate("dgx-a100:boxes=2,gpus=2", "all-to-all")
GATHER = generate("mesh:dims=2x3", "gather:root=0")
SCATTER = generate("mesh:dims=2x3", "scatter:root=1")
DEMAND = generate("ring:nodes=3", Demand("all-to-all", matrix=MATRIX))
PART = generate("ring:nodes=6", "all-to-all:ranks='0,2,3'")
GOOD = [RING, BOXES, GATHER, SCATTER, DEMAND, PART]


def changed(schedule: FlowSchedule, **columns: Any) -> FlowSchedule:
    flows = schedule.flows
    fields = {name: getattr(flows, name) for name in ("sources", "targets", "shares", "routes")} | columns
    return replace(schedule, flows=FlowList(**fields))


def with_entry(column: Any, place: int, value: int) -> Any:
    copy = column.copy()
    copy[place] = value
    return copy


def test_good_schedules_are_right() -> None:
    for schedule in GOOD:
        assert is_right(schedule)
        assert verify(schedule).optimal


def test_base_flows_of_any_source_of_an_orbit_are_counted() -> None:
    base = generate("ring:nodes=4", "all-to-all", "flows:compact=true")
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
def mutations(draw: st.DrawFn) -> dict[str, Any]:
    document = json.loads("".join(text_of(draw(st.sampled_from(GOOD)))))
    assert isinstance(document, dict)
    del document["optimal_algbw"], document["certificate"]
    for _ in range(draw(st.integers(1, 2))):
        if document["flows"]:
            _mutated(draw, document)
    return document


@examples(400)
@given(mutations())
def test_a_changed_schedule_is_accepted_only_if_it_is_right(document: dict[str, Any]) -> None:
    try:
        schedule = schedule_from_document(document, where="mutation")
    except InputError:
        return
    assert isinstance(schedule, FlowSchedule)
    report = verify(schedule)
    assert report.ok == (bool(len(schedule.flows)) and is_right(schedule))


def plain_loads(schedule: FlowSchedule) -> list[Fraction]:
    """Return the load of each link by the listed flows, without the images of a symmetry."""
    place = {(link.source, link.target): number for number, link in enumerate(schedule.topology.links)}
    loads = [Fraction(0)] * len(place)
    for share, routes in zip(schedule.flows.shares, schedule.flows.routes, strict=True):
        for route in routes:
            nodes = schedule.routes[route]
            for hop in pairwise(nodes):
                loads[place[hop]] += share
    return loads


@pytest.mark.parametrize("fine", [Fraction(1, 2**64), Fraction(1, 2**65), Fraction(1, 10**40), Fraction(0)])
@pytest.mark.parametrize("schedule", [RING, BOXES])
def test_fine_shares_are_added_up_exactly(schedule: FlowSchedule, fine: Fraction) -> None:
    shares = schedule.flows.shares
    context = FlowContext(changed(schedule, shares=(shares[0] + fine, *shares[1:])))
    assert context.denominator is not None
    assert [Fraction(load, context.denominator) for load in context.loads.tolist()] == plain_loads(context.schedule)
    assert context.loads.dtype == (object if fine else np.int64)


def test_a_type_holds_all_crossings_of_one_link() -> None:
    compact = generate("ring:nodes=4", "all-to-all", "flows:compact=true")
    longest, order, listed = 3, 4, 5
    context = FlowContext(replace(compact, routes=Rows.of([[0, 1, 2], [0, 1]])))
    assert context.group.order == order
    greatest = np.iinfo(np.int64).max // (longest * order * listed)
    assert context.type_of_loads(greatest, listed) is np.int64
    assert context.type_of_loads(greatest + 1, listed) is object


def test_without_crossings_the_type_holds_the_amounts() -> None:
    context = FlowContext(RING)
    assert context.type_of_loads(2**63 - 1, 0) is np.int64
    assert context.type_of_loads(2**63, 0) is object
