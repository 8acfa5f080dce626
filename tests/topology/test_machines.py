from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path

from forestcoll import optimum
from forestcoll.topology import NodeId, Topology
from forestcoll.topology.gpus import GPUS, gpu_of, table
from forestcoll.topology.registry import Size, build_topology, builders, recipe_of

MACHINES = [spec for spec in builders() if spec.group == "machine"]


def bandwidth(topology: Topology, source: NodeId, target: NodeId) -> Fraction:
    ends = (topology.number(source), topology.number(target))
    return next((link.bandwidth for link in topology.links if (link.source, link.target) == ends), Fraction(0))


def egress_of_gpus(topology: Topology) -> set[Fraction]:
    return {topology.egress[number] for number in topology.compute}


def boxes(topology: Topology) -> Counter[object]:
    return Counter(topology.nodes[number].attributes["box"] for number in topology.compute)


FIGURES: list[tuple[str, int, int, int, int | str]] = [
    # spec, compute nodes, switches, links, bandwidth of a GPU
    ("dgx-a100:boxes=1", 8, 1, 16, 300),
    ("dgx-a100:boxes=2", 16, 3, 64, 325),
    ("dgx-a100:boxes=4,gpus=4", 16, 5, 64, 325),
    ("dgx-a100:boxes=1,pcie=true", 8, 1, 16, 300),
    ("dgx-a100:boxes=2,pcie=true", 16, 3 + 2 * (4 + 8), 2 * 16 * 4, 332),
    ("dgx-a100:boxes=2,gpus=3,pcie=true", 6, 3 + 2 * (2 + 3), 2 * 6 * 4, 332),
    ("dgx-h100:boxes=1", 8, 1, 16, 450),
    ("dgx-h100:boxes=16", 128, 17, 512, 500),
    ("dgx-1:boxes=1", 8, 0, 32, 150),
    ("dgx-1:boxes=2", 16, 9, 2 * (2 * 16 + 2 * 8 + 2 * 4), 166),
    ("dgx-2:boxes=1", 16, 1, 32, 150),
    ("dgx-2:boxes=3", 48, 3 + 3 * 8 + 1, 3 * 2 * (16 + 16 + 8), 166),
    ("gb200-nvl72:boxes=1", 72, 1, 144, 900),
    ("gb200-nvl72:boxes=2", 144, 3, 576, 950),
    ("mi250:boxes=1", 16, 0, 56, 350),
    ("mi250:boxes=2", 32, 1, 2 * 56 + 64, 366),
    ("mi300x:boxes=1", 8, 0, 56, 448),
    ("mi300x:boxes=2", 16, 1, 2 * 56 + 32, 498),
    ("mi355x:boxes=1", 8, 0, 56, "537.6"),
    ("mi355x:boxes=2", 16, 1, 2 * 56 + 32, "587.6"),
    ("mi325x:boxes=1", 8, 0, 56, 448),
    ("hgx-h20:boxes=2", 16, 3, 64, 500),
    ("dgx-b300:boxes=2", 16, 3, 64, 1000),
    ("gb300-nvl72:boxes=2", 144, 3, 576, 1000),
    ("gh200-4:boxes=2", 8, 1, 2 * 12 + 16, 475),
    ("mi300a:boxes=2", 8, 1, 2 * 12 + 16, 3 * 128 + 25),
    ("pcie-host:boxes=1", 8, 6, 2 * (8 + 4 + 1), 32),
    ("pcie-host:boxes=2,nics=4", 16, 2 * (6 + 4) + 1, 2 * 2 * (8 + 4 + 1 + 2 * 4), 32),
]


def test_nodes_links_and_bandwidth_of_a_gpu() -> None:
    for spec, compute, switches, links, egress in FIGURES:
        topology = build_topology(spec)
        found = (len(topology.compute), len(topology.switches), len(topology.links))
        assert found == (compute, switches, links), spec
        assert egress_of_gpus(topology) == {Fraction(egress)}, spec


