"""Logs of nccl-tests compared with bounds, and what `forestcoll explain` shows of them."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from logs import devices, log

from forestcoll import explain
from forestcoll.demand.collective import Collective
from forestcoll.nccl.comparison import LogComparison, Verdict
from forestcoll.presentation.results.measurements.measured import comparison_page
from forestcoll.topology import write_topology
from forestcoll.topology.registry import build_topology
from refusal import refusal

GIB = 2**30
Compared = Callable[..., LogComparison]


@pytest.fixture
def compared(tmp_path: Path) -> Compared:
    def compare(text: str, topology: str = "dgx-a100:boxes=2", **options: Any) -> LogComparison:
        (tmp_path / "nccl.log").write_text(text)
        return explain(topology, tmp_path / "nccl.log", **options)

    return compare


def only_test(found: LogComparison) -> Any:
    """Return the JSON object of the only test."""
    tests: Any = comparison_page(found).document()["tests"]
    assert len(tests) == 1
    return tests[0]


def row_labels(found: LogComparison) -> dict[str, str]:
    """Return the rows of the figures of the only test, by their labels."""
    lines = [line.strip().split("  ", 1) for line in comparison_page(found).lines()]
    return {words[0]: words[1].strip() for words in lines if len(words) == 2}


def test_a_ring_of_nccl_is_normal(compared: Compared) -> None:
    (test,) = compared(log("all_gather", {2**26: 150, GIB: 187})).tests
    assert test.collective is Collective.ALLGATHER
    assert (test.bound_algbw, test.rings_algbw) == (Fraction(1040, 3), Fraction(640, 3))
    assert test.best[0] is not None
    assert test.best[0].size == GIB
    assert test.verdict is Verdict.NORMAL
    assert test.limits[0].usual.algorithm == "rings"
    assert [each.name("GB/s") for each in test.limiting] == [
        "1 link of 300 GB/s between GPUs and box switches",
        "1 link of 25 GB/s between GPUs and switches",
    ]
    assert [each.name("GB/s") for each in test.limiting_rings] == ["8 links of 25 GB/s between GPUs and switches"]


SENTENCES = {
    ("all_gather", 360): "above the bound: the network or the collective is not the one that was measured",
    ("all_gather", 300): "normal: as usual with any schedule",
    (
        "all_gather",
        180,
    ): "normal: as usual with rings; the rest of the bound needs another schedule",
    ("all_gather", 120): "low: less than usual with rings; check the links below, and the size of the messages",
    (
        "all_gather",
        20,
    ): "very low: less than half of what is usual with rings; a part has failed",
    ("all_reduce", 100): "normal: as usual with rings",
    ("all_reduce", 115): "normal: as usual with trees",
}


def test_the_verdict_is_a_sentence(compared: Compared) -> None:
    """On two boxes of A100 without published figures: 60 to 95 % of what rings (640/3) or trees reach is usual."""
    for (test, algbw), sentence in SENTENCES.items():
        found = compared(log(test, {GIB: algbw}))
        assert row_labels(found)["verdict"].startswith(sentence), (test, algbw)


def test_each_collective_has_its_bound(compared: Compared) -> None:
    bounds = {"all_gather": "1040/3", "reduce_scatter": "1040/3", "all_reduce": "520/3", "broadcast": "200"}
    for test, bound in (bounds | {"reduce": "200", "alltoall": "50"}).items():
        assert str(compared(log(test, {GIB: 90})).tests[0].bound_algbw) == bound, test


def test_all_tests_of_a_log_their_ranks_and_the_unit_of_the_network(compared: Compared, tmp_path: Path) -> None:
    text = log("all_gather", {GIB: 187}) + log("all_reduce", {GIB: 100}) + log("sendrecv", {GIB: 20})
    found = compared(text)
    assert [test.reason for test in found.tests] == ["", "", "there is no bound for sendrecv_perf"]
    assert found.tests[2].verdict is None
    (test,) = compared(log("all_gather", {GIB: 187}, ranks=8), ranks="0-7").tests
    assert test.demand is not None
    assert len(test.demand.members(build_topology("dgx-a100:boxes=2"))) == 8
    network = build_topology("dgx-a100:boxes=2")
    bits = network.sharing([8 * link.bandwidth for link in network.links])
    write_topology(replace(bits, bandwidth_unit="Gb/s"), tmp_path / "network.json")
    (test,) = compared(log("all_gather", {GIB: 187}), str(tmp_path / "network.json")).tests
    assert (test.bound_algbw, test.rings_algbw) == (Fraction(1040, 3), Fraction(640, 3))


def test_what_a_user_should_know_is_remarked(compared: Compared) -> None:
    small = compared(log("all_gather", {2**20: 20}).replace("      0", "      7")).tests[0]
    assert [remark.split(":")[0] for remark in small.remarks] == [
        "2 results have wrong values (#wrong is not 0)",
        "the largest message is less than 64 MiB",
    ]
    assert row_labels(compared(log("all_gather", {2**20: 20})))["verdict"] == (
        "very low: but the messages are too small for a verdict about bandwidth"
    )
    (other,) = compared(log("all_gather", {GIB: 187}, ranks=4, listed=False)).tests
    assert other.remarks == ("busbw is 0.750 times algbw, not 0.938 as for 16 ranks",)


def test_an_unnamed_test_needs_its_collective(compared: Compared) -> None:
    text = log("all_gather", {GIB: 187}, named=False)
    assert "give --collective allgather or --collective all-to-all" in refusal(compared, text)
    assert compared(text, collective="all_gather").tests[0].collective is Collective.ALLGATHER
    said = refusal(compared, text, collective="allreduce")
    assert "cannot be an allreduce; its columns say allgather or all-to-all" in said
    (clear,) = compared(log("all_reduce", {GIB: 90}, named=False)).tests
    assert clear.collective is Collective.ALLREDUCE


def test_another_number_of_ranks_and_a_root_outside_them_are_refused(compared: Compared) -> None:
    def said(count: int, **options: str) -> str:
        return refusal(compared, log("all_gather", {GIB: 187}, count), **options)

    assert "ran on 8 ranks, and dgx-a100:boxes=2 has 16 compute nodes; name those" in said(8)
    assert "ran on 32 ranks, " in said(32)
    assert "; give the network that was measured" in said(32)
    assert "ran on 16 ranks, and 8 are named" in said(16, ranks="0-7")
    text = log("broadcast", {GIB: 90}).replace("none       0", "none      16")
    assert "has the root 16; expected 0 to 15" in refusal(compared, text)


def test_a_test_without_a_bound_says_why_and_keeps_its_rows(compared: Compared) -> None:
    found = compared(log("sendrecv", {GIB: 20}))
    lines = comparison_page(found).lines()
    assert lines[1] == "sendrecv_perf (line 24): there is no bound for sendrecv_perf."
    assert any(line.strip().startswith("1GiB") and " - " in line for line in lines)
    document = only_test(found)
    assert (document["reason"], document["bound_algbw"]) == ("there is no bound for sendrecv_perf", None)
    assert (document["library_algbw"], document["library_best_algbw"], document["verdict"]) == (None, None, None)
    assert document["rows"][0]["out_of_place"]["share"] is None
    text = log("all_gather", {GIB: 100}, ranks=1).replace("# Using devices\n", f"# Using devices\n{devices(1)}\n")
    assert "build nccl-tests with MPI=1" in compared(text).tests[0].reason
    groups = log("all_gather", {GIB: 100}).replace("Rank  3 Group  0", "Rank  3 Group  1")
    assert "2 groups ran at the same time" in compared(groups).tests[0].reason


def test_tests_of_one_rank_are_named(compared: Compared) -> None:
    """Without MPI=1, each process runs a test of its own."""
    alone = log("all_reduce", {GIB: 600}, ranks=1)
    found = compared(alone + alone)
    assert [test.reason for test in found.tests] == [
        "it ran on one rank, so processes did not run one collective; build nccl-tests with MPI=1"
    ] * 2
    unlisted = log("all_reduce", {GIB: 600}, ranks=1, listed=False)
    assert "it ran on one rank" in compared(unlisted).tests[0].reason


def test_a_log_is_shown_without_a_network(tmp_path: Path) -> None:
    (tmp_path / "nccl.log").write_text(log("all_reduce", {GIB: 100}) + log("all_gather", {GIB: 9}, named=False))
    found = explain(None, tmp_path / "nccl.log")
    assert [test.collective for test in found.tests] == [Collective.ALLREDUCE, None]
    document = comparison_page(found).document()
    assert document["topology"] is None
    lines = comparison_page(found).lines()
    assert lines[1] == "allreduce (line 24): no network was given, so there is no bound."
    assert any(line.startswith("a test (line") for line in lines)


def test_a_report_of_ras_lists_missing_ranks(tmp_path: Path) -> None:
    lost = [{"rank": 2, "host": "10.0.0.10", "pid": 4001}]
    small = {"hash": "0x2", "size": 2, "ranks": [], "missing_ranks": [{"rank": 0}, {"rank": 1}]}
    world = {"hash": "0x1", "size": 4, "ranks": [], "missing_ranks": lost}
    (tmp_path / "ras.json").write_text(json.dumps({"communicators": [small, world]}))
    found = explain(None, tmp_path / "ras.json")
    document = comparison_page(found).document()
    assert document["missing_ranks"] == [2]
    assert document["ras"] == [
        {
            "communicator": "0x2",
            "ranks": 2,
            "missing": [{"rank": 0, "host": "", "pid": None}, {"rank": 1, "host": "", "pid": None}],
            "late": [],
        },
        {"communicator": "0x1", "ranks": 4, "missing": lost, "late": []},
    ]
    assert comparison_page(found).lines()[1:] == [
        "Communicator 0x2 of 2 ranks: missing: rank 0, rank 1.",
        "Communicator 0x1 of 4 ranks: missing: rank 2 (process 4001 on 10.0.0.10).",
    ]


def test_a_table_that_names_the_algorithm_is_compared_with_it(compared: Compared) -> None:
    """40 % of rings is low, even if another algorithm would fit better."""
    text = log("all_reduce", {GIB: 240}, ranks=8).replace("#wrong\n", "#wrong algo proto nchannels\n")
    lines = [f"{line} RING SIMPLE 64" if "float" in line else line for line in text.splitlines()]
    (named,) = compared("\n".join(lines), "dgx-h100:boxes=1").tests
    (free,) = compared(text, "dgx-h100:boxes=1").tests
    assert [each.limits[0].usual.algorithm for each in (named, free)] == ["rings", "NVLS"]


def test_a_log_without_results_in_place_has_gaps(compared: Compared) -> None:
    """Old versions of rccl-tests print one group of columns."""
    text = """# Collective test starting: all_gather_perf
