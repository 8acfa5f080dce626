"""Traces of Chakra: reading, refusing and writing files, and traces that do not fit together."""

import sys
from pathlib import Path

import pytest
from samples import schedule

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.programs.formats import chakra, goal
from forestcoll.programs.formats.chakra import Kind, Node, Trace, schema
from forestcoll.tuning.programs.export import export

PING = (
    Trace(0, (Node(0, "send", Kind.SEND, (), 8, 1, 7), Node(1, "receive", Kind.RECEIVE, (0,), 8, 1, 9))),
    Trace(
        1,
        (
            Node(0, "receive", Kind.RECEIVE, (), 8, 0, 7),
            Node(1, "add", Kind.COMPUTE, (0,)),
            Node(2, "send", Kind.SEND, (1,), 8, 0, 9),
        ),
    ),
)


def written(trace: Trace) -> bytes:
    return b"".join(chakra.emit(trace))


def changed(rank: int, place: int, **fields: object) -> tuple[Trace, ...]:
    nodes = list(PING[rank].nodes)
    nodes[place] = nodes[place]._replace(**fields)  # type: ignore[arg-type]
    return tuple(trace._replace(nodes=tuple(nodes)) if trace.rank == rank else trace for trace in PING)


def test_traces_are_read_from_the_files_of_all_ranks(tmp_path: Path) -> None:
    for trace in PING:
        chakra.trace_path(tmp_path / "ping", trace.rank).write_bytes(written(trace))
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["ping.0.et", "ping.1.et"]
    assert [trace.nodes for trace in chakra.read_traces(tmp_path / "ping")] == [trace.nodes for trace in PING]
    with pytest.raises(InputError, match="no such file"):
        chakra.read_traces(tmp_path / "pong")


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
        ("message-unmatched", changed(1, 2, kind=Kind.RECEIVE), (0, 1)),
        ("deadlock", changed(0, 0, after=(1,)), (0, 0)),
    ],
)
def test_traces_that_disagree_are_reported(rule: str, traces: tuple[Trace, ...], place: tuple[int, int]) -> None:
    assert chakra.traces_fault(PING) is None
    fault = chakra.traces_fault(traces)
    assert fault is not None
    assert (fault.rule, (fault.rank, fault.step)) == (rule, place)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff" * 6, "there is no length at byte 0"),
        (b"\x7fshort", "a piece of 127 bytes is announced"),
        (b"\x02\xff\xff", "header does not follow the schema of Chakra"),
        (b"\x00\x02\x18\x07", "node 0 has type 7; a collective has 4, 5, 6"),
        (b"\x00\x02\x18\x05", 'node 0 has no "comm_size"'),
        (b"<algo/>", "is announced"),
    ],
)
def test_a_file_that_is_not_a_trace_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        chakra.parse_trace(data, rank=0, where="t.et")


def test_without_protobuf_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    schema.message.cache_clear()
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    with pytest.raises(InputError, match=r"pip install 'forestcoll\[chakra\]'"):
        written(PING[0])
    schema.message.cache_clear()


@pytest.mark.parametrize("target", ["chakra", "goal"])
def test_an_export_sends_all_of_the_data(target: str) -> None:
    done = export(schedule("ring:nodes=4", Collective.ALLREDUCE), target, size=10**6)
    if target == "goal":
        ranks = goal.parse_goal(done.text, where="s.goal").ranks
        sent = sum(each.size for rank in ranks for each in rank if each.kind is goal.Kind.SEND)
    else:
        sent = sum(node.size for trace in done.traces for node in trace.nodes if node.kind is Kind.SEND)
        assert chakra.traces_fault(done.traces) is None
    assert sent == pytest.approx(2 * 3 * 10**6, rel=1e-3)  # each of two trees passes M over three edges
    with pytest.raises(InputError, match="1 byte cannot be divided into the"):
        export(schedule("ring:nodes=4"), target, size=1)


TRACES = (
    *PING,
    Trace(0, (Node(300, "", Kind.COMPUTE), Node(2**40, "é" * 90, Kind.COMPUTE, (300, 0, 2**35)))),
    Trace(
        0, tuple(Node(place, f"send {place}", Kind.SEND, (place // 2,), place + 1, 1, place) for place in range(300))
    ),
    Trace(0, ()),
)


@pytest.mark.parametrize("trace", TRACES)
def test_arrays_encode_and_decode_the_same_bytes_as_protobuf(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = written(trace)
    read = chakra.parse_trace(fast, rank=trace.rank, where="t.et")
    assert (read.nodes, read.attributes) == (trace.nodes, {"schema": schema.SCHEMA})
    monkeypatch.setattr(chakra.writing, "encoded", lambda _: None)
    monkeypatch.setattr(chakra.reading, "decoded", lambda *_: None)
    assert written(trace) == fast
    assert chakra.parse_trace(fast, rank=trace.rank, where="t.et").nodes == trace.nodes


def test_numbers_that_do_not_fit_are_left_to_protobuf() -> None:
    with pytest.raises(ValueError, match="Value out of range"):
        written(Trace(0, (Node(0, "send", Kind.SEND, (), 8, 1, 2**31),)))


def test_nodes_in_another_layout_are_read_with_protobuf() -> None:
    node = schema.message("Node")(id=7, name="add", type=4, ctrl_deps=[3], data_deps=[1])
    data = node.SerializeToString()
    trace = chakra.parse_trace(bytes([0, len(data)]) + data, rank=0, where="t.et")
    assert trace.nodes == (Node(7, "add", Kind.COMPUTE, (1, 3)),)


def fits(traces: tuple[Trace, ...]) -> bool:
    fitting = chakra.Fitting(len(traces))
    for trace in traces:
        fitting.add(trace)
    return fitting.is_proven


@pytest.mark.parametrize(("rank", "place"), [(0, 0), (0, 1), (1, 0), (1, 2)])
def test_the_fast_proof_accepts_only_traces_without_a_fault(rank: int, place: int) -> None:
    assert fits(PING)
    changes: list[dict[str, object]] = [{"number": 0}, {"after": (9,)}, {"after": (1,)}, {"peer": 0}, {"peer": 5}]
    changes += [{"size": 0}, {"size": 7}, {"tag": 8}, {"kind": Kind.RECEIVE}, {"kind": Kind.COMPUTE}]
    for fields in changes:
        traces = changed(rank, place, **fields)
        assert fits(traces) == (chakra.traces_fault(traces) is None), fields
