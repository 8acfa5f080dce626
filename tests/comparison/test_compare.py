"""The comparison as a value: its rows, sentences, files and refusals."""

import re
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll import Comparison, InputError, Topology, TopologyBuilder, compare, generate, write_schedule
from forestcoll.algorithms.boxes import Boxes
from forestcoll.comparison.link_classes import link_classes
from forestcoll.demand.demand import Demand
from forestcoll.presentation.results.comparisons.comparison import comparison_page
from forestcoll.topology import build_topology
from networks import linked


def compared(topology: str | Topology, baselines: Iterable[str], collective: str = "allgather") -> Comparison:
    return compare(topology, collective, baselines=baselines, sizes=[2**20])


def test_rows_are_in_the_order_of_their_algbw_and_the_optimum_is_always_there() -> None:
    found = compared("dgx-a100:boxes=2", ["direct", "nccl-ring", "two-level"])
    assert [row.name for row in found.rows] == ["forestcoll", "two-level", "nccl-ring", "direct"]
    assert found.optimal_algbw == found.row("forestcoll").algbw == Fraction(1040, 3)
    assert [row.share for row in found.rows] == [row.algbw / Fraction(1040, 3) for row in found.rows]
    assert [row.height for row in found.rows] == [2, 2, 15, 1]


ENTERS = "data enters each box 1.88 times: 15/16 M where 1/2 M would do; NIC links 100% busy, nvswitch links 58%"
TIES = "reaches the bound, so for large data no schedule is faster"


@pytest.mark.parametrize(
    ("topology", "collective", "name", "reason"),
    [
        ("dgx-a100:boxes=2", "allgather", "nccl-ring", f"^{ENTERS}$"),
        ("dgx-a100:boxes=2", "reduce-scatter", "nccl-ring", ENTERS.replace("enters", "leaves")),
        (
            "dgx-a100:boxes=2",
            "allreduce",
            "nccl-ring",
            "^data enters each box 1.88 times: 15/8 M where 1 M would do; NIC",
        ),
        (
            "dgx-a100:boxes=4",
            "allreduce",
            "nccl-ring",
            "^data enters each box 1.29 times: 31/16 M where 3/2 M would do; ",
        ),
        ("dgx-a100:boxes=4", "allreduce", "nccl-tree", "^data enters a box 1.33 times: 2 M where 3/2 M would do; NIC"),
        ("dgx-a100:boxes=4", "allreduce", "two-level", f"^a tie: it {TIES.replace('schedule', 'schedule of trees')}$"),
        ("dgx-a100:boxes=1", "allgather", "bruck", "^a tie"),
        ("dgx-a100:boxes=4", "allgather", "two-level", f"^a tie: it {TIES}$"),
        ("dgx-a100:boxes=4", "allgather", "forestcoll", f"^it {TIES}$"),
        ("dgx-a100:boxes=3", "allgather", "two-level", "^a tie: "),
        (
            *("dgx-a100:boxes=2", "allgather", "two-level"),
            "^nearly a tie, within 1.1% of the bound; nvswitch links 100% busy, NIC links 85%$",
        ),
        ("dgx-h100:boxes=2", "allgather", "two-level", "^nvswitch links 100% busy"),
        (
            *("mi250:boxes=1", "allgather", "rccl-ring"),
            "^15/16 M leaves the bottleneck cut, where 7/8 M would do; direct links 100% busy$",
        ),
        ("hypercube:dim=3", "allgather", "multitree", "links of 1 GB/s 100% busy$"),
    ],
)
def test_a_row_says_what_limits_it(topology: str, collective: str, name: str, reason: str) -> None:
    baselines = [] if name == "forestcoll" else [name]
    assert re.search(reason, compared(topology, baselines, collective).row(name).reason)


def test_steps_say_what_they_could_reach_without_barriers() -> None:
    found = compared("dgx-a100:boxes=2", ["recursive-doubling-far", "swing", "bruck"])
    far, swing, bruck = (row.reason for row in found.rows[1:])
    assert far == "nvswitch links 53% busy, NIC links 46%; without barriers at most 342.857 GB/s"
    assert swing.startswith(
        "data enters each box 2.25 times: 9/8 M where 1/2 M would do; NIC links 65% busy, nvswitch "
    )
    assert swing.endswith("links 15%; without barriers at most 80 GB/s")
    assert bruck.startswith("data enters each box 10.6 times: 85/16 M where 1/2 M would do; NIC links 100% busy")
    assert [(row.family, row.height) for row in found.rows] == [("trees", 2), *[("steps", 4)] * 3]


