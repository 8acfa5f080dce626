from collections import Counter
from fractions import Fraction
from pathlib import Path

import networkx as nx
import pytest
from test_machines import bandwidth

from forestcoll import generate, optimum
from forestcoll.topology import Topology, TopologyBuilder, write_topology
from forestcoll.topology.clusters.joining.box import box_of_machine
from forestcoll.topology.networkx_graph import to_networkx
from forestcoll.topology.registry import Size, build_topology, builders, load_topology, recipe_of
from networks import linked
from refusal import refusal

SHAPES = [
    "cluster:box=dgx-h100,boxes=1",
    "cluster:box=dgx-h100,boxes=4,rails=8,boxes_per_leaf=2,oversubscription=2",
    "cluster:box=dgx-h100,boxes=8,rails=2,boxes_per_leaf=2,pod_leaves=4,pod_oversubscription=3,planes=2",
    "cluster:box=dgx-h100,boxes=2,nics=32,nic_bandwidth=12.5",
    "cluster:box=dgx-h100,boxes=2,nics=16,nic_bandwidth=50,pcie_bandwidth=64",
    "cluster:box=dgx-h100,boxes=2,nics=4,nic_bandwidth=50,pcie_bandwidth=64",
    "cluster:box=dgx-h100,boxes=2,pcie_bandwidth=32",
    "cluster:box=dgx-a100:pcie=true,boxes=2,rails=8",
    "cluster:box=mi300x,dims=3x2,dim_bandwidth=10+20,wrap=true+false",
    "cluster:box=mi300x,dims=4,dim_bandwidth=10,nics=8,nic_bandwidth=50",
    "cluster:box=aws-p4d,boxes=4,rails=4,boxes_per_leaf=2",
    "superpod-h100:boxes=40",
    "superpod-b300:boxes=65",
    "grand-teton:boxes=193",
    "alibaba-hpn:boxes=130",
    "trainium2:boxes=2",
    "tpu-v4:dims=2x3x4",
    "tpu-v5p:dims=4x4x8",
    "tpu-v4:dims=4x8x8,twisted=true",
    "tpu-7x:dims=2x4x4",
    "tpu-v5e:dims=2x16",
    "tpu-v6e:dims=5",
    "cluster:box=dgx-h100,boxes=4,boxes_per_leaf=1,pod_leaves=2,global_bandwidth=10",
    "cluster:box=dgx-h100,boxes=3,boxes_per_leaf=1,global_bandwidth=10,planes=2,sharp=true",
    "frontier:boxes=6,groups=3",
    "el-capitan:boxes=6,groups=3",
    "alps:boxes=6,groups=3,global_bandwidth=100",
    "trainium1:boxes=2",
    "trainium3:boxes=4",
    "dgx-spark:boxes=2,cables=2",
    "dgx-spark:boxes=4",
    "cloudmatrix-384:boxes=2,gpus=12",
]


def algbw(spec: str) -> Fraction:
    return optimum(spec).algbw


def test_the_size_is_that_of_the_network() -> None:
    for spec in SHAPES:
        topology = build_topology(spec)
        assert recipe_of(spec)[1].size() == Size(len(topology.compute), len(topology.links)), spec
        assert topology.ingress == topology.egress, spec
        assert build_topology(topology.name) == topology, spec


def test_a_cluster_of_a_machine_is_the_machine_with_more_boxes() -> None:
    for machine in ["dgx-1", "dgx-2", "dgx-a100", "dgx-h100", "mi250", "mi300x", "gb200-nvl72"]:
        built, whole = build_topology(f"cluster:box={machine},boxes=2"), build_topology(f"{machine}:boxes=2")
        for topology in (built, whole):
            assert Counter(node.attributes.get("box") for node in topology.nodes)[1] * 2 == len(topology.nodes) - 1, (
                machine
            )
        assert sorted(link.bandwidth for link in built.links) == sorted(link.bandwidth for link in whole.links), machine
        assert built.ids(built.compute) == whole.ids(whole.compute), machine
        if len(whole.compute) < 100:
            assert optimum(built).algbw == optimum(whole).algbw, machine
    assert len(build_topology("cluster:box=mi250:gpus=8,boxes=2").compute) == 16
    assert len(box_of_machine("dgx-h100:gpus=4+nvls=true").gpus) == 4
    assert build_topology("cluster:box=dgx-h100:gpus=4+nvls=true,boxes=3").able_switches


