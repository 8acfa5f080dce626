"""Causes of a low bandwidth."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll.nccl.comparison import LogComparison, judge_busbw
from forestcoll.presentation.results.measurements.measured import comparison_page
from forestcoll.topology import Topology
from forestcoll.topology.changes import change_named
from forestcoll.topology.importers.reading import import_topology
from forestcoll.topology.registry import build_topology
from forestcoll.what_if.causes import MOST_CAUSES, with_causes
from shuffled_hosts import shuffled


def judged(network: str | Topology, busbw: float, collective: str = "allreduce") -> LogComparison:
    return with_causes(judge_busbw(network, busbw, collective))


def changes(found: LogComparison) -> list[str]:
    (test,) = found.tests
    return [each.change for each in test.causes]


@pytest.mark.parametrize(
    ("spec", "busbw", "collective", "first"),
    [
        ("dgx-a100:boxes=1", 150, "allreduce", "--degrade b0/gpu0--b0/nvswitch=75%"),
        ("dgx-a100:boxes=1", 110, "allreduce", "--degrade b0/gpu0--b0/nvswitch=50%"),
        ("dgx-h100:boxes=4", 160, "allgather", "NCCL_NET_GDR_LEVEL=LOC"),
        ("dgx-h100:boxes=4", 230, "allgather", "--without b0/gpu0--ib,b0/gpu1--ib"),
        ("hgx-a100-4:boxes=1", 132, "allreduce", "--without b0/gpu0--b0/gpu1"),
        ("mi300x:boxes=1", 221, "allreduce", "--without b0/gpu0--b0/gpu1,b0/gpu0--b0/gpu2"),
    ],
)
def test_the_best_cause_explains_the_figure(spec: str, busbw: float, collective: str, first: str) -> None:
    (test,) = judged(spec, busbw, collective).tests
    assert test.causes[0].change == first
    assert float(test.causes[0].busbw) == pytest.approx(busbw, rel=0.12)
    assert len(test.causes) <= MOST_CAUSES
    assert [each.rank for each in test.causes] == sorted(each.rank for each in test.causes)


def test_each_change_of_links_is_an_option_of_the_command() -> None:
    """What a cause names is accepted by --without and --degrade, and lowers what rings reach as much as expected."""
    network = build_topology("dgx-h100:boxes=4")
    causes = judged(network, 200, "allgather").tests[0].causes
    assert {each.change.split()[0] for each in causes} >= {"--without", "--degrade"}
    for cause in causes:
        option, _, value = cause.change.partition(" ")
        if option not in ("--without", "--degrade"):
            continue
        change = change_named(network, **{option[2:]: value.split(",")})
        (after,) = judge_busbw(change.network(network), 1, "allgather").tests
        (limit,) = [each for each in after.limits if each.usual.algorithm == "rings"]
        share = (limit.usual.low + limit.usual.high) / 2
        assert cause.busbw == limit.algbw * share * after.gbps * 31 / 32


def test_a_figure_of_one_nic_is_that_of_a_gpu_without_nvlink_or_of_a_setting() -> None:
    assert changes(judged("dgx-h100:boxes=4", 38, "allgather")) == [
        "--without b0/gpu0--b0/nvswitch",
        "NCCL_IB_HCA=mlx5_0",
    ]
    assert "NCCL_IB_HCA=mlx5_0" not in changes(judged("dgx-h100:boxes=4,gpus=1", 38, "allgather"))


def test_nvls_that_did_not_run_is_the_cause_of_the_figure_of_rings() -> None:
    (test,) = judged("dgx-h100:boxes=1", 360).tests
    (cause,) = test.causes
    assert (cause.change, float(cause.busbw)) == ("NCCL_NVLS_ENABLE=0", 360)
    assert "NVLS" in cause.test
    assert changes(judged("dgx-h100:boxes=1", 480)) == []
    assert changes(judged("dgx-h100:boxes=1", 370, "allgather")) == []


def test_an_order_of_hosts_that_goes_to_and_fro_between_leaf_switches_is_a_cause() -> None:
    """Two boxes share a leaf switch: in the order of the leaf switches, half of the hops of a ring stay below it."""
    network = "cluster:box=dgx-h100,boxes=8,boxes_per_leaf=2,oversubscription=4"
    assert "the order of the hosts" in changes(judged(network, 77, "allgather"))
    assert "the order of the hosts" not in changes(judged("dgx-h100:boxes=8", 77, "allgather"))


def test_of_equal_effects_that_of_the_fewest_parts_is_named() -> None:
    """A NIC in one box costs rings as much as a NIC in each box, or a whole rail."""
    found = changes(judged("dgx-a100:boxes=2,gpus=2", 15, "allgather"))
    assert found[0] == "--without b0/gpu0--ib"
    assert not any("b1/" in each for each in found)


def test_an_all_to_all_of_a_small_network_has_causes() -> None:
    """All NICs at half their width halve what leaves a box; figures of large networks are not searched."""
    found = changes(judged("dgx-h100:boxes=2", 36, "all-to-all"))
    assert found[0] == "NCCL_NET_GDR_LEVEL=LOC"
    assert changes(judged("dgx-h100:boxes=16", 10, "all-to-all")) == []


def test_a_normal_figure_has_no_causes() -> None:
    assert changes(judged("dgx-a100:boxes=1", 231)) == []


def test_causes_are_on_the_page_and_in_the_document() -> None:
    found = judged("dgx-a100:boxes=1", 150)
    document: Any = comparison_page(found).document()
    assert document["tests"][0]["causes"] == [
        {
            "change": "--degrade b0/gpu0--b0/nvswitch=75%",
            "expected_busbw": pytest.approx(166.1, abs=0.1),
            "test": "nvidia-smi nvlink --status",
        }
    ]
    lines = comparison_page(found).lines()
    assert "Causes with which this would be normal, the best first (--without, --degrade: options of explain):" in lines
    assert any(line.split()[:2] == ["--degrade", "b0/gpu0--b0/nvswitch=75%"] for line in lines)


def test_the_command_for_a_link_is_that_of_its_vendor() -> None:
    (nvidia,) = judged("hgx-a100-4:boxes=1", 132).tests
    (amd,) = judged("mi300x:boxes=1", 221).tests
    (fabric,) = judged("dgx-h100:boxes=4", 230, "allgather").tests
    assert [each.causes[0].test.split()[0] for each in (nvidia, amd, fabric)] == ["nvidia-smi", "amd-smi", "ibstatus;"]


def test_the_command_for_a_link_between_a_gpu_and_its_nic_is_that_of_pcie(tmp_path: Path) -> None:
    text = (
        "     GPU0 GPU1 NIC0 NIC1\nGPU0 X NV12 PIX SYS\nGPU1 NV12 X SYS PIX\nNIC0 PIX SYS X SYS\nNIC1 SYS PIX SYS X\n"
    )
    (tmp_path / "topo.txt").write_text(text)
    network = import_topology(tmp_path / "topo.txt", nvlink=25, nic=25, hosts=4).topology
    (test,) = judged(network, 20, "allgather").tests
    assert {each.test for each in test.causes if "GPU0--b0/NIC0" in each.change} == {"lspci -vv | grep LnkSta:"}


def test_the_order_of_the_hosts_in_the_network_is_a_cause_if_another_one_is_better() -> None:
    network = shuffled("cluster:box=dgx-h100,boxes=8,boxes_per_leaf=2,oversubscription=4", 3)
    (test,) = judged(network, 77, "allgather").tests
    (cause,) = [each for each in test.causes if each.change == "the order of the hosts"]
    assert cause.test.startswith("forestcoll rank-order ")
    assert cause.busbw == Fraction(155, 2)
    assert test.nccl is not None
    assert test.nccl.best == 2 * (test.nccl.algbw or 0)
    assert test.best_of_settings == test.nccl.best
    assert any("NCCL's best" in line and "rank-order" in line for line in comparison_page(judged(network, 77)).lines())
