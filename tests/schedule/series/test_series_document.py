import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from changed_documents import changed
from forestcoll.base.errors import InputError
from forestcoll.oneport import compare_series
from forestcoll.schedule.files import read_schedule, schedule_from_document, schedule_text, write_schedule
from forestcoll.schedule.proof import CutProof
from forestcoll.schedule.series.document import from_document
from forestcoll.schedule.shape_of import shape_of
from networks import built
from refusal import refusal


def platform() -> Any:
    links = [("a", 1, "3/2"), ("a", "w", 2), ("w", "b", 2), (1, "b", 1), ("b", 1, 1)]
    return built(["a", 1, "b", "w"], one_way=links, switches=["w"], name="small", port_model="one-port")


SCHEDULE = compare_series(platform(), "a").schedule()


def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads("".join(schedule_text(SCHEDULE)))
    return found


def test_a_schedule_is_read_back_unchanged(tmp_path: Path) -> None:
    for name in ("series.json", "series.json.gz"):
        write_schedule(SCHEDULE, tmp_path / name)
        assert read_schedule(tmp_path / name) == SCHEDULE


def test_a_document_has_ids_and_exact_numbers() -> None:
    found = document()
    assert found["format"] == "forestcoll.broadcast-series/1"
    assert found["source"] == "a"
    assert Fraction(found["throughput"]) == Fraction(found["messages_per_period"]) / Fraction(found["period"])
    assert sum(Fraction(tree["weight"]) for tree in found["trees"]) == Fraction(found["throughput"])
    assert sum(Fraction(each["duration"]) for each in found["rounds"]) == Fraction(found["period"])


def test_the_index_of_an_edge_can_be_omitted_if_it_is_unique() -> None:
    found = document()
    for each in found["rounds"]:
        for transfer in each["transfers"]:
            del transfer["edge"]
    assert schedule_from_document(found, where="x") == SCHEDULE


NO_LINK = {"source": "a", "target": "b", "price": 1}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "x", "x: format is 'x'; expected 'forestcoll.broadcast-series/1'"),
        (["topology"], 3, 'x: needs "topology": {...}, the network'),
        (["trees"], None, "x: trees is null; expected a list"),
        (["trees"], [], 'x: "trees" is empty; a series needs at least one tree'),
        (["trees", 0], 7, "x: trees[0] is 7; expected an object"),
        (
            ["trees", 0, "weight"],
            "a",
            "x: trees[0].weight 'a' is not a number; write a rational such as '1/48'",
        ),
        (["trees", 0, "edges"], 1, "x: trees[0].edges is 1; expected a list"),
        (["trees", 0, "edges", 0], ["a"], 'x: trees[0].edges[0] is ["a"]; expected [source, target]'),
        (["trees", 0, "edges", 0], ["a", "q"], "x: trees[0].edges[0]: there is no node 'q'"),
        (
            ["trees", 0, "edges", 0],
            ["a", True],
            "x: trees[0].edges[0]: true is not the id of a node; write a string or",
        ),
        (["period"], 0, "x: period is 0; it must be greater than 0"),
        (["period"], None, "x: period null is not a number; write "),
        (["messages_per_period"], 0, "x: messages_per_period is 0; expected an integer of 1 or more"),
        (["source"], "z", "x: source: there is no node 'z'"),
        (["source"], None, "x: source: null is not the id of a node"),
        (["rounds", 0, "transfers", 0, "tree"], 99, "x: rounds[0].transfers[0].tree is 99; there are "),
        (["rounds", 0, "transfers", 0, "source"], "b", "x: rounds[0].transfers[0]: tree 0 has no edge 'b' -> "),
        (["rounds", 0, "transfers", 0, "edge"], 99, "x: rounds[0].transfers[0].edge is 99, which is not an edge "),
        (["certificate"], 3, "x: certificate is 3; expected an object"),
        (
            ["certificate", "prices", 0, "port"],
            "x",
            "x: certificate.prices[0].port is 'x'; expected 'send', 'receive', 'b",
        ),
        (["certificate", "cuts", 0, "nodes"], 1, "x: certificate.cuts[0].nodes is 1; expected a list"),
        (["throughput"], "1/977", "x: throughput is '1/977', but messages_per_period / period is '"),
        (["trees", 0, "edges"], [["a", "w"], ["a", 1]], "x: trees[0].edges[1] must start on the switch that the "),
        (["trees", 0, "edges"], [["a", "w"]], "x: trees[0]: the last edge ends on a switch; continue to a compute "),
        (["certificate"], None, "x: optimal_throughput has no certificate; give both or neither"),
        (["certificate", "prices", 0], NO_LINK, "x: certificate.prices[0]: there is no link 'a' -> 'b'"),
    ],
)
def test_the_error_for_an_invalid_document_names_the_place(path: list[Any], value: object, message: str) -> None:
    assert refusal(from_document, changed(document(), path, value), where="x").startswith(message)


def test_a_collective_with_a_root_needs_a_source() -> None:
    found = document()
    del found["source"]
    assert refusal(from_document, found, where="x") == 'x: needs "source": the id of the root of a broadcast'


def test_the_certificate_states_the_optimum_if_the_file_does_not() -> None:
    found = document()
    del found["optimal_throughput"]
    assert schedule_from_document(found, where="x") == SCHEDULE
    unbound = {key: value for key, value in found.items() if key != "certificate"}
    assert schedule_from_document(unbound, where="x") == replace(SCHEDULE, bound=None)
    for cut in found["certificate"]["cuts"]:
        cut["weight"] = 0
    with pytest.raises(InputError, match=r"x: certificate\.cuts: the weights add up to 0; expected more than 0"):
        schedule_from_document(found, where="x")


def test_a_bound_by_another_proof_cannot_be_written() -> None:
    assert SCHEDULE.bound is not None
    other = replace(SCHEDULE, bound=replace(SCHEDULE.bound, proof=CutProof((0,))))
    with pytest.raises(InputError, match="small: the proof of the bound is of kind 'cut'; the file of a series needs "):
        "".join(schedule_text(other))


def test_the_shape_of_a_series() -> None:
    shape = shape_of(SCHEDULE)
    assert (shape.hops, shape.trees, shape.rounds) == (SCHEDULE.height, len(SCHEDULE.trees), len(SCHEDULE.rounds))
