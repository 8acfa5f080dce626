"""Collectives over some of the compute nodes, and networks with unbalanced switches, on the command line."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from cli_run import edge, json_of, run_command, write_network

HALF = ["mi250:boxes=2", "--ranks", "0-7,16-23"]


def test_half_of_each_box_is_generated_and_verified(tmp_path: Path) -> None:
    path = tmp_path / "s.json.gz"
    best = json_of("optimum", *HALF)
    made = json_of("generate", *HALF, "-o", path)
    judged = json_of("verify", path)
    assert best["algbw"] == made["algbw"] == judged["algbw"] == "2656/7"
    assert best["compute_nodes"] == made["compute_nodes"] == judged["compute_nodes"] == 16
    assert best["relays"] == made["relays"] == {"algbw": "2656/7", "algbw_without": "208", "gain": "166/91"}
    names = [f"b{box}/gpu{gpu}" for box in range(2) for gpu in range(8)]
    assert best["ranks"] == made["ranks"] == judged["ranks"] == names
    assert judged["optimal"] is made["optimal"] is True


@pytest.mark.parametrize("words", [("optimum", "--collective", "broadcast"), ("optimum", "--all")])
def test_ranks_and_roots_by_position_and_by_id(words: tuple[str, ...]) -> None:
    boxes = (*words, "dgx-a100:boxes=2,gpus=2")
    by_position = json_of(*boxes, "--ranks", "0,2-3", "--root", "2")
    assert by_position == json_of(*boxes, "--ranks", "b0/gpu0,b1/gpu0,b1/gpu1", "--root", "b1/gpu0")
    assert by_position["ranks"] == ["b0/gpu0", "b1/gpu0", "b1/gpu1"]
    assert words == ("optimum", "--all") or by_position["root"] == "b1/gpu0"
    assert "3 of 4 compute nodes" in run_command(*boxes, "--ranks", "0,2-3", "--root", "2").out


def test_the_error_for_a_shard_of_an_idle_node_names_the_file(tmp_path: Path) -> None:
    shards = tmp_path / "shards.json"
    shards.write_text(json.dumps({"0": "1/2", "4": "1/2"}))
    message = run_command("optimum", "ring:nodes=6", "--ranks", "0-1", "--shards", shards).error_line()
    assert message == (
        f"{shards}: node 4 is not among the ranks, but has the shard 1/2; leave it out, or name it as a rank"
    )


def test_only_ranks_must_reach_each_other(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge("a", "b"), edge("b", "a"), edge("b", "c")], "abcd", directed=True)
    assert "cannot reach" in run_command("optimum", path).error_line()
    made = json_of("generate", path, "--ranks", "0-1", "-o", tmp_path / "s.json")
    assert made["algbw"] == "20"
    assert run_command("verify", tmp_path / "s.json").status == 0
    message = run_command("optimum", path, "--ranks", "0,2").error_line()
    assert message == "small: rank 'c' cannot reach rank 'a'; add links on the way"


def test_ranks_that_need_a_relay_have_no_optimum_without_relays(tmp_path: Path) -> None:
    words = [write_network(tmp_path, [edge("a", "b"), edge("b", "c")], "abc"), "--ranks", "0,2"]
    best = json_of("optimum", *words)
    assert best["relays"] == {"algbw": "20", "algbw_without": None, "gain": None}
    assert "without idle nodes as relays, there is no solution" in run_command("optimum", *words).out


def broken_link(folder: Path) -> Path:
    """Write a network of four nodes on a switch and a ring. The link from a to the switch has bandwidth 4, not 10."""
    into = [edge(node, "s", 4 if node == "a" else 10) for node in "abcd"]
    ring = [edge(one, other, 1) for one, other in ("ab", "bc", "cd", "da")]
    return write_network(folder, [*into, *(edge("s", node) for node in "abcd"), *ring], "abcd", "s", directed=True)


def test_unused_links_are_listed_after_a_half_link_failed(tmp_path: Path) -> None:
    network = broken_link(tmp_path)
    best, made = json_of("optimum", network), json_of("generate", network, "-o", tmp_path / "s.json")
    assert best["algbw"] == made["algbw"] == best["optimal_algbw"] == made["optimal_algbw"] == "38/3"
    assert (best["proof"]["kind"], best["bottleneck"]["exit_bandwidth"]) == ("tree-dual", "11")
    assert json_of("verify", tmp_path / "s.json")["valid"] is True
    assert sum(Fraction(link["bandwidth"]) for link in best["unused"]) == 6
    assert {link["source"] for link in best["unused"]} == {"s"}
    out = run_command("optimum", network).out
    for words in (
        "optimum     reached: no schedule of trees is faster\n",
        "cut bound   86.36% of it is reached, because switches send only what they receive\n",
        "Unused, because switches send exactly what they receive: 6 GB/s in total, on\n",
        "Switches that cannot copy or add up data send only what they receive",
        "data crosses these links at least 3 times (4 weighted sets of nodes prove it; --json lists them):\n",
        "  38 GB/s together, so algbw <= 38 / 3 = 38/3 GB/s.\n",
    ):
        assert words in out
    assert "with more trees; this is" in run_command("optimum", network, "--trees", "1").out


def test_without_relays_idle_nodes_are_not_used(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    made = json_of("generate", *HALF, "--no-relays", "-o", path)
    judged = json_of("verify", path)
    assert made["algbw"] == judged["algbw"] == "208"
    assert made["optimal"] is judged["optimal"] is True
    assert "relays" not in made
    document = json.loads(path.read_text())
    idle = {node["id"] for node in document["topology"]["nodes"]} - {"ib"} - set(made["ranks"])
    assert len(idle) == 16
    assert not any(edge["source"] in idle or edge["target"] in idle for edge in document["topology"]["edges"])