def test_only_oversubscribed_leaves_and_pods_limit_the_bound() -> None:
    rails = algbw("cluster:box=dgx-h100,boxes=4,rails=8,boxes_per_leaf=2")
    assert rails == algbw("cluster:box=dgx-h100,boxes=4,rails=1,boxes_per_leaf=2") == algbw("dgx-h100:boxes=4")
    # Each group of 2 boxes sends half of the data, M/2, over 2 x 400 / 8 = 100 GB/s.
    assert algbw("cluster:box=dgx-h100,boxes=4,rails=8,boxes_per_leaf=2,oversubscription=8") == 200
    # A pod of 2 leaves has 2 x 400 / 8 = 100 GB/s upwards and sends half of the data.
    spec = "cluster:box=dgx-h100,boxes=4,boxes_per_leaf=1,pod_leaves=2,pod_oversubscription=8"
    assert algbw(spec) == 200
    topology = build_topology(spec)
    assert bandwidth(topology, "pod0/spine", "core") == 100
    assert bandwidth(topology, "leaf1", "pod0/spine") == 400


def test_planes_and_gpus_share_a_nic_and_a_gpu_has_several_behind_its_pcie_port() -> None:
    topology = build_topology("cluster:box=dgx-h100,boxes=2,planes=2,nic_bandwidth=100")
    assert bandwidth(topology, "b0/gpu3", "b0/nic3") == 100
    assert bandwidth(topology, "b0/nic3", "plane0/leaf0") == bandwidth(topology, "b0/nic3", "plane1/leaf0") == 50
    assert topology.nodes[topology.number("b0/nic3")].attributes["box"] == 0
    topology = build_topology("cluster:box=dgx-a100,boxes=2,nics=4,nic_bandwidth=12.5")
    assert bandwidth(topology, "b1/gpu5", "b1/nic2") == bandwidth(topology, "b1/nic2", "leaf0") == Fraction(25, 2)
    assert optimum(topology).algbw == 2 * 4 * Fraction(25, 2) == algbw("aws-p4d:boxes=2")
    topology = build_topology("cluster:box=dgx-h100,boxes=2,nics=16,nic_bandwidth=50,pcie_bandwidth=64")
    assert bandwidth(topology, "b0/gpu7", "b0/pcie7") == bandwidth(topology, "b0/pcie7", "b0/nic15") == 64
    free = algbw("cluster:box=dgx-h100,boxes=4,nics=16,nic_bandwidth=50")
    assert algbw("cluster:box=dgx-h100,boxes=4,nics=16,nic_bandwidth=50,pcie_bandwidth=32") == 8 * 32 * Fraction(4, 3)
    assert free == 550 * Fraction(32, 31)  # all but one GPU


def test_a_torus_of_boxes_joins_equal_gpus() -> None:
    topology = build_topology("cluster:box=mi300x,dims=3x2,dim_bandwidth=10+20")
    assert bandwidth(topology, "b0/gpu3", "b1/gpu3") == 20
    assert bandwidth(topology, "b0/gpu3", "b2/gpu3") == bandwidth(topology, "b4/gpu3", "b0/gpu3") == 10
    assert bandwidth(topology, "b0/gpu3", "b1/gpu4") == 0
    line = build_topology("cluster:box=mi300x,dims=3x2,dim_bandwidth=10+20,wrap=false")
    assert bandwidth(line, "b4/gpu3", "b0/gpu3") == 0


def test_published_systems_have_published_figures() -> None:
    ring = build_topology("cluster:box=trainium2,dims=4,dim_bandwidth=64")
    ultra = build_topology("trainium2-ultra:boxes=1")
    assert [(each.source, each.target, each.bandwidth) for each in ring.links] == [
        (each.source, each.target, each.bandwidth) for each in ultra.links
    ]
    assert bandwidth(build_topology("tpu-v4:dims=4x4x4"), 0, 3) == 50
    assert bandwidth(build_topology("tpu-v5p:dims=2x4x4"), 0, 3) == 0
    assert {len(build_topology("tpu-v5p:dims=4x4x8").links)} == {128 * 6}
    hpn, pod = build_topology("alibaba-hpn:boxes=130"), build_topology("superpod-b300:boxes=64")
    assert bandwidth(hpn, "plane1/leaf0", "plane1/spine") == 60 * 50  # 60 ports of 400 Gb/s
    assert sum(node.attributes.get("tier") == "leaf" for node in pod.nodes) == 16
    meta = build_topology("grand-teton:boxes=385")  # a pod of 384 boxes and another one
    assert recipe_of(meta.name)[1].size() == Size(len(meta.compute), len(meta.links))
    assert bandwidth(meta, "leaf0", "pod0/spine") == 2 * bandwidth(meta, "b0/gpu0", "leaf0") * 16
    assert bandwidth(meta, "pod0/spine", "core") == Fraction(192 * 1600, 7)


