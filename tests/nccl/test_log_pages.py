"""What `forestcoll explain` shows of a log: tests without a bound, missing results, skipped lines, verdicts."""

from pathlib import Path
from typing import Any

import pytest
from logs import log

from forestcoll import explain_log
from forestcoll.nccl.comparison import LogComparison
from forestcoll.presentation.results.measurements.measured import comparison_document, comparison_page

GIB = 2**30


def compared(text: str, folder: Path) -> LogComparison:
    file = folder / "nccl.log"
    file.write_text(text)
    return explain_log("dgx-a100:boxes=2", file)


def only_test(found: LogComparison) -> Any:
    """Return the JSON object of the only test."""
    tests: Any = comparison_document(found)["tests"]
    assert len(tests) == 1
    return tests[0]


def row_labels(found: LogComparison) -> dict[str, str]:
    """Return the rows of the figures of the only test, by their labels."""
    lines = [line.strip().split("  ", 1) for line in comparison_page(found).lines()]
    return {words[0]: words[1].strip() for words in lines if len(words) == 2}


def test_a_test_without_a_bound_says_why_and_keeps_its_rows(tmp_path: Path) -> None:
    found = compared(log("sendrecv", {GIB: 20}), tmp_path)
    lines = comparison_page(found).lines()
    assert lines[1] == "sendrecv_perf (line 24): there is no bound for sendrecv_perf."
    assert any(line.strip().startswith("1GiB") and " - " in line for line in lines)
    document = only_test(found)
    assert (document["reason"], "bound_algbw" in document) == ("there is no bound for sendrecv_perf", False)
    assert document["rows"][0]["out_of_place"]["share"] is None


def test_a_log_without_results_in_place_has_gaps(tmp_path: Path) -> None:
    """Old versions of rccl-tests print one group of columns."""
    text = """# Collective test starting: all_gather_perf
#  size  count  type  redop  root  time  algbw  busbw #wrong
1073741824 16777216 float none -1 5368.7 200.00 187.50 0
"""
    found = compared(text, tmp_path)
    document = only_test(found)
    assert document["rows"][0]["in_place"] is None
    assert document["rows"][0]["out_of_place"]["algbw"] == pytest.approx(200, abs=0.01)
    assert any(line.split()[-4:] == ["-"] * 4 for line in comparison_page(found).lines())


def test_only_some_of_the_skipped_lines_are_listed(tmp_path: Path) -> None:
    """All of them are in the JSON document."""
    good = log("all_gather", {GIB: 187})
    wrong = log("all_gather", {GIB: 187}).replace(" 187.00 ", " 999.00 ").splitlines()[-4]
    found = compared(good.replace("# Out of", "\n".join([wrong] * 9) + "\n# Out of"), tmp_path)
    skipped: Any = comparison_document(found)["skipped"]
    assert len(skipped) == 9
    lines = [line for line in comparison_page(found).lines() if " skipped" in line]
    assert len(lines) < 9
    assert lines[0].startswith(f"Line {skipped[0]['line']} was skipped: ")
    assert lines[-1] == f"{9 - (len(lines) - 1)} more lines were skipped; --json lists them."


@pytest.mark.parametrize(
    ("test", "algbw", "verdict"),
    [
        ("all_gather", 300, "normal: large messages usually reach 80 to 91 % of nominal bandwidth"),
        ("all_gather", 180, "normal for rings: the rest of the bound needs another schedule, not other hardware"),
        ("all_gather", 400, "above the bound: the network or the collective is not the one that was measured"),
        ("all_reduce", 20, "; NCCL may also use trees or NVLS for an allreduce (NCCL_DEBUG=INFO says which)"),
    ],
)
def test_the_verdict_is_a_sentence(test: str, algbw: float, verdict: str, tmp_path: Path) -> None:
    assert row_labels(compared(log(test, {GIB: algbw}), tmp_path))["verdict"].endswith(verdict)


def test_an_all_to_all_has_no_rings_and_no_single_cut(tmp_path: Path) -> None:
    found = compared(log("alltoall", {GIB: 40}), tmp_path)
    labels = row_labels(found)
    assert "NCCL's rings" not in labels
    assert "limited by" not in labels
    assert labels["best"].endswith("80.00% of the bound")
    document = only_test(found)
    assert (document["ring_algbw"], document["limiting_links"]) == (None, [])
