"""Reading and writing of schedules of flows."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from changed_documents import MISSING, changed
from flow_demands import demands
from forestcoll.algorithms.generate import generate
from forestcoll.demand.demand import Demand
from forestcoll.schedule.files import read_schedule, schedule_from_document, write_schedule
from forestcoll.schedule.flows.document import text_of
from forestcoll.schedule.flows.value import Flow, FlowSchedule
from forestcoll.schedule.shape_of import shape_of
from forestcoll.solver.flows.search import flow_search
from forestcoll.solver.generation.flows import flows_for
from forestcoll.topology import Topology
from networks import examples, networks
from refusal import refusal


def document() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(
        "".join(text_of(generate("ring:nodes=4", Demand("all-to-all", matrix=[[0, 1, 2, 0]] + [[0] * 4] * 3))))
    )
    return made


@examples(40)
@given(st.data(), networks(most=6))
def test_a_schedule_is_read_back_unchanged(data: st.DataObject, topology: Topology) -> None:
    schedule = flows_for(flow_search(topology, data.draw(demands(topology))))
    text = "".join(text_of(schedule))
    again = schedule_from_document(json.loads(text), where="flows.json")
    assert again == schedule
    assert "".join(text_of(again)) == text


def test_a_file_is_read_back_with_its_symmetry(tmp_path: Path) -> None:
    schedule = generate("torus:dims=3x3", "all-to-all", "flows:compact=true")
    for name in ("flows.json", "flows.json.gz"):
        write_schedule(schedule, tmp_path / name)
        assert read_schedule(tmp_path / name) == schedule
    assert repr(schedule).endswith("9 compute nodes, 12 flows, 9 images each>")


def test_numbers_may_be_json_numbers_and_a_collective_has_any_spelling() -> None:
    found = document() | {"collective": "all_to_all"}
    found["flows"] = [each | {"share": 0.5} for each in found["flows"]]
    schedule = schedule_from_document(found, where="here")
    assert isinstance(schedule, FlowSchedule)
    assert json.loads("".join(text_of(schedule)))["collective"] == "all-to-all"
    assert {str(each.share) for each in schedule.flows} == {"1/2"}
    assert next(iter(schedule.flows)) == Flow(0, 1, schedule.flows.shares[0], (0,))


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (["flows"], MISSING, 'here: has no "flows"; a schedule of flows needs it'),
        (["collective"], "AllGather", "this version supports 'all-to-all', 'gather', 'scatter'"),
        (["flows"], 3, "here: flows is 3; expected a list"),
        (["flows"], [3], "here: flows[0] is 3; expected"),
        (["flows", 0, "share"], MISSING, 'here: flows[0] has no "share"; a flow needs it'),
        (["flows", 0, "source"], 9, "flows[0].source is 9; expected an integer from 0 to 3"),
        (["flows", 0, "share"], "x", "flows[0].share 'x' is not a number"),
        (["flows", 0, "routes"], [99], "flows[0].routes[0] is 99"),
        (["routes", 0], [0, 1, "a"], "routes[0][2] is 'a'"),
        (["demand"], [[1]], "demand: has 1 row; expected one for each of the 4 nodes"),
        (["demand"], 3, "demand is 3; expected a list"),
        (["algbw"], None, "algbw null is not a number"),
    ],
)
def test_a_document_that_is_not_well_formed_is_refused(keys: list[str | int], value: object, message: str) -> None:
    assert message in refusal(schedule_from_document, changed(document(), keys, value), where="here")


def test_the_shape_of_flows() -> None:
    shape = shape_of(generate("ring:nodes=4", "all-to-all", "flows:compact=true"))
    assert (shape.flows, shape.group_order, shape.hops, shape.greatest_height) == (16, 4, 2, 2)
    assert shape.relayed == 8
    assert shape.mean_hops == shape.mean_height == pytest.approx(4 / 3)
    box = shape_of(generate("dgx-a100:boxes=2", "all-to-all"))
    assert (box.relayed, box.hops, box.sends, box.greatest_height, box.mean_height) == (0, 2, 1, 1, 1.0)
