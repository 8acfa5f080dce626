"""Collectives over some of the compute nodes, and networks with unbalanced switches, on the command line."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from cli_run import edge, run_command, write_network

HALF = ["mi250:boxes=2", "--ranks", "0-7,16-23"]


def test_half_of_each_box_is_generated_and_verified(tmp_path: Path) -> None:
    path = tmp_path / "s.json.gz"
    best = run_command("optimum", *HALF, "--json").document()
    made = run_command("generate", *HALF, "-o", path, "--json").document()
    judged = run_command("verify", path, "--json").document()
    assert best["algbw"] == made["algbw"] == judged["algbw"] == "2656/7"
    assert best["compute_nodes"] == made["compute_nodes"] == judged["compute_nodes"] == 16
    assert best["relays"] == made["relays"] == {"algbw": "2656/7", "algbw_without": "208", "gain": "166/91"}
    names = [f"b{box}/gpu{gpu}" for box in range(2) for gpu in range(8)]
    assert best["ranks"] == made["ranks"] == judged["ranks"] == names
    assert judged["optimal"] is made["optimal"] is True


def test_the_text_report_of_half_of_each_box(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    optimum, generate = run_command("optimum", *HALF), run_command("generate", *HALF, "-o", path)
    for run in (optimum, generate):
        for words in (
            "mi250:boxes=2: allgather over 16 of 32 compute nodes\n",
            "  algbw       2656/7 GB/s (379.429)\n" if run is optimum else "2656/7 GB/s (379.429)\n",
            "1.824 times the 208 GB/s without idle nodes as relays\n",
            "The 2 ranks b0/gpu0, b0/gpu1 must receive 7/8 of the data from the other 14 ranks. All of it enters over ",
        ):
            assert words in run.out
    assert f"{path}: valid: allgather on mi250:boxes=2, 16 of 32 compute nodes\n" in run_command("verify", path).out


def test_roots_and_shards_of_a_group(tmp_path: Path) -> None:
    shards = tmp_path / "shards.json"
    shards.write_text(json.dumps({"0": "1/4", "3": "3/4"}))
    for words in (
        ["--collective", "broadcast", "--root", "3"],
        ["--collective", "reduce", "--root", "0"],
        ["--collective", "allreduce"],
        ["--shards", shards],
        ["--trees", "2"],
        ["--max-trees", "3"],
    ):
        path = tmp_path / "s.json"
        made = run_command("generate", "ring:nodes=6", "--ranks", "0,3", *words, "-o", path, "--json").document()
        assert made["ranks"] == [0, 3]
        assert run_command("verify", path).status == 0


@pytest.mark.parametrize("command", ["optimum", "generate", "bounds"])
def test_ranks_and_roots_by_position_and_by_id(command: str) -> None:
    boxes = ["dgx-a100:boxes=2,gpus=2", "--json"]
    broadcast = [] if command == "bounds" else ["--collective", "broadcast"]
    by_position = run_command(command, *boxes, "--ranks", "0,2-3", *broadcast, "--root", "2").document()
    ids = ["--ranks", "b0/gpu0,b1/gpu0,b1/gpu1", *broadcast, "--root", "b1/gpu0"]
    by_id = run_command(command, *boxes, *ids).document()
    assert by_position["ranks"] == by_id["ranks"] == ["b0/gpu0", "b1/gpu0", "b1/gpu1"]
    if command == "bounds":
        assert by_position == by_id
    else:
        assert by_position["root"] == by_id["root"] == "b1/gpu0"
        assert by_position["algbw"] == by_id["algbw"]


@pytest.mark.parametrize("command", ["optimum", "generate"])
@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--ranks", "0-6"], 1, "there is no rank 6; ring:nodes=6 has 6 compute nodes, ranks 0 to 5"),
        (["--ranks", "0,1,1"], 1, "rank 1 is named twice; name it once"),
        (["--ranks", "4"], 1, "1 rank is named; a collective needs two"),
        (["--ranks", "3-1"], 1, "the range '3-1' runs backwards; write 1-3"),
        (["--ranks", "0;1"], 1, "there is no rank '0;1'; ring:nodes=6 has 6 compute nodes, ranks 0 to 5, or ids of"),
        (["--ranks", ""], 2, "Invalid value for '--ranks': '' has an empty part; write ranks as in '0-7,16' or 'gpu0,"),
        (["--ranks", "0,,1"], 2, "Invalid value for '--ranks': '0,,1' has an empty part; write ranks as in '0-7,16'"),
        (
            ["--ranks", "0-1", "--collective", "broadcast", "--root", "5"],
            1,
            "ring:nodes=6: root 5 is not among the ranks; add it to the ranks",
        ),
    ],
)
def test_invalid_ranks_are_refused(command: str, words: list[str], status: int, message: str) -> None:
    assert run_command(command, "ring:nodes=6", *words).error_line(status).startswith(message)


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
    made = run_command("generate", path, "--ranks", "0-1", "-o", tmp_path / "s.json", "--json").document()
    assert made["algbw"] == "20"
    assert run_command("verify", tmp_path / "s.json").status == 0
    message = run_command("optimum", path, "--ranks", "0,2").error_line()
    assert message == "small: rank 'c' cannot reach rank 'a'; add links on the way"


def test_ranks_that_need_a_relay_have_no_optimum_without_relays(tmp_path: Path) -> None:
    words = [write_network(tmp_path, [edge("a", "b"), edge("b", "c")], "abc"), "--ranks", "0,2"]
    best = run_command("optimum", *words, "--json").document()
    assert best["relays"] == {"algbw": "20", "algbw_without": None, "gain": None}
    assert "without idle nodes as relays, there is no solution" in run_command("optimum", *words).out


def broken_link(folder: Path) -> Path:
    """Write a network of four nodes on a switch and a ring. The link from a to the switch has bandwidth 4, not 10."""
    into = [edge(node, "s", 4 if node == "a" else 10) for node in "abcd"]
    ring = [edge(one, other, 1) for one, other in ("ab", "bc", "cd", "da")]
    return write_network(folder, [*into, *(edge("s", node) for node in "abcd"), *ring], "abcd", "s", directed=True)


def test_unused_links_are_listed_after_a_half_link_failed(tmp_path: Path) -> None:
    network, path = broken_link(tmp_path), tmp_path / "s.json"
    best = run_command("optimum", network, "--json").document()
    made = run_command("generate", network, "-o", path, "--json").document()
    judged = run_command("verify", path, "--json").document()
    assert best["algbw"] == made["algbw"] == best["optimal_algbw"] == made["optimal_algbw"] == "38/3"
    proof, bottleneck = best["proof"], best["bottleneck"]
    assert isinstance(proof, dict)
    assert isinstance(bottleneck, dict)
    assert (proof["kind"], bottleneck["exit_bandwidth"]) == ("tree-dual", "11")
    assert judged["valid"] is True
    unused = best["unused"]
    assert isinstance(unused, list)
    assert sum(Fraction(link["bandwidth"]) for link in unused) == 6
    assert {link["source"] for link in unused} == {"s"}


def test_the_text_report_of_a_failed_half_link(tmp_path: Path) -> None:
    out = run_command("optimum", broken_link(tmp_path)).out
    for words in (
        "optimum     reached: no schedule of trees is faster\n",
        "cut bound   86.36% of it is reached, because switches send only what they receive\n",
        "Unused, because switches send exactly what they receive: 6 GB/s in total, on\n",
    ):
        assert words in out
    assert "Switches that cannot copy or add up data send only what they receive" in out
    assert "prove algbw <= 38/3 GB/s (12.6667); --json lists them." in out
    fewer = run_command("optimum", broken_link(tmp_path), "--trees", "1").out
    assert "with more trees; this is" in fewer


def test_the_bounds_of_a_group() -> None:
    found = run_command("bounds", "ring:nodes=6", "--ranks", "0,2-3", "--json").document()
    best = run_command("optimum", "ring:nodes=6", "--ranks", "0,2-3", "--json").document()
    assert found["ranks"] == best["ranks"] == [0, 2, 3]
    collectives = found["collectives"]
    assert isinstance(collectives, dict)
    assert collectives["allgather"]["upper_algbw"] == collectives["allgather"]["achieved_algbw"] == best["algbw"]
    assert "3 of 6 compute nodes" in run_command("bounds", "ring:nodes=6", "--ranks", "0,2-3").out
    message = run_command("bounds", "ring:nodes=6", "--ranks", "0,2", "--root", "1").error_line()
    assert message == "ring:nodes=6: root 1 is not among the ranks; add it to the ranks"


def test_without_relays_idle_nodes_are_not_used(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    made = run_command("generate", *HALF, "--no-relays", "-o", path, "--json").document()
    judged = run_command("verify", path, "--json").document()
    assert made["algbw"] == judged["algbw"] == "208"
    assert made["optimal"] is judged["optimal"] is True
    assert "relays" not in made
    document = json.loads(path.read_text())
    idle = {node["id"] for node in document["topology"]["nodes"]} - {"ib"} - set(made["ranks"])  # type: ignore[call-overload]
    assert len(idle) == 16
    assert not any(edge["source"] in idle or edge["target"] in idle for edge in document["topology"]["edges"])
    message = run_command("optimum", "ring:nodes=6", "--ranks", "0,2", "--no-relays").error_line()
    assert message == "ring:nodes=6: rank 0 cannot reach rank 2 without relays; allow relays or add links"
    message = run_command("optimum", "ring:nodes=6", "--no-relays").error_line(2)
    assert message.startswith("--no-relays needs idle compute nodes; also give --ranks")