def test_every_number_of_boxes_and_gpus_builds_a_network_of_the_stated_size() -> None:
    for machine in MACHINES:
        all_gpus = next(each.default for each in machine.parameters if each.name == "gpus")
        assert isinstance(all_gpus, int)
        # With two boxes, GPUs without a link inside their box are connected, too.
        for count, gpus in [(1, all_gpus), (3, all_gpus), *((2, gpus) for gpus in range(1, all_gpus + 1))]:
            spec = f"{machine.name}:boxes={count},gpus={gpus}"
            topology = build_topology(spec)
            assert recipe_of(spec)[1].size() == Size(count * gpus, len(topology.links)), spec
            assert topology.ingress == topology.egress, spec
            assert boxes(topology) == dict.fromkeys(range(count), gpus), spec
            outside = [str(node.id) for node in topology.nodes if not str(node.id).startswith("b")]
            assert outside == ["ib"] * (count > 1), spec
            for node in topology.nodes:
                assert str(node.id) == "ib" or str(node.id).startswith(f"b{node.attributes['box']}/"), spec


def test_every_bandwidth_can_be_set() -> None:
    for machine in MACHINES:
        names = [each.name for each in machine.parameters if each.name.endswith("bandwidth")]
        options = ",pcie=true" if machine.name == "dgx-a100" else ""
        for name in names:
            topology = build_topology(f"{machine.name}:boxes=2,{name}=100/7{options}")
            assert any(link.bandwidth.denominator == 7 for link in topology.links), (machine.name, name)
        stated = ",".join(f"{name}=100/7" for name in names)
        topology = build_topology(f"{machine.name}:boxes=2,{stated}{options}")
        assert all((link.bandwidth / Fraction(100, 7)).denominator == 1 for link in topology.links), machine.name


def test_nics_are_behind_a_pcie_switch_and_two_gpus_may_share_one() -> None:
    topology = build_topology("dgx-a100:pcie=true")
    for gpu, switch in [(0, 0), (1, 0), (6, 3), (7, 3)]:
        assert bandwidth(topology, f"b1/gpu{gpu}", f"b1/pcie{switch}") == 32
        assert bandwidth(topology, f"b1/pcie{switch}", f"b1/nic{gpu}") == 32
        assert bandwidth(topology, f"b1/nic{gpu}", "ib") == 25
    assert bandwidth(topology, "b0/gpu0", "ib") == 0
    for machine, gpus in (("dgx-1", 8), ("dgx-2", 16)):
        topology = build_topology(f"{machine}:boxes=2")
        assert bandwidth(topology, "b0/gpu2", "b0/pcie1") == bandwidth(topology, "b0/gpu3", "b0/pcie1") == 16
        assert bandwidth(topology, "b0/pcie1", "ib") == Fraction(25, 2)
        assert topology.egress[topology.number("ib")] == gpus * Fraction(25, 2)


def test_the_hybrid_cube_mesh_has_six_nvlinks_per_gpu_and_one_ring_of_double_links() -> None:
    topology = build_topology("dgx-1:boxes=1")
    assert egress_of_gpus(topology) == {6 * 25}
    assert Counter(link.bandwidth for link in topology.links) == {25: 16, 50: 16}
    ring = [0, 3, 2, 1, 5, 6, 7, 4, 0]
    assert all(bandwidth(topology, f"b0/gpu{a}", f"b0/gpu{b}") == 50 for a, b in pairwise(ring))
    for box_half in ([0, 1, 2, 3], [4, 5, 6, 7]):
        assert all(bandwidth(topology, f"b0/gpu{a}", f"b0/gpu{b}") for a, b in combinations(box_half, 2))


def test_infinity_fabric_of_the_mi250_and_of_half_of_each_box() -> None:
    topology = build_topology("mi250:boxes=1")
    assert bandwidth(topology, "b0/gpu0", "b0/gpu1") == 200
    assert bandwidth(topology, "b0/gpu15", "b0/gpu11") == 100
    assert bandwidth(topology, "b0/gpu9", "b0/gpu2") == 50
    assert bandwidth(topology, "b0/gpu0", "b0/gpu2") == 0
    topology = build_topology("mi250:boxes=2,gpus=8")
    assert {node.id for node in topology.nodes} == {"ib", *(f"b{box}/gpu{gpu}" for box in (0, 1) for gpu in range(8))}
    assert len(topology.links) == 2 * (2 * 11 + 2 * 8)
    assert topology.egress[topology.number("b0/gpu0")] == 50 * (4 + 2) + 16