def crossing(topology: Topology, inside: set[int]) -> Fraction:
    """The bandwidth of the links that leave a set of nodes."""
    leaving = [each for each in topology.links if each.source in inside and each.target not in inside]
    return sum((each.bandwidth for each in leaving), Fraction(0))


def test_a_flat_pod_has_the_published_bandwidth_across_its_middle() -> None:
    for name, both_ways, middle in [("tpu-v5e", 400, 1600), ("tpu-v6e", 800, 3200)]:
        pod = build_topology(f"{name}:dims=16x16")
        assert 2 * pod.egress[0] == both_ways
        assert crossing(pod, set(range(128))) == middle
        assert bandwidth(build_topology(f"{name}:dims=8x16"), 0, 15) == both_ways / Fraction(8)  # the line of 16 closes
        assert bandwidth(build_topology(f"{name}:dims=8x16"), 0, 7 * 16) == 0  # the line of 8 does not


def test_all_links_of_a_twisted_torus_are_equivalent() -> None:
    def shares(spec: str) -> set[float]:
        """How often shortest paths cross each link, in different values."""
        graph = to_networkx(build_topology(spec))
        assert {degree for _, degree in graph.out_degree()} == {6}
        return {round(share, 9) for share in nx.edge_betweenness_centrality(graph).values()}

    for dims in ("4x4x8", "8x4x4", "4x8x8"):
        assert len(shares(f"tpu-v4:dims={dims},twisted=true")) == 1, dims
    assert len(shares("tpu-v4:dims=4x4x8")) == 2
    assert optimum("tpu-v4:dims=4x4x8,twisted=true", "all-to-all").algbw == Fraction(960, 11)
    for dims in ("4x4x4", "4x4x12", "2x2x4", "4x8", "4x8x16"):
        refused = refusal(load_topology, f"tpu-v5p:dims={dims},twisted=true")
        assert "only k x k x 2k and k x 2k x 2k chips can be twisted" in refused


def test_chips_of_amazon_and_huawei_have_the_published_bandwidth() -> None:
    one = build_topology("trainium1:boxes=2")
    assert 2 * (one.egress[0] - Fraction(25, 4)) == 384
    assert 16 * bandwidth(one, "b0/chip0", "efa") == 100  # 800 Gb/s
    three = build_topology("trainium3")
    assert len(three.compute) == 144
    assert three.egress[0] == 704
    assert bandwidth(three, "b1/chip2", "b19/chip2") == 128
    matrix = build_topology("cloudmatrix-384")
    assert len(matrix.compute) == 384
    assert matrix.egress[0] == 392
    assert bandwidth(matrix, "b0/node47/plane6", "b0/plane6") == 448
    assert optimum("cloudmatrix-384:gpus=24").algbw == 392 * Fraction(24, 23)  # non-blocking


def test_two_systems_of_dgx_spark_reach_less_than_the_bound() -> None:
    assert Fraction("41.9") < algbw("dgx-spark:boxes=2") == 2 * 25  # measured in an allgather, one cable
    assert algbw("dgx-spark:boxes=2,cables=2") == 2 * 32
    assert "4 systems with 2 cables need more than two ports" in refusal(load_topology, "dgx-spark:boxes=4,cables=2")


