from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from logs import devices, log

from forestcoll import explain_log
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.nccl.comparison import LogComparison, Verdict
from forestcoll.topology import write_topology
from forestcoll.topology.registry import build_topology

GIB = 2**30


def compared(text: str, folder: Path, topology: str = "dgx-a100:boxes=2", **options: str) -> LogComparison:
    file = folder / "nccl.log"
    file.write_text(text)
    return explain_log(topology, file, **options)  # type: ignore[arg-type]


def test_a_ring_of_nccl_is_normal_for_rings(tmp_path: Path) -> None:
    (test,) = compared(log("all_gather", {2**26: 150, GIB: 187}), tmp_path).tests
    assert test.collective is Collective.ALLGATHER
    assert (test.bound_algbw, test.rings_algbw) == (Fraction(1040, 3), Fraction(640, 3))
    assert test.best[0].size == GIB
    assert test.verdict is Verdict.NORMAL_FOR_RINGS
    assert [each.name("GB/s") for each in test.limiting] == [
        "1 link of 300 GB/s between GPUs and box switches",
        "1 link of 25 GB/s between GPUs and switches",
    ]
    assert [each.name("GB/s") for each in test.limiting_rings] == ["8 links of 25 GB/s between GPUs and switches"]


@pytest.mark.parametrize(
    ("algbw", "verdict"),
    [(360, Verdict.ABOVE), (300, Verdict.NORMAL), (180, Verdict.NORMAL_FOR_RINGS), (100, Verdict.LOW)],
)
def test_verdicts(algbw: float, verdict: Verdict, tmp_path: Path) -> None:
    assert compared(log("all_gather", {GIB: algbw}), tmp_path).tests[0].verdict is verdict


@pytest.mark.parametrize(
    ("test", "bound"),
    [
        ("all_gather", "1040/3"),
        ("reduce_scatter", "1040/3"),
        ("all_reduce", "520/3"),
        ("broadcast", "200"),
        ("reduce", "200"),
        ("alltoall", "50"),
    ],
)
def test_each_collective_has_its_bound(test: str, bound: str, tmp_path: Path) -> None:
    assert str(compared(log(test, {GIB: 90}), tmp_path).tests[0].bound_algbw) == bound


def test_all_tests_of_a_log(tmp_path: Path) -> None:
    text = log("all_gather", {GIB: 187}) + log("all_reduce", {GIB: 100}) + log("sendrecv", {GIB: 20})
    found = compared(text, tmp_path)
    assert [test.reason for test in found.tests] == ["", "", "there is no bound for sendrecv_perf"]
    assert found.tests[2].verdict is None


def test_the_unit_of_the_network_is_converted(tmp_path: Path) -> None:
    network = build_topology("dgx-a100:boxes=2")
    bits = network.sharing([8 * link.bandwidth for link in network.links])
    write_topology(replace(bits, bandwidth_unit="Gb/s"), tmp_path / "network.json")
    (test,) = compared(log("all_gather", {GIB: 187}), tmp_path, str(tmp_path / "network.json")).tests
    assert (test.bound_algbw, test.rings_algbw) == (Fraction(1040, 3), Fraction(640, 3))


def test_ranks_that_took_part(tmp_path: Path) -> None:
    (test,) = compared(log("all_gather", {GIB: 187}, ranks=8), tmp_path, ranks="0-7").tests
    assert test.demand is not None
    assert len(test.demand.members(build_topology("dgx-a100:boxes=2"))) == 8


def test_what_a_user_should_know_is_remarked(tmp_path: Path) -> None:
    small = compared(log("all_gather", {2**20: 20}).replace("      0", "      7"), tmp_path).tests[0]
    assert [remark.split(":")[0] for remark in small.remarks] == [
        "2 results have wrong values (#wrong is not 0)",
        "the largest message is less than 64 MiB",
    ]
    (other,) = compared(log("all_gather", {GIB: 187}, ranks=4, listed=False), tmp_path).tests
    assert other.remarks == ("busbw is 0.750 times algbw, not 0.938 as for 16 ranks",)


def test_a_test_of_single_ranks_has_no_bound(tmp_path: Path) -> None:
    text = log("all_gather", {GIB: 100}, ranks=1).replace("# Using devices\n", f"# Using devices\n{devices(1)}\n")
    assert "build nccl-tests with MPI=1" in compared(text, tmp_path).tests[0].reason
    groups = log("all_gather", {GIB: 100}).replace("Rank  3 Group  0", "Rank  3 Group  1")
    assert "2 groups ran at the same time" in compared(groups, tmp_path).tests[0].reason


def test_an_unnamed_test_needs_its_collective(tmp_path: Path) -> None:
    text = log("all_gather", {GIB: 187}, named=False)
    with pytest.raises(InputError, match="give --collective allgather or --collective all-to-all"):
        compared(text, tmp_path)
    assert compared(text, tmp_path, collective="all_gather").tests[0].collective is Collective.ALLGATHER
    with pytest.raises(InputError, match="cannot be an allreduce; its columns say allgather or all-to-all"):
        compared(text, tmp_path, collective="allreduce")
    (clear,) = compared(log("all_reduce", {GIB: 90}, named=False), tmp_path).tests
    assert clear.collective is Collective.ALLREDUCE


def test_another_number_of_ranks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ran on 8 ranks, and dgx-a100:boxes=2 has 16 compute nodes; name those"):
        compared(log("all_gather", {GIB: 187}, ranks=8), tmp_path)
    with pytest.raises(InputError, match=r"ran on 32 ranks, .*; give the network that was measured"):
        compared(log("all_gather", {GIB: 187}, ranks=32), tmp_path)
    with pytest.raises(InputError, match="ran on 16 ranks, and 8 are named"):
        compared(log("all_gather", {GIB: 187}), tmp_path, ranks="0-7")


def test_a_root_outside_the_ranks_is_refused(tmp_path: Path) -> None:
    text = log("broadcast", {GIB: 90}).replace("none       0", "none      16")
    with pytest.raises(InputError, match="has the root 16; expected 0 to 15"):
        compared(text, tmp_path)
