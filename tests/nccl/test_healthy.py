"""What healthy machines reach, and the verdicts that follow."""

from fractions import Fraction
from typing import Any

import pytest

from forestcoll.demand.collective import Collective
from forestcoll.nccl.comparison import TestComparison, Verdict, judge_busbw
from forestcoll.nccl.healthy import _rows, usual_shares, with_nvls
from forestcoll.presentation.results.measurements.measured import comparison_page
from forestcoll.topology.registry import build_topology
from refusal import refusal

NORMAL, LOW, VERY_LOW, ABOVE = Verdict.NORMAL, Verdict.LOW, Verdict.VERY_LOW, Verdict.ABOVE
ALLREDUCE, ALLGATHER = "allreduce", "allgather"


def judged(spec: str, busbw: float, collective: str = ALLREDUCE, ranks: str | None = None) -> TestComparison:
    (found,) = judge_busbw(spec, busbw, collective, ranks=ranks).tests
    return found


@pytest.mark.parametrize(
    ("spec", "busbw", "collective", "verdict", "algorithm"),
    [
        ("dgx-a100:boxes=1", 231, ALLREDUCE, NORMAL, "rings"),
        ("dgx-a100:boxes=1", 208, ALLREDUCE, NORMAL, "rings"),
        ("dgx-a100:boxes=1", 150, ALLREDUCE, LOW, "rings"),
        ("hgx-a100-4:boxes=1", 198, ALLREDUCE, NORMAL, "rings"),
        ("dgx-h100:boxes=1", 360, ALLREDUCE, NORMAL, "rings"),
        ("dgx-h100:boxes=1", 370, ALLGATHER, NORMAL, "rings"),
        ("dgx-h100:boxes=1", 480, ALLREDUCE, NORMAL, "NVLS"),
        ("dgx-h100:boxes=1,nvls=true", 480, ALLREDUCE, NORMAL, "NVLS"),
        ("dgx-h100:boxes=1", 420, ALLREDUCE, LOW, "NVLS"),
        ("dgx-h100:boxes=1", 300, ALLREDUCE, LOW, "rings"),
        ("dgx-h100:boxes=1", 150, ALLREDUCE, VERY_LOW, "rings"),
        ("dgx-h100:boxes=1", 800, ALLREDUCE, ABOVE, "NVLS"),
        ("dgx-h100:boxes=1", 480, ALLGATHER, ABOVE, "any"),
        ("dgx-h200:boxes=1", 475, ALLREDUCE, NORMAL, "NVLS"),
        ("gb200-nvl72", 840, ALLREDUCE, NORMAL, "NVLS"),
        ("mi300x:boxes=1", 310, ALLREDUCE, NORMAL, "rings"),
        ("dgx-h100:boxes=4", 330, ALLREDUCE, NORMAL, "rings"),
        ("dgx-h100:boxes=4", 60, ALLREDUCE, VERY_LOW, "rings"),
        ("dgx-h100:boxes=2", 75, "all-to-all", NORMAL, "any"),
        ("dgx-h100:boxes=2", 300, "broadcast", NORMAL, "any"),
    ],
)
def test_what_was_published_of_healthy_machines_is_normal(
    spec: str, busbw: float, collective: str, verdict: Verdict, algorithm: str
) -> None:
    found = judged(spec, busbw, collective)
    assert found.limit is not None
    assert (found.verdict, found.limit.usual.algorithm) == (verdict, algorithm)


@pytest.mark.parametrize(("spec", "ranks", "share"), [("mi250:boxes=1", 16, 61), ("mi250:boxes=2", 32, 53)])
def test_mi250_reaches_a_share_of_the_bound_of_any_schedule(spec: str, ranks: int, share: int) -> None:
    for collective in (Collective.ALLGATHER, Collective.ALLREDUCE):
        bound = judged(spec, 1, collective.value).bound_algbw
        assert bound is not None
        best = float(bound * collective.busbw_factor(ranks)) * share / 100
        assert judged(spec, best, collective.value).verdict is NORMAL
        assert judged(spec, best * 0.8, collective.value).verdict is LOW


def test_each_line_of_the_table_has_a_source_and_fits_a_network() -> None:
    """A line that no network has would never be used."""
    specs = ("dgx-a100:boxes=1", "hgx-a100-4:boxes=1", "dgx-h100:boxes=1", "dgx-h200:boxes=1", "gb200-nvl72")
    networks = [build_topology(each) for each in (*specs, "mi300x:boxes=1", "mi250:boxes=1", "mi250:boxes=2")]
    used = [usual_shares(each, each.compute, Collective.ALLREDUCE) for each in networks]
    assert {id(usual) for each in used for usual in each} == {id(row[-1]) for row in _rows()}
    for machine, _, _, usual in _rows():
        assert usual.source, machine
        assert 0 < usual.low <= usual.high < 1, machine


