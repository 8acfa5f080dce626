"""`forestcoll one-port` as a user runs it: a series of broadcasts, and one message in packets."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cli_run import GRAPH, edge, json_of, run_command, write_network, written

ONE_PORT = GRAPH | {"port_model": "one-port"}
FIGURE_1 = [
    edge("s", "1", 1),
    edge("s", "2", 1),
    edge("1", "2", 1),
    edge("2", "1", 1),
    edge("1", "3", 2),
    edge("2", "4", 2),
]


@pytest.fixture
def figure_1(tmp_path: Path) -> Path:
    return write_network(tmp_path, FIGURE_1, "s1234", directed=True, graph=ONE_PORT | {"name": "figure 1"})


def answer(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json_of("one-port", *arguments)
    return found


def test_the_source_is_named_by_id_or_by_position_and_an_id_wins(tmp_path: Path) -> None:
    line = write_network(tmp_path, [edge("a", "b", 1), edge("b", "0", 1)], "ab0")
    found = {each: answer(line, "--source", each)["source"] for each in ("a", "1", "2", "0")}
    assert found == {"a": "a", "1": "b", "2": "0", "0": "0"}


def test_a_schedule_along_the_best_dag_or_tree_or_with_a_loss_has_its_throughput(figure_1: Path) -> None:
    assert answer(figure_1, "--source", "s", "--method", "dag")["throughput"] == "4/5"
    assert answer(figure_1, "--source", "s", "--method", "tree")["throughput"] == "2/3"
    for loss in ("40%", "0.4", "2/5"):
        found = answer(figure_1, "--source", "s", "--method", f"graph:loss={loss}")
        assert (found["throughput"], len(found["trees"]), found["optimal"]) == ("2/3", 1, False)


def test_the_dag_of_an_order(figure_1: Path) -> None:
    found = answer(figure_1, "--source", "s", "--method", "dag:order='s,1,3,2,4'")
    assert (found["throughput"], found["period"], found["best_dag"]["order"]) == ("4/5", "5", ["s", "1", "3", "2", "4"])


def test_a_written_schedule_is_verified(figure_1: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "series.json", "one-port", figure_1, "--source", "s")
    run = run_command("verify", path)
    assert (run.status, run.err) == (0, "")
    assert run.out.splitlines()[0] == f"{path}: valid: series of broadcasts from s on figure 1, 5 compute nodes"
    document = json.loads(run_command("verify", path, "--json").out)
    assert (document["valid"], document["throughput"], document["optimal"]) == (True, "1", True)
    broken = json.loads(path.read_text())
    broken["rounds"][0]["transfers"] += broken["rounds"][2]["transfers"]
    path.write_text(json.dumps(broken))
    run = run_command("verify", path)
    assert run.status == 1
    assert run.err.startswith(f"forestcoll: {path}: round 0: '1' sends two messages at the same time")
    assert json.loads(run_command("verify", path, "--json").out)["rule"] == "ports"


def test_another_collective_is_repeated_and_verified(figure_1: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "series.json", "one-port", "ring:nodes=4", "--collective", "reducescatter")
    run = run_command("verify", path)
    assert run.out.splitlines()[0] == f"{path}: valid: series of reduce-scatters on ring:nodes=4, 4 compute nodes"
    document = json.loads(run_command("verify", path, "--json").out)
    assert (document["collective"], document["throughput"], document["optimal"]) == ("reduce-scatter", "2/3", True)
    assert run_command("simulate", path).status == 0
    assert answer(figure_1, "--source", "s", "--collective", "scatter")["throughput"] == "1/4"


def test_what_does_not_fit_a_collective_is_named() -> None:
    gather = ["--collective", "gather"]
    for words, status, message in (
        (gather, 2, "Missing option '--source'; give the compute node that sends or receives all messages"),
        ([*gather, "--source", "0", "--method", "tree"], 2, "--method is for broadcasts, and this is a gather; "),
        ([*gather, "--source", "0", "--size", "1MB"], 2, "--collective does not fit one message of --size"),
        (["--collective", "allgather", "--source", "0"], 1, "ring:nodes=4: an allgather has no source; leave it out"),
    ):
        assert run_command("one-port", "ring:nodes=4", *words).error_line(status).startswith(message)


def test_the_port_model_can_be_changed_by_an_option(figure_1: Path) -> None:
    assert answer("ring:nodes=6", "--source", 0)["throughput"] == "2"
    assert answer("ring:nodes=6", "--source", 0, "--ports", "one")["throughput"] == "1"
    assert answer("ring:nodes=6", "--source", 0, "--ports", "send")["port_model"] == "one-port-send"
    assert answer("ring:nodes=6", "--source", 0, "--ports", "receive")["port_model"] == "one-port-receive"
    half = answer("ring:nodes=6", "--source", 0, "--ports", "half")
    assert (half["port_model"], half["throughput"], half["optimal"]) == ("half-duplex", "3/5", True)
    assert answer(figure_1, "--source", "s", "--ports", "all")["throughput"] == "2"


def test_a_source_that_does_not_reach_all_nodes_is_named(figure_1: Path) -> None:
    message = "figure 1: source '3' cannot reach compute nodes 's', '1', '2' and 1 more; add links on the way"
    for words in ([], ["--size", "1MB"]):
        assert run_command("one-port", figure_1, "--source", "3", *words, "--json").error_line().startswith(message)


def test_a_collective_without_a_source_names_the_nodes_that_do_not_reach_each_other(figure_1: Path) -> None:
    for collective in ("allgather", "reduce-scatter"):
        error = run_command("one-port", figure_1, "--collective", collective).error_line()
        assert error.startswith("figure 1: compute node 's' cannot be reached from compute node")
        assert error.endswith("; add links on the way")


def test_a_shared_bandwidth_is_in_the_json(figure_1: Path) -> None:
    document = json.loads(figure_1.read_text())
    document["nodes"][0]["send_bandwidth"] = "3/2"
    figure_1.write_text(json.dumps(document))
    found = answer(figure_1, "--source", "s", "--ports", "bounded")
    assert (found["throughput"], found["port_model"]) == ("3/2", "bounded-multi-port")
    used = [Fraction(each["bandwidth"]) for each in found["bandwidths"] if each["source"] == "s"]
    assert sum(used) <= Fraction(3, 2)


@pytest.mark.parametrize(
    ("ports", "model"),
    [
        ("one", "one-port"),
        ("send", "one-port-send"),
        ("receive", "one-port-receive"),
        ("half", "half-duplex"),
        ("bounded", "bounded-multi-port"),
    ],
)
def test_a_limit_of_a_node_counts_in_a_port_model_of_a_file_and_of_an_option(
    tmp_path: Path, ports: str, model: str
) -> None:
    line = [edge("a", "b", 1), edge("b", "c", 1)]
    for graph, words in ((GRAPH, ["--ports", ports]), (GRAPH | {"port_model": model}, [])):
        network = write_network(tmp_path, line, "abc", directed=False, graph=graph)
        document = json.loads(network.read_text())
        document["nodes"][0]["send_bandwidth"] = "1/2"
        network.write_text(json.dumps(document))
        found = answer(network, "--collective", "scatter", "--source", "a", *words)
        assert found["throughput"] == "1/4"  # a sends 2 messages, each in 2 units of time


def test_the_page_names_what_limits_half_duplex_nodes(tmp_path: Path) -> None:
    network = write_network(tmp_path, FIGURE_1[:4], "s12", directed=True, graph=ONE_PORT)
    run = run_command("one-port", network, "--source", "s", "--ports", "half")
    assert run.status == 0
    assert "  links between s, 1, 2: at most 1 at a time (1/2 (0.5))\n" in run.out


@pytest.fixture
def line(tmp_path: Path) -> Path:
    edges = [edge(one, other, 1) | {"latency_us": 10} for one, other in ("ab", "bc", "cd")]
    return write_network(tmp_path, edges, "abcd", directed=True, graph=ONE_PORT | {"name": "line"})


def test_the_number_of_packets_can_be_given(line: Path) -> None:
    found = answer(line, "--source", "a", "--size", "1000", "--method", "packets:count=4")
    assert (found["packets"], found["packet_size"], found["makespan_us"]) == (4, 250, "123/2")


def test_the_schedule_of_packets_is_written_and_verified(line: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "packets.json", "one-port", line, "--source", "a", "--size", "1MB")
    assert run_command("verify", path).status == 0
    assert json.loads(path.read_text())["topology"]["graph"]["bandwidth_unit"] == "packets/us"


def test_a_unit_of_unknown_size_is_named(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge("a", "b")], graph=ONE_PORT | {"bandwidth_unit": "crates/day"})
    message = run_command("one-port", path, "--source", "a", "--size", "1MB").error_line()
    assert message.startswith("bandwidth_unit is 'crates/day', whose size in bytes is not known; use one such as ")