def test_groups_are_joined_by_their_links() -> None:
    topology = build_topology("frontier:boxes=6,groups=3")
    assert bandwidth(topology, "leaf0", "leaf2") == 100
    assert [bandwidth(topology, f"b0/gpu{gpu}", "leaf0") for gpu in range(8)] == 4 * [0, 25]
    # In an all-to-all, the 16 GPUs of a group send half of their data to the other group, over 100 GB/s.
    assert optimum("frontier:boxes=4,groups=2", "all-to-all").algbw == Fraction(100, 16 // 2)
    assert optimum("frontier:boxes=4", "all-to-all").algbw == Fraction(100, 6)  # 3/4 of 8 GPUs' data leave a node
    assert "6 nodes do not fit in 4 groups" in refusal(load_topology, "frontier:boxes=6,groups=4")
    assert "129 nodes do not fit in 1 groups" in refusal(load_topology, "frontier:boxes=129")
    plus = build_topology("cluster:box=dgx-h100,boxes=4,boxes_per_leaf=1,pod_leaves=2,global_bandwidth=10")
    assert bandwidth(plus, "pod0/spine", "pod1/spine") == 10
    assert bandwidth(plus, "leaf0", "pod0/spine") == 400
    assert optimum(plus).algbw == 20


def test_switches_with_sharp_add_up() -> None:
    spec = "cluster:box=hgx-a100-4,boxes=4,boxes_per_leaf=2,pod_leaves=1"
    plain, sharp = build_topology(spec), build_topology(f"{spec},sharp=true")
    assert not plain.able_switches
    assert {str(sharp.nodes[each].id) for each in sharp.able_switches} == {
        "leaf0", "leaf1", "pod0/spine", "pod1/spine", "core",
    }  # fmt: skip
    assert optimum(sharp, "allreduce").algbw > optimum(plain, "allreduce").algbw
    assert len(build_topology("superpod-h100:boxes=33,sharp=true").able_switches) == 16 + 1
    # NVLS is of the switches of boxes.
    tree = "cluster:box=dgx-h100:gpus=2,boxes=3,boxes_per_leaf=1,sharp=true"
    assert "NVLS needs a switch in each box" in refusal(generate, tree, "allreduce", "nvls-tree")


def test_every_node_of_a_box_has_its_number() -> None:
    for spec in (each for each in builders() if each.group == "system"):
        for node in build_topology(spec.name).nodes:
            if str(node.id).startswith("b"):
                assert node.attributes["box"] == int(str(node.id)[1:].partition("/")[0]), spec.name
            assert node.is_compute or "box" in node.attributes or node.attributes.get("tier") or node.id == "efa"


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A host of two GPUs that share a PCIe switch with one NIC."""
    builder = TopologyBuilder("host")
    builder.add_duplex(builder.add_compute("GPU0"), builder.add_compute("GPU1"), 100)
    builder.add_switch("PXB")
    builder.add_switch("mlx5_3", device="nic", nic_bandwidth="200Gb/s")
    for end in ("GPU0", "GPU1", "mlx5_3"):
        builder.add_duplex(end, "PXB", 32)
    write_topology(builder.build(), tmp_path / "host.json")
    return tmp_path / "host.json"


def test_a_file_of_a_host_is_a_box(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topology = load_topology(f"cluster:boxes=3,box={host}")
    assert bandwidth(topology, "b2/mlx5_3", "leaf0") == 25
    assert bandwidth(topology, "b1/GPU0", "b1/PXB") == 32
    assert topology.ids(topology.compute) == [f"b{box}/GPU{gpu}" for box in range(3) for gpu in range(2)]
    assert optimum(topology).algbw == 25 * Fraction(3, 2)
    monkeypatch.chdir(host.parent)
    assert load_topology("cluster:boxes=3,box=host.json") == load_topology("cluster:box=host.json,boxes=3")


def test_a_file_is_one_box_and_without_nics_needs_numbers(tmp_path: Path) -> None:
    path = tmp_path / "box.json"
    write_topology(build_topology("mi300x:boxes=1"), path)
    assert "has no NICs of its own; give nics and nic_bandwidth" in refusal(
        load_topology, f"cluster:box={path},boxes=2"
    )
    built = load_topology(f"cluster:box={path},boxes=2,nics=8,nic_bandwidth=50")
    assert optimum(built).algbw == algbw("mi300x:boxes=2")
    write_topology(build_topology("dgx-a100:boxes=2"), tmp_path / "two.json")
    assert "which holds 2 boxes; give a file of one host" in refusal(load_topology, f"cluster:box={tmp_path}/two.json")


def test_a_file_in_another_unit_is_converted(tmp_path: Path) -> None:
    path = tmp_path / "box.json"
    write_topology(linked("a b", "a=b:800", bandwidth_unit="Gb/s"), path)
    spec = f"cluster:box={path},boxes=2,nics=2,nic_bandwidth=50"
    assert bandwidth(load_topology(spec), "b0/a", "b0/b") == 100
    path.write_text(path.read_text().replace("Gb/s", "parsecs"))
    assert "parsecs" in refusal(load_topology, spec)


def test_sizes_that_cannot_fit_are_refused() -> None:
    for parameters, said in [
        (
            "box=dgx-h10",
            "cluster: box is 'dgx-h10', and there is no such file; did you mean 'dgx-h100'? name a machine",
        ),
        ("box=cluster", "cluster: box is 'cluster'; a cluster cannot be the box of a cluster"),
        ("box=torus", "cluster: box is 'torus', and there is no such file; name a machine"),
        ("box=tpu-v4", "cluster: box is 'tpu-v4', which does not come in boxes"),
        ("box=-", "cluster: box is '-'; standard input can be read only once"),
        ("box=no.json", "cluster: no.json: no such file"),
        ("box=dgx-h100:boxes=3", "leave boxes out there"),
        ("box=dgx-h100:gpus=9", "dgx-h100: gpus is '9'; expected an integer from 1 to 8"),
        ("box=", "box is ''; expected a machine such as dgx-h100"),
        ("boxes=0", "boxes is '0'; expected an integer from 1"),
        ("boxes=1000000", "has 8000000 compute nodes; make it smaller"),
        ("boxes=1,box=dgx-h100:gpus=1", "there are fewer than two GPUs"),
        ("nics=3,nic_bandwidth=5", "3 NICs cannot be shared evenly by 8 GPUs; make nics a divisor or a multiple of 8"),
        ("nics=4", "the bandwidth of the 4 NICs of box 'dgx-a100' is not known; give nic_bandwidth"),
        ("rails=3", "8 NICs of a box cannot be spread evenly over 3 rails"),
        ("boxes=3,boxes_per_leaf=2", "3 boxes do not fill leaf switches of 2 boxes"),
        ("oversubscription=2", "there is one leaf switch, which has no uplinks"),
        ("pod_oversubscription=2", "pod_oversubscription is for the uplinks of pods; set pod_leaves too"),
        ("rails=8,pod_leaves=3", "a pod of 3 leaf switches splits the 8 rails of a box unevenly"),
        ("boxes=6,boxes_per_leaf=1,pod_leaves=4", "6 leaf switches do not fill pods of 4"),
        ("boxes=2,rails=2,pod_leaves=2,pod_oversubscription=2", "there is one pod, which has no uplinks"),
        ("box=dgx-1,nics=8", "box 'dgx-1' has 4 NICs or PCIe switches to the outside"),
        ("box=dgx-1,pcie_bandwidth=8", "box 'dgx-1' has PCIe switches or NICs of its own; leave pcie_bandwidth out"),
        ("dims=2x2", "dims need dim_bandwidth"),
        ("dims=2x2,dim_bandwidth=5,boxes=5", "dims have 4 boxes, but boxes is 5"),
        ("dims=2x2,dim_bandwidth=1+2+3", "dim_bandwidth has 3 values for 2 dimensions"),
        ("dims=2x2x2,dim_bandwidth=1,wrap=true+false", "wrap has 2 values for 3 dimensions"),
        ("dims=2x2,dim_bandwidth=5,rails=2", "a torus has no NICs and no switches unless nics is given"),
        ("dims=2x2,dim_bandwidth=5,sharp=true", "a torus has no NICs and no switches unless nics is given"),
        ("global_bandwidth=5", "there is one group, so global_bandwidth joins nothing"),
        (
            "boxes_per_leaf=1,global_bandwidth=5,oversubscription=2",
            "leaves have no uplinks with global_bandwidth and no pods",
        ),
        (
            "boxes=4,boxes_per_leaf=1,pod_leaves=2,global_bandwidth=5,pod_oversubscription=2",
            "pods have no uplinks with global_bandwidth",
        ),
        ("wrap=false", "dim_bandwidth and wrap are for a torus of boxes; set dims too"),
        ("planes=65", "planes is '65'; expected an integer from 1 to 64"),
        ("dim_bandwidth=x", "dim_bandwidth is 'x'; expected bandwidths joined by '+'"),
    ]:
        assert said in refusal(load_topology, f"cluster:{parameters}")