def test_a_part_of_a_machine_has_a_line_of_its_own() -> None:
    box = build_topology("dgx-a100:boxes=1")
    (half,) = usual_shares(box, range(4), Collective.ALLREDUCE)
    assert half.high == Fraction(66, 100)
    assert usual_shares(box, range(5), Collective.ALLREDUCE) == []
    assert usual_shares(box, range(8), Collective.BROADCAST) == []


@pytest.mark.parametrize(
    ("spec", "busbw"),
    [("dgx-h100:boxes=2", 350), ("dgx-h100:boxes=2", 470), ("dgx-a100:boxes=2", 208), ("mi300x:boxes=2", 310)],
)
def test_a_test_of_one_box_of_several_is_compared_with_the_links_of_the_box(spec: str, busbw: float) -> None:
    """Published figures are of boxes alone; relays over the NICs of a larger network do not count."""
    alone, part = judged(spec.replace("=2", "=1"), busbw), judged(spec, busbw, ranks="0-7")
    assert (part.verdict, part.limit) == (NORMAL, alone.limit)


def test_switches_add_up_only_in_machines_that_can() -> None:
    box = build_topology("dgx-h100:boxes=2")
    sums = with_nvls(box, box.compute)
    assert sums is not None
    assert [str(sums.nodes[each].id) for each in sums.able_switches] == ["b0/nvswitch", "b1/nvswitch"]
    assert with_nvls(build_topology("dgx-a100:boxes=2"), range(16)) is None
    assert with_nvls(box, (0, 8)) is None
    broken = box.without("b0/gpu0--b0/nvswitch")
    half = with_nvls(broken, broken.compute)
    assert half is not None
    assert [str(half.nodes[each].id) for each in half.able_switches] == ["b1/nvswitch"]
    assert with_nvls(sums, box.compute) is sums


def test_rings_where_nvls_is_usual_are_remarked() -> None:
    (remark,) = judged("dgx-h100:boxes=1", 360).remarks
    assert remark == "healthy machines reach busbw 470 with NVLS, which did not run; NCCL_DEBUG=INFO says why"
    assert judged("dgx-h100:boxes=1", 480).remarks == ()


def test_a_result_that_no_rings_reach_is_remarked() -> None:
    (remark,) = judged("dgx-a100:boxes=2", 260, ALLGATHER).remarks
    assert remark == "no rings reach this, so another library ran, or the network is not the one that was measured"
    assert judged("dgx-a100:boxes=2", 150, ALLGATHER).remarks == ()


def test_a_figure_has_a_page_and_a_document() -> None:
    found = judge_busbw("dgx-h100:boxes=1", "480", "all_reduce")
    document: Any = comparison_page(found).document()
    (test,) = document["tests"]
    assert (test["verdict"], test["rows"]) == ("normal", [])
    assert test["best"] == {"size": None, "algbw": pytest.approx(480 / 1.75), "busbw": 480.0, "share": 1.066667}
    assert test["usual"] == {
        "algorithm": "NVLS",
        "share": 0.5968,
        "most_share": 0.6095,
        "of_algbw": "450",
        "source": "NVIDIA/nccl#1374 #1455; NVIDIA/nccl-tests#212 #238 #366",
    }
    assert (test["library_algbw"], test["library_best_algbw"], test["ring_algbw"]) == ("400", "400", "1800/7")
    lines = comparison_page(found).lines()
    assert lines[0] == "busbw 480 GB/s on dgx-h100:boxes=1"
    assert any(line.startswith("  NVLS") and "60.95%" in line for line in lines)


def test_what_the_library_could_reach_is_null_if_not_known() -> None:
    document: Any = comparison_page(judge_busbw("dgx-h100:boxes=2", 40, "all-to-all")).document()
    assert (document["tests"][0]["library_algbw"], document["tests"][0]["library_best_algbw"]) == (None, None)


def test_a_wrong_figure_is_refused() -> None:
    for busbw in ("fast", 0, -3, "1e999999"):
        assert "expected GB/s, a number greater than 0 of at most 60 digits" in refusal(
            judge_busbw, "ring:nodes=4", busbw, "allreduce"
        )
    assert "a gather has no busbw" in refusal(judge_busbw, "ring:nodes=4", 3, "gather")
