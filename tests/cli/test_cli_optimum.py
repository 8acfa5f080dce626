import json
import time
from fractions import Fraction
from pathlib import Path

import networkx as nx
import pytest
from cli_run import edge, run_command, write_network

CONTRACT = {
    "topology",
    "collective",
    "compute_nodes",
    "algbw",
    "algbw_float",
    "unit",
    "trees_per_root",
    "tree_bandwidth",
    "bottleneck",
}

KNOWN = {
    "dgx-a100:boxes=1": "2400/7",
    "dgx-a100:boxes=2": "1040/3",
    "dgx-a100:boxes=4": "800/3",
    "dgx-a100:boxes=8": "1600/7",
    "dgx-h100:boxes=1": "3600/7",
    "dgx-h100:boxes=2": "1600/3",
    "dgx-h100:boxes=16": "1280/3",
    "mi250:boxes=2": "5312/15",
    "mi250:boxes=2,gpus=8": "208",
    "torus:dims=8x8": "256/63",
}


@pytest.mark.parametrize("spec", KNOWN)
def test_the_published_optima(spec: str) -> None:
    document = run_command("optimum", spec, "--json").document()
    assert document["algbw"] == KNOWN[spec]


def test_json_has_the_documented_keys() -> None:
    document = run_command("optimum", "mi250:boxes=2", "--json").document()
    assert set(document) >= CONTRACT
    assert document["collective"] == "allgather"
    assert (document["compute_nodes"], document["unit"]) == (32, "GB/s")
    assert (document["trees_per_root"], document["tree_bandwidth"]) == (83, "2/15")
    assert document["algbw_float"] == float(Fraction(5312, 15))


def test_the_cut_in_json_proves_the_optimum() -> None:
    document = run_command("optimum", "dgx-a100:boxes=4", "--json").document()
    network = nx.node_link_graph(json.loads(run_command("topology", "dgx-a100:boxes=4").out), edges="edges")
    bottleneck = document["bottleneck"]
    assert isinstance(bottleneck, dict)
    assert set(bottleneck) == {"cut", "compute_inside", "exit_bandwidth"}
    inside = set(bottleneck["cut"])
    compute = [node for node, kind in network.nodes(data="kind") if kind == "compute"]
    leaving = sum(bandwidth for u, v, bandwidth in network.edges(data="bandwidth") if u in inside and v not in inside)
    assert Fraction(str(bottleneck["exit_bandwidth"])) == leaving
    assert bottleneck["compute_inside"] == len(inside.intersection(compute)) < len(compute)
    assert Fraction(str(document["algbw"])) == Fraction(len(compute) * leaving, bottleneck["compute_inside"])


@pytest.mark.parametrize(
    ("trees", "algbw"), [(1, "320"), (2, "1024/3"), (3, "2400/7"), (4, "1024/3"), (5, "8000/23"), (83, "5312/15")]
)
def test_a_given_number_of_trees(trees: int, algbw: str) -> None:
    document = run_command("optimum", "mi250:boxes=2", "--trees", trees, "--json").document()
    assert (document["trees_per_root"], document["algbw"]) == (trees, algbw)
    assert document["optimal_algbw"] == "5312/15"


def test_the_best_of_at_most_a_few_trees() -> None:
    document = run_command("optimum", "mi250:boxes=2", "--max-trees", 4, "--json").document()
    assert (document["trees_per_root"], document["algbw"]) == (3, "2400/7")


def test_the_list_of_numbers_of_trees_ends_with_the_optimum() -> None:
    began = time.process_time()
    document = run_command("optimum", "mi250:boxes=2", "--max-trees", 10**9, "--json").document()
    assert time.process_time() - began < 10
    rows = document["by_trees"]
    assert isinstance(rows, list)
    assert [row["trees_per_root"] for row in rows] == list(range(1, 84))
    assert [row["optimal"] for row in rows] == [False] * 82 + [True]
    assert (document["trees_per_root"], document["algbw"]) == (83, rows[-1]["algbw"]) == (83, "5312/15")


def test_the_text_report_says_that_more_trees_add_nothing() -> None:
    out = run_command("optimum", "dgx-a100:boxes=2", "--max-trees", 20).out
    assert (
        "  13  1040/3 GB/s (346.667), 100.00% of the optimum\n  More trees do not increase the bandwidth.\nBottleneck"
        in out
    )
    assert "do not increase" not in run_command("optimum", "dgx-a100:boxes=2", "--max-trees", 12).out


def test_the_text_report_names_the_bottleneck() -> None:
    run = run_command("optimum", "dgx-a100:boxes=2")
    assert (run.status, run.err) == (0, "")
    for words in ("1040/3 GB/s (346.667)", "13 per root", "b0/gpu0", "ib -> b0/gpu0", "325 / (15/16) = 1040/3"):
        assert words in run.out


def test_whole_boxes_are_named_as_boxes() -> None:
    out = run_command("optimum", "dgx-a100:boxes=4").out
    assert "The 8 GPUs of box 0 must receive 3/4 of the data from the other 24 GPUs" in out


def test_a_file_in_another_unit(tmp_path: Path) -> None:
    graph = {"format": "forestcoll.topology/1", "name": "lab", "bandwidth_unit": "Gbit/s"}
    path = write_network(tmp_path, [edge("a", "b", "0.1")], graph=graph)
    assert "lab: allgather over 2 compute nodes" in run_command("optimum", path).out
    document = run_command("optimum", path, "--json").document()
    assert (document["algbw"], document["unit"]) == ("1/5", "Gbit/s")


def test_bandwidths_wider_than_machine_words(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge("a", "b", 10**40), edge("b", "c", "1/7")], nodes="abc")
    assert run_command("optimum", path, "--json").document()["algbw"] == "3/14"


def test_a_switch_without_links_changes_nothing(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge("a", "b")], switches="s")
    assert run_command("optimum", path, "--json").document()["algbw"] == "20"
