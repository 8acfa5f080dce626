"""The loads of links by flows are exact, also if shares are too fine for floats and for 64 bits."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from test_verify_flows import BOXES, RING, changed

from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.rows import Rows
from forestcoll.solver.personalised import generate_flows
from forestcoll.verification.flows.context import FlowContext

COMPACT = generate_flows("ring:nodes=4", compact=True)


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
    longest, order, listed = 3, 4, 5
    context = FlowContext(replace(COMPACT, routes=Rows.of([[0, 1, 2], [0, 1]])))
    assert context.group.order == order
    greatest = np.iinfo(np.int64).max // (longest * order * listed)
    assert context.type_of_loads(greatest, listed) is np.int64
    assert context.type_of_loads(greatest + 1, listed) is object


def test_without_crossings_the_type_holds_the_amounts() -> None:
    context = FlowContext(RING)
    assert context.type_of_loads(2**63 - 1, 0) is np.int64
    assert context.type_of_loads(2**63, 0) is object