def test_data_that_enters_a_box_over_idle_nics_is_not_the_reason() -> None:
    builder = TopologyBuilder("slow switches")
    fabric = builder.add_switch("fabric")
    for box in range(2):
        switch = builder.add_switch(f"b{box}/switch", box=box)
        for gpu in range(4):
            builder.add_duplex(builder.add_compute(f"b{box}/gpu{gpu}", box=box), switch, 10)
            builder.add_duplex(f"b{box}/gpu{gpu}", fabric, 9)
    reason = compared(builder.build(), ["nccl-ring"]).row("nccl-ring").reason
    assert reason == "switch links 100% busy, NIC links 37%"


def test_nvls_counts_the_data_of_the_heads() -> None:
    row = compared("dgx-h100:boxes=1,nvls=true", ["nvls"], "allreduce").row("nvls")
    assert (row.algbw, row.share) == (Fraction(400), Fraction(8, 9))
    assert row.reason.endswith("the algbw counts that each GPU's own data passes the switch, too")
    assert row.times[0].size == 2**20
    assert row.times[0].algbw == pytest.approx(2**20 / row.times[0].seconds / 1e9)
    assert row.times[0].algbw < 400


def test_what_does_not_apply_has_a_reason_and_no_row() -> None:
    found = compared("dgx-a100:boxes=2", ["blink", "nvls", "nccl-ring"])
    assert [each.name for each in found.skipped] == ["blink", "nvls"]
    assert found.skipped[0].reason == "not an algorithm for an allgather"
    with pytest.raises(KeyError, match="blink"):
        found.row("blink")


def test_times_are_left_out_if_the_size_of_the_unit_is_not_known() -> None:
    found = compared(linked("a b", "a=b", bandwidth_unit="apples"), ["direct"])
    assert [(row.name, row.times) for row in found.rows] == [("forestcoll", ()), ("direct", ())]


def test_a_comparison_is_a_table_of_records() -> None:
    found = compared("dgx-a100:boxes=2", ["nccl-ring"])
    first, second = found.records()
    assert list(first) == list(second)
    assert (first["name"], first["share"]) == ("forestcoll", 1.0)
    assert (second["name"], second["height"], second["algbw"]) == ("nccl-ring", 15, pytest.approx(640 / 3))
    assert all(each["time_us_1048576"] > 0 for each in (first, second))  # type: ignore[operator]
    assert repr(found).startswith("<Comparison: allgather on 'dgx-a100:boxes=2': forestcoll, ")


def test_classes_of_links() -> None:
    topology = generate("dgx-a100:boxes=2,pcie=true").topology
    names = link_classes(topology, Boxes(topology, topology.compute))
    assert set(names) == {"nvswitch links", "pcie links", "pcie to nic links", "NIC links"}
    assert len(names["NIC links"]) == 32


def saved(folder: Path, topology: str, collective: str = "allgather") -> Path:
    file = folder / "schedule.json"
    write_schedule(generate(topology, collective), file)
    return file


def test_a_schedule_from_a_file_is_a_row(tmp_path: Path) -> None:
    file = saved(tmp_path, "dgx-a100:boxes=2")
    row = compare("dgx-a100:boxes=2", baselines=[file]).row(str(file))
    assert row.algbw == Fraction(1040, 3)
    assert row.reason.startswith("a tie")
    write_schedule(generate(build_topology("ring:nodes=4"), method="bfb"), file)
    row = compare("ring:nodes=4", baselines=[file]).row(str(file))
    assert (row.family, row.height) == ("steps", 2)


def test_a_schedule_for_another_question_is_refused(tmp_path: Path) -> None:
    for topology, collective, message in (
        ("dgx-a100:boxes=2", "allreduce", "another collective"),
        ("dgx-a100:boxes=2,nic_bandwidth=50", "allgather", "another network"),
        ("dgx-a100:boxes=4", "allgather", "another network"),
    ):
        with pytest.raises(InputError, match=message):
            compare("dgx-a100:boxes=2", baselines=[saved(tmp_path, topology, collective)])


