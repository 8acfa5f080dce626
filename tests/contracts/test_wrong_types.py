"""Public functions with arguments of wrong types: each call returns a value, or raises an error of one clear line."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import forestcoll as fc
from forestcoll.measurement import MeasuredTimes
from refusal import refusal

RING = fc.load_topology("ring:nodes=3")
SCHEDULE = fc.generate(RING)

WRONG = (None, 3, "x", [1], RING, SCHEDULE)

RIGHT: dict[str, dict[str, Any]] = {
    "additions": {"topology": "ring:nodes=4"},
    "bounds": {"topology": RING},
    "builders": {},
    "compare": {"topology": RING, "sizes": [1024], "baselines": ["direct"]},
    "expand": {"base": RING, "by": ["degree=2"]},
    "export": {"schedule": SCHEDULE, "target": "msccl-xml"},
    "failures": {"topology": RING, "part": "links"},
    "find_topologies": {"nodes": 4, "degree": 2},
    "fit_costs": {"times": [MeasuredTimes("ring", SCHEDULE, (2**10, 2**20, 2**30), (1e-5, 4e-4, 0.4))]},
    "generate": {"topology": RING},
    "html_report": {"found": fc.compare(RING, baselines=["direct"], sizes=[1024])},
    "load_topology": {"topology": RING},
    "optimum": {"topology": RING},
    "simulate": {"schedule": SCHEDULE, "sizes": 1024},
    "step_frontier": {"topology": RING},
    "tune": {"topology": RING, "sizes": 1024},
    "upgrades": {"topology": RING},
    "verify": {"source": SCHEDULE},
    "view": {"shown_value": SCHEDULE},
    "write_schedule": {"schedule": SCHEDULE, "path": "out.json"},
    "write_topology": {"topology": RING, "path": "out.json"},
}
"""Arguments with which each function returns a value."""

FILES: dict[str, dict[str, Any]] = {
    "explain": {"topology": RING, "log": "no.log"},
    "explain_job": {"log": "no.log", "topology": RING},
    "read_schedule": {},
}
"""Functions that read files, with the other arguments."""

DUCK_TYPED = {"progress", "executor"}
"""Parameters whose values are objects with methods, of any class."""


def functions() -> dict[str, Callable[..., object]]:
    named = {name: getattr(fc, name) for name in vars(fc)["__all__"]}
    return {name: value for name, value in sorted(named.items()) if inspect.isfunction(value)}


def parameters(function: Callable[..., object]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in DUCK_TYPED]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_each_public_function_has_right_arguments() -> None:
    assert functions().keys() == RIGHT.keys() | FILES.keys()


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_right_arguments_are_accepted(name: str) -> None:
    functions()[name](**RIGHT[name])


@pytest.mark.parametrize(
    ("name", "parameter"), [(name, each) for name, function in functions().items() for each in parameters(function)]
)
def test_a_wrong_type_is_refused_in_one_line(name: str, parameter: str) -> None:
    messages = []
    for wrong in WRONG:
        try:
            functions()[name](**{**(RIGHT | FILES)[name], parameter: wrong})
        except (fc.InputError, fc.NoSolutionError) as error:
            messages.append(str(error))
    assert not [message for message in messages if "\n" in message]


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (RING.without, [3], "the name of a part is 3; expected a text, such as 'b0/gpu0--ib'"),
        (RING.without, [["a"]], "the name of a part is ['a']; expected a text, such as 'b0/gpu0--ib'"),
        (fc.design.topology_of, ["C(12,{2,3})"], "construction is 'C(12,{2,3})'; expected a network of Frontier"),
        (fc.design.schedule_of, [fc.find_topologies(4, 2)], "construction is <Frontier: "),
        (fc.oneport.pipelined_broadcast, [RING, 0, [1]], "[1]; expected a size of 1 byte or more"),
        (fc.expand, [RING, 2], "by is 2; expected a list, each one of line-graph=N"),
        (fc.write_topology, ["ring:nodes=4", "x.json"], "topology is 'ring:nodes=4'; expected a Topology"),
        (fc.write_schedule, ["x.json", SCHEDULE], "schedule is 'x.json'; expected a schedule"),
        (fc.html_report, [fc.optimum(RING)], "found is <TreeOptimum: "),
    ],
)
def test_other_arguments_are_refused_with_their_name_and_value(
    function: Callable[..., object], arguments: list[object], message: str
) -> None:
    assert refusal(function, *arguments).startswith(message)


def test_a_changed_network_has_a_port_model_that_is_known() -> None:
    message = "ring:nodes=3: port_model is 'oneport'; leave it out or use 'one-port' or "
    assert refusal(replace, RING, port_model="oneport").startswith(message)


def test_a_text_is_accepted_where_it_is_one_value() -> None:
    assert fc.expand(RING, "degree=2").name == fc.expand(RING, ["degree=2"]).name
    plan = fc.oneport.pipelined_broadcast(RING, 0, "1KB", packets=2)
    assert plan == fc.oneport.pipelined_broadcast(RING, 0, 1000, packets=2)


def test_a_judgement_says_whether_the_file_is_right() -> None:
    fc.export(SCHEDULE, "msccl-xml").write(Path("right.xml"))
    text = Path("right.xml").read_text()
    Path("wrong.xml").write_text(text.replace('type="r"', 'type="s"', 1))
    assert [fc.verify(name).ok for name in ("right.xml", "wrong.xml")] == [True, False]