#  size  count  type  redop  root  time  algbw  busbw #wrong
1073741824 16777216 float none -1 5368.7 200.00 187.50 0
"""
    found = compared(text)
    document = only_test(found)
    assert document["rows"][0]["in_place"] is None
    assert document["rows"][0]["out_of_place"]["algbw"] == pytest.approx(200, abs=0.01)
    assert any(line.split()[-4:] == ["-"] * 4 for line in comparison_page(found).lines())


def test_only_some_of_the_skipped_lines_are_listed(compared: Compared) -> None:
    """All of them are in the JSON document."""
    good = log("all_gather", {GIB: 187})
    wrong = log("all_gather", {GIB: 187}).replace(" 187.00 ", " 999.00 ").splitlines()[-4]
    found = compared(good.replace("# Out of", "\n".join([wrong] * 9) + "\n# Out of"))
    skipped: Any = comparison_page(found).document()["skipped"]
    assert len(skipped) == 9
    lines = [line for line in comparison_page(found).lines() if " skipped" in line]
    assert len(lines) < 9
    assert lines[0].startswith(f"Line {skipped[0]['line']} was skipped: ")
    assert lines[-1] == f"{9 - (len(lines) - 1)} more lines were skipped; --json lists them."


def test_an_all_to_all_has_no_rings_and_no_single_cut(compared: Compared) -> None:
    found = compared(log("alltoall", {GIB: 40}))
    labels = row_labels(found)
    assert "NCCL's rings" not in labels
    assert "limited by" not in labels
    assert labels["measured"].endswith("80.00% of the bound")
    document = only_test(found)
    assert (document["ring_algbw"], document["limiting_links"]) == (None, [])
