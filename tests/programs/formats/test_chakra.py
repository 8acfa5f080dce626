"""Traces of Chakra: their bytes, and traces that do not fit together."""

from pathlib import Path
from typing import Any

import pytest
from chakra_reader import read_trace, written_by_protobuf
from samples import schedule
from trace_rules import traces_fault

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.programs.formats import chakra, goal
from forestcoll.programs.formats.chakra import NodeType, Trace, TraceNode
from forestcoll.programs.formats.chakra.writing import SCHEMA
from forestcoll.tuning.programs.export import export

PING = (
    Trace(
        0, (TraceNode(0, "send", NodeType.SEND, (), 8, 1, 7), TraceNode(1, "receive", NodeType.RECEIVE, (0,), 8, 1, 9))
    ),
    Trace(
        1,
        (
            TraceNode(0, "receive", NodeType.RECEIVE, (), 8, 0, 7),
            TraceNode(1, "add", NodeType.COMPUTE, (0,)),
            TraceNode(2, "send", NodeType.SEND, (1,), 8, 0, 9),
        ),
    ),
)


def changed(rank: int, place: int, **fields: object) -> tuple[Trace, ...]:
    nodes = list(PING[rank].nodes)
    nodes[place] = nodes[place]._replace(**fields)  # type: ignore[arg-type]
    return tuple(trace._replace(nodes=tuple(nodes)) if trace.rank == rank else trace for trace in PING)


def test_traces_of_a_larger_export_are_not_mixed_in(tmp_path: Path) -> None:
    prefix = tmp_path / "ring"
    export(schedule("ring:nodes=4"), "chakra").write(prefix)
    before = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    with pytest.raises(InputError, match=r"ring\.3\.et: is a trace of other ranks; remove the older traces"):
        export(schedule("ring:nodes=3"), "chakra").write(prefix)
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == before


@pytest.mark.parametrize(
    ("rule", "traces", "place"),
    [
        ("node-twice", changed(1, 1, number=0), (1, 0)),
        ("node-unknown", changed(1, 1, after=(5,)), (1, 1)),
        ("node-peer", changed(0, 0, peer=0), (0, 0)),
        ("node-peer", changed(0, 0, peer=2), (0, 0)),
        ("node-size", changed(0, 0, size=0), (0, 0)),
        ("message-unmatched", changed(0, 0, tag=8), (0, 0)),
        ("message-unmatched", changed(0, 0, size=9), (0, 0)),
        ("message-unmatched", changed(1, 2, kind=NodeType.RECEIVE), (0, 1)),
        ("deadlock", changed(0, 0, after=(1,)), (0, 0)),
    ],
)
def test_traces_that_disagree_are_reported(rule: str, traces: tuple[Trace, ...], place: tuple[int, int]) -> None:
    assert traces_fault(PING) is None
    fault = traces_fault(traces)
    assert fault is not None
    assert (fault.rule, (fault.rank, fault.step)) == (rule, place)


@pytest.mark.parametrize("target", ["chakra", "goal"])
def test_an_export_sends_all_of_the_data(target: str) -> None:
    done = export(schedule("ring:nodes=4", Collective.ALLREDUCE), f"{target}:bytes=1000000")
    if target == "goal":
        ranks = goal.parse_goal(done.text, where="s.goal").ranks
        sent = sum(each.size for rank in ranks for each in rank if each.kind is goal.OperationKind.SEND)
    else:
        traces = [read_trace(data, rank) for rank, data in enumerate(done.rank_files)]
        sent = sum(node.size for trace in traces for node in trace.nodes if node.kind is NodeType.SEND)
        assert traces_fault(traces) is None
    assert sent == pytest.approx(2 * 3 * 10**6, rel=1e-3)  # each of two trees passes M over three edges
    with pytest.raises(InputError, match=r"1 byte of data, .* use bytes=64 or more"):
        export(schedule("ring:nodes=4"), f"{target}:bytes=1")


TRACES = (
    *PING,
    Trace(
        0,
        (TraceNode(2**31, "", NodeType.SEND, (0, 2**62), 2**63 - 1, 2**31 - 1, 0),),
        {"collective": "é" * 200, "none": ""},
    ),
    Trace(0, (TraceNode(300, "", NodeType.COMPUTE), TraceNode(2**40, "é" * 90, NodeType.COMPUTE, (300, 0, 2**35)))),
    Trace(
        0,
        tuple(
            TraceNode(place, f"send {place}", NodeType.SEND, (place // 2,), place + 1, 1, place) for place in range(300)
        ),
    ),
    Trace(0, ()),
)


@pytest.mark.parametrize("trace", TRACES)
def test_traces_have_the_same_bytes_as_with_protobuf(trace: Trace) -> None:
    written = chakra.emit(trace)
    with_schema = trace._replace(attributes={"schema": SCHEMA, **trace.attributes})
    assert written == written_by_protobuf(with_schema)
    assert read_trace(written, trace.rank) == with_schema


@pytest.mark.parametrize(
    "fields", [{"tag": 2**31}, {"tag": -1}, {"peer": 2**31}, {"size": 2**63}, {"number": 2**64}, {"after": (2**63,)}]
)
def test_a_number_that_does_not_fit_is_refused(fields: dict[str, Any]) -> None:
    node = TraceNode(0, "send", NodeType.SEND, (), 8, 1, 7)._replace(**fields)
    with pytest.raises(InputError, match="rank 3: a number does not fit a trace"):
        chakra.emit(Trace(3, (node,)))


def test_data_that_does_not_fit_is_refused() -> None:
    for size, target in ((2**63, "chakra"), (2**70, "astra-sim")):
        with pytest.raises(InputError, match="bytes do not fit the numbers of a trace"):
            export(schedule("ring:nodes=3"), f"{target}:bytes={size}")
    assert export(schedule("ring:nodes=3"), f"astra-sim:bytes={2**63 - 1}").files


def fits(traces: tuple[Trace, ...]) -> bool:
    fitting = chakra.Fitting(len(traces))
    for trace in traces:
        fitting.add(trace)
    return fitting.is_proven


@pytest.mark.parametrize(("rank", "place"), [(0, 0), (0, 1), (1, 0), (1, 2)])
def test_only_traces_without_a_fault_are_accepted(rank: int, place: int) -> None:
    assert fits(PING)
    changes: list[dict[str, object]] = [{"number": 0}, {"after": (9,)}, {"after": (1,)}, {"peer": 0}, {"peer": 5}]
    changes += [{"size": 0}, {"size": 7}, {"tag": 8}, {"kind": NodeType.RECEIVE}, {"kind": NodeType.COMPUTE}]
    for fields in changes:
        traces = changed(rank, place, **fields)
        assert fits(traces) == (traces_fault(traces) is None), fields