def test_a_wrong_schedule_is_a_row_that_is_not_valid(tmp_path: Path) -> None:
    file = saved(tmp_path, "ring:nodes=4")
    text = file.read_text()
    changed = text.replace('"algbw": "8/3"', '"algbw": "3"')
    assert changed != text
    file.write_text(changed)
    found = compare("ring:nodes=4", baselines=[file])
    row = found.rows[-1]
    assert (row.name, row.valid, len(row.times)) == (str(file), False, 0)
    assert row.algbw == 0
    assert row.schedule is None
    assert row.reason.startswith("not valid: ")
    assert "algbw" in row.reason
    document: Any = comparison_page(found).document()
    for rows in (found.records(), document["rows"]):
        assert [each["valid"] for each in rows] == [True, False]
    assert "not valid" in "\n".join(comparison_page(found).lines())


def test_each_cut_has_the_data_that_crosses_it_and_the_data_that_must() -> None:
    found = compared("dgx-a100:boxes=4", ["nccl-ring", "two-level"])
    half = {row.name: [(each.cut, each.crosses, each.needed) for each in row.cuts] for row in found.rows}
    assert half["nccl-ring"] == [("into a box", Fraction(31, 32), Fraction(3, 4))]
    assert half["two-level"] == half["forestcoll"] == [("into a box", Fraction(3, 4), Fraction(3, 4))]
    (record,) = (each for each in found.records() if each["name"] == "nccl-ring")
    assert (record["into_a_box"], record["into_a_box_needed"]) == (31 / 32, 3 / 4)
    reversed_ = compared("dgx-a100:boxes=4", ["nccl-ring"], "reduce-scatter").row("nccl-ring")
    assert [each.cut for each in reversed_.cuts] == ["out of a box"]
    (cut,) = compared("mi250:boxes=1", ["rccl-ring"]).row("rccl-ring").cuts
    assert (cut.cut, cut.crosses, cut.needed) == ("out of the bottleneck cut", Fraction(15, 16), Fraction(7, 8))


def test_a_name_that_is_given_twice_has_one_row() -> None:
    found = compare("ring:nodes=4", baselines=["pairwise", "openmpi", "pairwise", "openmpi"])
    assert [row.name for row in found.rows] == ["forestcoll", "pairwise", "openmpi"]


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    for collective in ("broadcast", "reduce"):
        with pytest.raises(InputError, match="use one of allgather, reduce-scatter, allreduce, all-to-all"):
            compare("ring:nodes=4", Demand(collective, root=0))
    with pytest.raises(InputError, match=r"'trees' is not the name of an algorithm; .*there are bine, blink"):
        compare("ring:nodes=4", baselines=["trees"])
    for name, meant in (("openmpii", "openmpi"), ("mpitch", "mpich"), ("te-ccl:epochs=2", "te-ccl")):
        problem = f"'{name}' is not the name of an algorithm; did you mean '{meant}'. .*, mpich"
        with pytest.raises(InputError, match=problem):
            compare("ring:nodes=4", baselines=[name])
    with pytest.raises(InputError, match="no such file"):
        compare("ring:nodes=4", baselines=[tmp_path / "missing.json"])


def test_no_algorithm_is_faster_than_our_row_for_any_size() -> None:
    names = ["two-level", "direct", "swing", "multitree"]
    found = compare("dgx-1:boxes=1", "allreduce", sizes=[2**16, 2**20, 10_000_000, 2**30], baselines=names)
    own = found.row("forestcoll")
    for place, best in enumerate(own.best):
        fastest = min(row.times[place].seconds for row in found.rows)
        assert own.times[place] == best.point
        assert best.point.seconds <= fastest * 1.005
        assert 0 < best.share <= 1


@pytest.mark.slow
def test_our_row_takes_an_algorithm_that_searches_if_it_is_faster() -> None:
    found = compare("dgx-1:boxes=1", "allgather", sizes=[10_000_000], baselines=["milp"])
    (best,) = found.row("forestcoll").best
    assert best.point.seconds <= min(row.times[0].seconds for row in found.rows) * 1.005
