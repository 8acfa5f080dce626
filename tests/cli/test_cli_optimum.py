import time
from fractions import Fraction
from pathlib import Path

from cli_run import edge, json_of, run_command, write_network

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


def test_json_has_the_documented_keys() -> None:
    document = json_of("optimum", "mi250:boxes=2")
    assert set(document) >= CONTRACT
    assert document["collective"] == "allgather"
    assert (document["compute_nodes"], document["unit"]) == (32, "GB/s")
    assert (document["trees_per_root"], document["tree_bandwidth"]) == (83, "2/15")
    assert document["algbw_float"] == float(Fraction(5312, 15))


def test_the_list_of_numbers_of_trees_ends_with_the_optimum() -> None:
    began = time.process_time()
    document = json_of("optimum", "mi250:boxes=2", "--max-trees", 10**9)
    assert time.process_time() - began < 10
    rows = document["by_trees"]
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


def test_whole_boxes_are_named_as_boxes() -> None:
    out = run_command("optimum", "dgx-a100:boxes=4").out
    assert "The 8 GPUs of box 0 must receive 3/4 of the data from the other 24 GPUs" in out


def test_a_file_in_another_unit(tmp_path: Path) -> None:
    graph = {"format": "forestcoll.topology/1", "name": "lab", "bandwidth_unit": "Gbit/s"}
    path = write_network(tmp_path, [edge("a", "b", "0.1")], graph=graph)
    assert "lab: allgather over 2 compute nodes" in run_command("optimum", path).out
    document = json_of("optimum", path)
    assert (document["algbw"], document["unit"]) == ("1/5", "Gbit/s")
