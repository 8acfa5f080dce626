import json
from pathlib import Path
from typing import Any

import pytest
from cli_run import GRAPH, edge, run_command, write_network, written

ONE_PORT = GRAPH | {"name": "line", "port_model": "one-port"}


@pytest.fixture
def line(tmp_path: Path) -> Path:
    edges = [edge(one, other, 1) | {"latency_us": 10} for one, other in ("ab", "bc", "cd")]
    return write_network(tmp_path, edges, "abcd", directed=True, graph=ONE_PORT)


def answer(*arguments: object) -> dict[str, Any]:
    run = run_command("pipelined-broadcast", *arguments, "--json")
    assert (run.status, run.err) == (0, "")
    found: dict[str, Any] = json.loads(run.out)
    return found


def test_a_line_in_json(line: Path) -> None:
    found = answer(line, "--source", "a", "--size", "10MB")
    assert (found["size"], found["lower_bound_us"], found["height"]) == (10**7, "5015001/500", 3)
    assert found["packets"] == pytest.approx((2 * 10**7 / 10**4) ** 0.5, abs=1)
    assert (found["root_rule"]["packets"], found["root_rule"]["packet_size"]) == (3163, 3162)
    assert found["makespan_us_float"] < found["root_rule"]["makespan_us_float"]
    assert found["trees"] == [{"packets": 1, "edges": [["a", "b"], ["b", "c"], ["c", "d"]]}]


def test_the_number_of_packets_can_be_given(line: Path) -> None:
    found = answer(line, "--source", "a", "--size", "1000", "--packets", 4)
    assert (found["packets"], found["packet_size"], found["makespan_us"]) == (4, 250, "123/2")


def test_the_text_report(line: Path) -> None:
    run = run_command("pipelined-broadcast", line, "--source", "a", "--size", "1000", "--packets", 4)
    lines = run.out.splitlines()
    assert lines[0] == "line: 1,000 bytes from a to 4 compute nodes, one port"
    assert "  time      61.5 us" in lines
    assert "  packets   4 of 250 bytes, 1 per cycle" in lines


def test_the_schedule_of_packets_is_written_and_verified(line: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "packets.json", "pipelined-broadcast", line, "--source", "a", "--size", "1MB")
    assert run_command("verify", path).status == 0
    assert json.loads(path.read_text())["topology"]["graph"]["bandwidth_unit"] == "packets/us"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--source", "b", "--size", "1MB"], "line: source 'b' cannot reach compute node 'a'; add links on the way"),
        (["--source", "a", "--size", "10", "--packets", 11], "packets is 11; expected 1 to 10, at most one packet"),
    ],
)
def test_invalid_input_is_reported(line: Path, words: list[object], message: str) -> None:
    assert message in run_command("pipelined-broadcast", line, *words, "--json").error_line()


def test_a_unit_of_unknown_size_is_named(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge("a", "b")], graph=ONE_PORT | {"bandwidth_unit": "crates/day"})
    message = run_command("pipelined-broadcast", path, "--source", "a", "--size", "1MB").error_line()
    assert message.startswith("bandwidth_unit is 'crates/day', whose size in bytes is not known; use one such as ")
