from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise

import pytest

from forestcoll.topology import NodeId, Topology
from forestcoll.topology.registry import BuilderSpec, build_topology, builders

MACHINES = [spec for spec in builders() if spec.group == "machine"]


def bandwidth(topology: Topology, source: NodeId, target: NodeId) -> Fraction:
    ends = (topology.number(source), topology.number(target))
    return next((link.bandwidth for link in topology.links if (link.source, link.target) == ends), Fraction(0))


def egress_of_gpus(topology: Topology) -> set[Fraction]:
    return {topology.egress[number] for number in topology.compute}


def boxes(topology: Topology) -> Counter[object]:
    return Counter(topology.nodes[number].attributes["box"] for number in topology.compute)


@pytest.mark.parametrize(
    ("spec", "compute", "switches", "links", "egress"),
    [
        ("dgx-a100:boxes=1", 8, 1, 16, 300),
        ("dgx-a100:boxes=2", 16, 3, 64, 325),
        ("dgx-a100:boxes=4,gpus=4", 16, 5, 64, 325),
        ("dgx-a100:boxes=1,nics=true", 8, 1, 16, 300),
        ("dgx-a100:boxes=2,nics=true", 16, 3 + 2 * (4 + 8), 2 * 16 * 4, 332),
        ("dgx-a100:boxes=2,gpus=3,nics=true", 6, 3 + 2 * (2 + 3), 2 * 6 * 4, 332),
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
        ("mi355x:boxes=1", 8, 0, 56, Fraction("537.6")),
        ("mi355x:boxes=2", 16, 1, 2 * 56 + 32, Fraction("587.6")),
    ],
)
def test_nodes_links_and_bandwidth_of_a_gpu(
    spec: str, compute: int, switches: int, links: int, egress: int | Fraction
) -> None:
    topology = build_topology(spec)
    assert (len(topology.compute), len(topology.switches), len(topology.links)) == (compute, switches, links)
    assert egress_of_gpus(topology) == {egress}


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("machine", MACHINES, ids=lambda spec: spec.name)
def test_boxes(machine: BuilderSpec, count: int) -> None:
    topology = build_topology(f"{machine.name}:boxes={count}")
    assert topology.ingress == topology.egress
    assert set(boxes(topology)) == set(range(count))
    assert len(set(boxes(topology).values())) == 1
    ids = {node.id for node in topology.nodes}
    assert ("ib" in ids) == (count > 1)
    assert all(node.id == "ib" or str(node.id).startswith(f"b{node.attributes['box']}/") for node in topology.nodes)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda spec: spec.name)
def test_every_number_of_gpus_builds_a_network_of_the_stated_size(machine: BuilderSpec) -> None:
    all_gpus = next(each.default for each in machine.parameters if each.name == "gpus")
    assert isinstance(all_gpus, int)
    for gpus in range(1, all_gpus + 1):
        # Two boxes, so that GPUs without a link inside their box are also connected.
        topology = build_topology(f"{machine.name}:boxes=2,gpus={gpus}")
        values = {"boxes": 2, "gpus": gpus}
        size = machine.recipe(**values).size()
        assert (len(topology.compute), len(topology.links)) == (size.compute, size.links)
        assert size.compute == 2 * gpus
        assert topology.ingress == topology.egress


@pytest.mark.parametrize("machine", MACHINES, ids=lambda spec: spec.name)
def test_every_bandwidth_can_be_set(machine: BuilderSpec) -> None:
    names = [each.name for each in machine.parameters if each.name.endswith("bandwidth")]
    options = ",nics=true" if machine.name == "dgx-a100" else ""
    for name in names:
        topology = build_topology(f"{machine.name}:boxes=2,{name}=100/7{options}")
        assert any(link.bandwidth.denominator == 7 for link in topology.links)
    stated = ",".join(f"{name}=100/7" for name in names)
    topology = build_topology(f"{machine.name}:boxes=2,{stated}{options}")
    assert all((link.bandwidth / Fraction(100, 7)).denominator == 1 for link in topology.links)


def test_nics_of_the_dgx_a100_are_behind_a_pcie_switch() -> None:
    topology = build_topology("dgx-a100:nics=true")
    for gpu, switch in [(0, 0), (1, 0), (6, 3), (7, 3)]:
        assert bandwidth(topology, f"b1/gpu{gpu}", f"b1/pcie{switch}") == 32
        assert bandwidth(topology, f"b1/pcie{switch}", f"b1/nic{gpu}") == 32
        assert bandwidth(topology, f"b1/nic{gpu}", "ib") == 25
    assert bandwidth(topology, "b0/gpu0", "ib") == 0


@pytest.mark.parametrize("machine", ["dgx-1", "dgx-2"])
def test_two_gpus_share_a_nic(machine: str) -> None:
    topology = build_topology(f"{machine}:boxes=2")
    assert bandwidth(topology, "b0/gpu2", "b0/pcie1") == bandwidth(topology, "b0/gpu3", "b0/pcie1") == 16
    assert bandwidth(topology, "b0/pcie1", "ib") == Fraction(25, 2)
    gpus = len(topology.compute) // 2
    assert topology.egress[topology.number("ib")] == gpus * Fraction(25, 2)


def test_the_hybrid_cube_mesh_has_six_nvlinks_per_gpu_and_one_ring_of_double_links() -> None:
    topology = build_topology("dgx-1:boxes=1")
    assert egress_of_gpus(topology) == {6 * 25}
    assert Counter(link.bandwidth for link in topology.links) == {25: 16, 50: 16}
    ring = [0, 3, 2, 1, 5, 6, 7, 4, 0]
    assert all(bandwidth(topology, f"b0/gpu{a}", f"b0/gpu{b}") == 50 for a, b in pairwise(ring))
    for box_half in ([0, 1, 2, 3], [4, 5, 6, 7]):
        assert all(bandwidth(topology, f"b0/gpu{a}", f"b0/gpu{b}") for a, b in combinations(box_half, 2))


def test_infinity_fabric_of_the_mi250() -> None:
    topology = build_topology("mi250:boxes=1")
    assert bandwidth(topology, "b0/gpu0", "b0/gpu1") == 200
    assert bandwidth(topology, "b0/gpu15", "b0/gpu11") == 100
    assert bandwidth(topology, "b0/gpu9", "b0/gpu2") == 50
    assert bandwidth(topology, "b0/gpu0", "b0/gpu2") == 0


def test_mi250_with_half_of_each_box_keeps_the_links_within_that_half() -> None:
    topology = build_topology("mi250:boxes=2,gpus=8")
    assert {node.id for node in topology.nodes} == {"ib", *(f"b{box}/gpu{gpu}" for box in (0, 1) for gpu in range(8))}
    assert len(topology.links) == 2 * (2 * 11 + 2 * 8)
    assert topology.egress[topology.number("b0/gpu0")] == 50 * (4 + 2) + 16


@pytest.mark.parametrize("machine", ["dgx-h100", "gb200-nvl72"])
def test_only_nvswitches_support_nvls(machine: str) -> None:
    assert not any(node.multicast or node.aggregation for node in build_topology(f"{machine}:boxes=2").nodes)
    nodes = build_topology(f"{machine}:boxes=2,nvls=true").nodes
    able = {node.id for node in nodes if node.multicast and node.aggregation}
    assert able == {"b0/nvswitch", "b1/nvswitch"}
