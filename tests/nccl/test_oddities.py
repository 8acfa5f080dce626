"""Odd hardware that a network shows."""

from pathlib import Path

import pytest

from forestcoll.nccl.comparison import judge_busbw
from forestcoll.nccl.lint import lint
from forestcoll.nccl.oddities import oddities
from forestcoll.presentation.results.measurements.measured import comparison_page
from forestcoll.presentation.results.networks.imports import import_page
from forestcoll.topology.importers.reading import import_topology
from forestcoll.topology.importers.source import Source
from forestcoll.topology.registry import build_topology


@pytest.mark.parametrize(
    "spec", ["dgx-a100:boxes=2", "dgx-1:boxes=1", "mi300x:boxes=1", "torus:dims=3x3", "superpod-h100"]
)
def test_healthy_machines_have_nothing_odd(spec: str) -> None:
    assert oddities(build_topology(spec)) == []


def test_slow_and_missing_links_are_named() -> None:
    boxes = build_topology("dgx-a100:boxes=2")
    assert oddities(boxes.degraded("b0/gpu0--ib", to="12.5")) == [
        "1 of 16 links between GPU and switch has 12.5 GB/s, not 25 GB/s: b0/gpu0--ib"
    ]
    assert oddities(boxes.without("b0/gpu0--ib")) == ["b0/gpu0 has 0 links out of its box, and the others have 1"]
    assert oddities(boxes.without("b1/gpu3--b1/nvswitch")) == [
        "b1/gpu3 has 0 links inside its box, and the others have 1"
    ]
    mesh = build_topology("mi300x:boxes=1").without("b0/gpu0--b0/gpu1")
    assert [each.split()[0] for each in oddities(mesh)] == ["b0/gpu0", "b0/gpu1"]


def test_links_without_a_usual_bandwidth_are_not_odd() -> None:
    ring = build_topology("ring:nodes=4").degraded("0--1", to="50%").degraded("1--2", to="25%")
    assert oddities(ring) == []


def test_the_report_says_what_is_odd() -> None:
    found = judge_busbw(build_topology("dgx-a100:boxes=2").degraded("b0/gpu0--ib", to="12.5"), 160, "allgather")
    (sentence,) = oddities(found.topology) if found.topology is not None else []
    assert comparison_page(found).document()["odd_hardware"] == [sentence]
    assert comparison_page(found).lines()[-1] == f"Odd: {sentence}."


MIXED = "the NICs have another order than the GPUs"


def dgx(order: str, *, without: str = "") -> str:
    """Return NCCL's file of a host of four PCIe switches with two GPUs each, and a NIC at each that has a number."""
    slots = []
    for switch, nic in enumerate(order):
        gpus = "".join(
            f'<pci busid="0000:{switch}{gpu}:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">'
            f'<gpu dev="{2 * switch + gpu}" sm="80" gdr="1"><nvlink target="0000:f0:00.0" count="12" '
            'tclass="0x068000"/></gpu></pci>'
            for gpu in range(2)
        )
        net = (
            f'<pci busid="0000:{switch}5:00.0" class="0x020000" link_speed="16.0 GT/s PCIe" link_width="16"><nic>'
            f'<net name="mlx5_{nic}" dev="{nic}" speed="200000" port="1" guid="0x{nic}" maxconn="1" gdr="1"/></nic>'
            "</pci>"
        )
        slots.append(
            f'<pci busid="0000:{switch}a:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">{gpus}'
            f"{'' if nic in without else net}</pci>"
        )
    cpu = '<cpu numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">'
    return "\n".join(['<system version="1">', cpu, *slots, "</cpu></system>"])


@pytest.mark.parametrize(
    ("order", "without", "odd", "findings"),
    [
        ("0123", "", [], []),
        ("0257", "", [], []),
        (
            "2301",
            "",
            [f"{MIXED}: GPU0 is at mlx5_2, GPU2 is at mlx5_3, GPU4 is at mlx5_0; do not pair them by number"],
            [f"5: <net> mlx5_0 is at GPU 4: {MIXED}; do not pair them by number"],
        ),
        (
            "0123",
            "3",
            ["GPU6, GPU7 share no PCIe switch with a NIC, as others do"],
            [f"6: GPU {gpu} shares no PCIe switch with a NIC, as others do" for gpu in (6, 7)],
        ),
    ],
)
def test_gpus_that_do_not_sit_at_their_nic_are_named(
    tmp_path: Path, order: str, without: str, odd: list[str], findings: list[str]
) -> None:
    file = tmp_path / "topo.xml"
    file.write_text(dgx(order, without=without))
    found = import_topology(file, hosts=2)
    assert oddities(found.topology) == [f"b0 and 1 more host: {each}" for each in odd]
    assert import_page(found).document()["odd_hardware"] == oddities(found.topology)
    said = [f"{each.line}: {each.text}" for each in lint(Source("topo.xml", file.read_text(), "topo"))]
    assert said == findings