def test_a_gaudi_has_the_bandwidths_of_its_vendor() -> None:
    for machine, port in (("gaudi3", 25), ("gaudi2", Fraction(25, 2))):
        assert egress_of_gpus(build_topology(f"{machine}:boxes=1")) == {21 * port}
        topology = build_topology(f"{machine}:boxes=2")
        assert topology.egress[topology.number("ib")] == 2 * 8 * 3 * port  # 600 GB/s of a box of Gaudi 3
    box = build_topology("gaudi3:boxes=1")
    assert Fraction("293.1") < optimum(box, "allreduce").algbw == 300  # the vendor measured 293.1
    assert optimum("gaudi3:boxes=8", "all-to-all").algbw * Fraction(7, 8) == 75  # 7/8 of the data leave the box


def test_a_rack_of_vera_rubin_has_260_tb_each_second() -> None:
    topology = build_topology("vera-rubin-nvl72:boxes=1")
    assert egress_of_gpus(topology) == {36 * 50}
    assert round(2 * topology.egress[topology.number("b0/nvswitch")] / 1000) == 259  # both ways; 3.6 TB/s rounded up


def test_a_node_of_frontier_is_the_one_of_rccl() -> None:
    topology = build_topology("mi250x:boxes=2")
    assert optimum("mi250x:boxes=1").algbw == Fraction(1000, 3)  # of RCCL's topo_8p1h.xml, imported
    outside = {gpu for gpu in range(8) if bandwidth(topology, f"b0/gpu{gpu}", "ib")}
    assert outside == {1, 3, 5, 7}
    assert topology.egress[topology.number("ib")] == 2 * 4 * 25


def test_gpus_of_a_pcie_host_are_spread_over_switches_and_sockets() -> None:
    topology = build_topology("pcie-host:boxes=2,gpus=8,nics=2,pcie_bandwidth=64,socket_bandwidth=48")
    assert bandwidth(topology, "b1/gpu5", "b1/pcie2") == bandwidth(topology, "b1/pcie2", "b1/cpu1") == 64
    assert bandwidth(topology, "b1/cpu0", "b1/cpu1") == 48
    assert bandwidth(topology, "b1/pcie2", "b1/nic1") == 64
    assert bandwidth(topology, "b1/nic1", "ib") == 25
    # 8 RTX 5090 on two sockets reached a busbw of 28 GB/s, 4 on one socket 35: 64 GB/s a GPU bound both.
    for spec, busbw in [("gpus=8,switches=8,sockets=2", 28), ("gpus=4,switches=4,sockets=1", 35)]:
        found = optimum(f"pcie-host:{spec},pcie_bandwidth=64", "allreduce")
        gpus = len(found.topology.compute)
        assert busbw < found.algbw * Fraction(2 * (gpus - 1), gpus) <= 64, spec


def test_only_nvswitches_support_nvls() -> None:
    for machine in ("dgx-h100", "gb200-nvl72"):
        assert not any(node.multicast or node.aggregation for node in build_topology(f"{machine}:boxes=2").nodes)
        nodes = build_topology(f"{machine}:boxes=2,nvls=true").nodes
        able = {node.id for node in nodes if node.multicast and node.aggregation}
        assert able == {"b0/nvswitch", "b1/nvswitch"}


def test_gpus_are_recognised_and_in_the_document() -> None:
    assert table() == (Path(__file__).parents[2] / "docs" / "tables" / "gpus.csv").read_text(encoding="utf-8")
    specs = [
        "superpod-b300:boxes=2",
        "gb200-nvl72:gpus=8",
        "mi250:boxes=1",
        "mi300x:boxes=1",
        "mi355x:boxes=1",
        "gb300-nvl72:gpus=8",
    ]
    specs += ["hgx-h20:boxes=1", "mi325x:boxes=1", "dgx-b300:boxes=1"]
    for spec in ["dgx-a100:boxes=1", "dgx-h200:boxes=1", "dgx-b200:boxes=1", *specs]:
        (name,) = [part for part in spec.replace(":", "-").split("-") if part in GPUS]
        assert gpu_of(build_topology(spec)) is GPUS[name], spec
    assert gpu_of(build_topology("ring:nodes=3")) is None
    names = list(GPUS)
    contained = [(one, other) for one in names for other in names if other != one and other in one]
    assert all(names.index(one) < names.index(other) for one, other in contained)
