"""Topology XML of NCCL and RCCL: small equivalents of real dumps, and every trap of the format."""

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll import failures
from forestcoll.algorithms.boxes import Boxes
from forestcoll.algorithms.generate import generate, optimum
from forestcoll.comparison.link_classes import link_classes as comparison_classes
from forestcoll.topology.importers.hosts.link_speeds import nvlink_speed, xgmi_speed
from forestcoll.topology.importers.hosts.nics import with_kept_nics
from forestcoll.topology.importers.reading import import_topology
from forestcoll.topology.link_classes import link_classes as topology_classes
from forestcoll.topology.registry import build_topology, load_topology
from forestcoll.topology.writers.formats import write_network
from import_tools import algbw, ids, import_text, links, problem
from refusal import refusal


def gpu(
    bus: str, dev: int, entries: str, kind: str = 'sm="80"', speed: str = "16.0 GT/s PCIe", *, width: int = 16
) -> str:
    return (
        f'<pci busid="0000:{bus}:00.0" class="0x030200" link_speed="{speed}" link_width="{width}">'
        f'<gpu dev="{dev}" {kind} rank="{dev}" gdr="1">{entries}</gpu></pci>'
    )


def nic(bus: str, dev: int, speed: str = "200000", name: str = "mlx5_") -> str:
    return (
        f'<pci busid="0000:{bus}:00.0" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="16"><nic>'
        f'<net name="{name}{dev}" dev="{dev}" speed="{speed}" port="1" guid="0x{dev}" maxconn="131072" gdr="1"/>'
        "</nic></pci>"
    )


def bridge(bus: str, inside: str, speed: str = "16.0 GT/s PCIe") -> str:
    return f'<pci busid="0000:{bus}:00.0" class="0x060400" link_speed="{speed}" link_width="16">{inside}</pci>'


def cpu(
    inside: str, number: int = 0, more: str = 'arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49"'
) -> str:
    return f'<cpu numaid="{number}" affinity="ffff" {more}>\n{inside}\n</cpu>'


def system(*cpus: str, version: int = 1) -> str:
    body = "\n".join(cpus)
    return f'<system version="{version}">\n{body}\n</system>\n'


def nvlink(target: str, count: int, tclass: str = "0x068000") -> str:
    return f'<nvlink target="{target}" count="{count}" tclass="{tclass}"/>'


def xgmi(*buses: str, count: int = 1) -> str:
    return "".join(f'<xgmi target="0000:{bus}:00.0" count="{count}" tclass="0x120000"/>' for bus in buses)


SWITCHES = "".join(nvlink(f"0000:c{number}:00.0", 2) for number in range(6))
"""What an A100 lists: two links to each of six NVSwitches."""


def dgx_a100() -> str:
    """A DGX A100: four PCIe switches with two GPUs and two NICs each, and a storage port under the first CPU."""
    parts = []
    for group in range(4):
        pair = (2 * group, 2 * group + 1)
        inside = "".join(gpu(f"{group}{number}", number, SWITCHES) for number in pair)
        parts.append(bridge(f"a{group}", inside + "".join(nic(f"b{number}", number) for number in pair)))
    storage = nic("f0", 8)
    return system(cpu(parts[0] + parts[1] + storage), cpu(parts[2] + parts[3], number=1))


def mi300x(kind: str = 'sm="94" gcn="gfx942"') -> str:
    buses = [f"{number}1" for number in range(8)]
    gpus = [gpu(bus, dev, xgmi(*(each for each in buses if each != bus)), kind) for dev, bus in enumerate(buses)]
    return system(cpu("".join(gpus[:4])), cpu("".join(gpus[4:]), number=1), version=2)


def two_hives(kind: str = 'sm="96" gcn="906"') -> str:
    """Two rings of four GPUs over xGMI, each below one PCIe switch at 8 GT/s, as of eight MI50."""
    parts = []
    for hive in range(2):
        buses = [f"{hive}{number}" for number in range(4)]
        ring = [(buses[number - 1], buses[(number + 1) % 4]) for number in range(4)]
        inside = "".join(gpu(bus, 4 * hive + n, xgmi(*ring[n]), kind, "16 GT/s") for n, bus in enumerate(buses))
        parts.append(bridge(f"e{hive}", inside, "8 GT/s"))
    return system(cpu("".join(parts), more='arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85"'), version=2)


def test_a_dgx_a100_is_eight_ports_of_one_switch() -> None:
    imported = import_text(dgx_a100())
    assert imported.format == "nccl-xml"
    assert ids(imported) == [f"GPU{number}" for number in range(8)]
    assert imported.bandwidths == {Fraction(300): 16}
    assert algbw(imported) == Fraction(2400, 7)
    assert imported.topology.nodes[0].attributes == {"box": "host0", "busid": "0000:00:00.0", "gpu": "0"}
    assert any(each.startswith("8 NICs: ") for each in imported.ignored)
    assert any("mlx5_8" in each for each in imported.ignored)
    assert imported.assumed == ("one NVLink of a GPU with sm=80 carries 25 GB/s each way, the nominal speed",)


def test_two_dumps_of_a_dgx_a100_are_the_two_boxes_of_the_builder() -> None:
    imported = import_text(dgx_a100(), dgx_a100())
    assert ids(imported)[8] == "host1/GPU0"
    assert (imported.boxes, imported.nics) == (2, 16)
    assert algbw(imported) == optimum(build_topology("dgx-a100:boxes=2")).algbw
    assert links(imported)["host1/mlx5_3", "fabric"] == 25
    assert links(imported)["host1/GPU3", "host1/mlx5_3"] == 32
    assert ("host0/GPU2", "host0/mlx5_3") not in links(imported)
    assert import_text(dgx_a100() + dgx_a100()).boxes == 2


def test_the_speeds_of_nccl_are_its_own_and_an_option_overrules_the_table() -> None:
    assert import_text(dgx_a100(), speeds="nccl").bandwidths == {Fraction(240): 16}
    assert import_text(mi300x(), speeds="nccl").bandwidths == {Fraction(48): 56}
    imported = import_text(dgx_a100(), dgx_a100(), speeds="nccl")
    assert links(imported)["host1/GPU3", "host1/mlx5_3"] == 24
    assert import_text(dgx_a100(), nvlink=20).bandwidths == {Fraction(240): 16}
    assert import_text(mi300x(), xgmi="50.5").bandwidths == {Fraction(101, 2): 56}


def test_the_document_has_the_speeds_of_the_table() -> None:
    with (Path(__file__).parents[3] / "docs" / "tables" / "link-speeds.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for link, *row in csv.reader(file) if link in ("NVLink", "xGMI")]
    capabilities = {"P100": 60, "V100, A100": 80, "A40, A6000, RTX 3090": 86, "H100, H200": 90, "B200": 100}
    architectures = {"MI50, MI100": "gfx908", "MI250": "gfx90a", "MI300X, MI325X": "gfx942", "MI355X": "gfx950"}
    assert [name for name, *_ in rows] == [*capabilities, *architectures]
    for name, *shown in rows:
        for speeds, figure in zip(("nominal", "nccl"), shown, strict=True):
            known = capabilities.get(name)
            speed = nvlink_speed(known, speeds) if known else xgmi_speed(architectures[name], speeds)
            assert speed == Fraction(figure)


def test_each_link_of_xgmi_counts_once_and_the_number_910_is_gfx90a() -> None:
    imported = import_text(mi300x())
    assert imported.bandwidths == {Fraction(64): 56}
    assert algbw(imported) == 512
    kind = 'sm="90" gcn="910" arch="38911"'
    text = system(cpu(gpu("c1", 0, xgmi("c6", count=4), kind) + gpu("c6", 1, xgmi("c1", count=4), kind)), version=2)
    assert import_text(text).bandwidths == {Fraction(200): 2}


def test_hives_without_a_link_between_them_are_joined_by_pcie_and_cpus() -> None:
    imported = import_text(two_hives())
    found = links(imported)
    assert found["GPU0", "GPU1"] == 46
    assert found["GPU0", "PCIe-0000:e0:00.0"] == 32
    assert found["PCIe-0000:e0:00.0", "CPU0"] == 16
    assert algbw(imported) == 32  # four GPUs receive half of all data over 16 GB/s
    assert algbw(import_text(two_hives(), speeds="nccl")) == 24


def test_a_link_between_cpus_has_the_figure_of_nccl() -> None:
    def joined(more: str) -> Fraction:
        one, other = gpu("01", 0, ""), gpu("02", 1, "")
        return links(import_text(system(cpu(one, 0, more), cpu(other, 1, more))))["CPU0", "CPU1"]

    intel = 'arch="x86_64" vendor="GenuineIntel" familyid="6" modelid='
    assert [joined(f'{intel}"{model}"') for model in (79, 85, 143, 207)] == [6, 10, 22, 40]
    assert joined('arch="ppc64"') == 32
    assert joined('arch="arm64"') == 6
    assert joined('arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49"') == 16


def test_a_pcie_slot_by_speed_and_width() -> None:
    for speed, width, nominal, nccl in [
        ("16.0 GT/s PCIe", 16, 32, 24),
        ("16 GT/s", 8, 16, 12),
        ("8 GT/s", 0, 16, 12),
        ("32.0 GT/s PCIe", 16, 64, 48),
        ("2.5 GT/s PCIe", 1, Fraction(5, 16), Fraction(3, 16)),
        ("Unknown", 16, 16, 12),
        ("", 16, 16, 12),
    ]:
        gpus = [gpu(f"0{dev + 1}", dev, "", speed=speed, width=width) for dev in range(2)]
        text = system(cpu("".join(gpus)))
        assert links(import_text(text))["GPU0", "CPU0"] == nominal, speed
        assert links(import_text(text, speeds="nccl"))["GPU0", "CPU0"] == nccl, speed


def hopper(targets: Sequence[str], tclass: str = "0x068000") -> str:
    entries = "".join(nvlink(target, 18 // len(targets), tclass) for target in targets)
    return system(cpu("".join(gpu(f"0{number}", number, entries, 'sm="90"') for number in range(8))))


def test_a_hidden_nvswitch_and_several_are_one_node_and_nvlink_5_is_twice_as_fast() -> None:
    for targets in (["fffffff:ffff:ff"], ["fffffff:ff:ff.0"], ["0000:05:0f.0", "0000:06:0f.0"]):
        text = hopper(targets)
        imported = import_text(text)
        assert imported.bandwidths == {Fraction(450): 16}
        assert len(imported.topology.switches) == 1
        assert import_text(text, speeds="nccl").bandwidths == {Fraction("370.8"): 16}
        newer = text.replace('sm="90"', 'sm="100"')
        assert import_text(newer).bandwidths == {Fraction(900): 16}
        assert import_text(newer, speeds="nccl").bandwidths == {Fraction("721.8"): 16}


def test_a_gpu_is_known_by_host_and_bus_id_where_nvlink_joins_hosts() -> None:
    entries = nvlink("fffffff:ff:ff.0", 18)
    pair = gpu("01", 0, entries, 'sm="100"') + gpu("02", 1, entries, 'sm="100"')
    hosts = [cpu(pair, 0, f'host_hash="0x{host}" arch="arm64"') for host in "abc"]
    imported = import_text(system(*hosts))
    assert ids(imported) == [f"host{host}/GPU{dev}" for host in range(3) for dev in range(2)]
    assert imported.boxes == 3
    assert imported.topology.nodes[6].attributes == {"device": "nvswitch"}  # no host has the switch that all share
    assert imported.bandwidths == {Fraction(900): 12}


def test_hosts_in_one_file_that_only_nics_join_and_hosts_without_nics() -> None:
    bare = "".join(gpu(f"0{number}", number, "") for number in range(2)) + nic("10", 0) + nic("11", 1)
    hosts = [cpu(bare, 0, f'host_hash="0x{host}" arch="arm64"') for host in "ab"]
    imported = import_text(system(*hosts))
    assert imported.nics == 4
    assert links(imported)["host1/mlx5_0", "fabric"] == 25
    text = system(cpu(two_gpus()))
    assert "lists no NIC of host 'host0'" in problem(text, text)


def test_nics_that_gpus_share_cards_with_two_ports_and_virtual_ports() -> None:
    two_ports = nic("b0", 0).replace("</nic>", '<net name="mlx5_1" dev="1" speed="100000" port="2"/></nic>')
    inside = two_gpus() + two_ports
    imported = import_text(system(cpu(bridge("a0", inside))), system(cpu(bridge("a0", inside))))
    found = links(imported)
    assert found["host0/mlx5_0/out", "fabric"] == found["fabric", "host0/mlx5_0/in"] == Fraction(75, 2)
    assert found["host0/GPU0", "host0/mlx5_0/out"] == found["host0/mlx5_0/in", "host0/GPU1"] == 32
    assert ("host0/GPU0", "host0/mlx5_0/in") not in found  # no data goes from GPU to GPU through a NIC
    assert imported.nics == 2
    changed = imported.topology.without("host0/mlx5_0")
    assert len(changed.nodes) == len(imported.topology.nodes) - 2
    assert len(imported.topology.without("host0/mlx5_0--fabric").links) == len(found) - 2
    slower = imported.topology.degraded("host0/GPU0--host0/mlx5_0", to="50%")
    assert [each.bandwidth for each in slower.links].count(Fraction(16)) == 2
    inside = two_gpus() + nic("b0", 0) + nic("b1", 1) + '<nic><net name="eth0" dev="2" speed="10000" port="0"/></nic>'
    imported = import_text(system(cpu(inside)), system(cpu(inside)))
    assert imported.nics == 4
    assert any("eth0" in each for each in imported.ignored)


def test_each_gpu_uses_the_nearest_nic_and_no_data_goes_from_gpu_to_gpu_through_a_nic() -> None:
    """Each PCIe switch has a GPU, a switch with another GPU and a NIC, and a NIC, as in a DGX A100."""
    groups = []
    for group in range(4):
        first, second = (gpu(f"{group}{place}", 2 * group + place, nvlink("0000:c0:00.0", 12)) for place in range(2))
        inner = bridge(f"a{group}", second + nic(f"d{group}", 2 * group))
        groups.append(bridge(f"b{group}", first + inner + nic(f"e{group}", 2 * group + 1)))
    imported = import_text(*[system(cpu("".join(groups)))] * 2)
    found = links(imported)
    assert ("host0/GPU1", "host0/mlx5_0") in found
    assert ("host0/GPU0", "host0/mlx5_1") in found
    assert ("host0/GPU1", "host0/mlx5_1") not in found
    assert algbw(imported) == Fraction(1040, 3)  # 354.1 if GPU 0 also received from GPU 1 through a NIC
    assert generate(imported.topology, method="two-level").algbw == Fraction(2400, 7)
    assert generate(imported.topology, "allreduce", method="nccl-tree").algbw == Fraction(1200, 7)
    assert [each.name("GB/s") for each in topology_classes(imported.topology)] == [
        "16 links of 300 GB/s between GPUs and NVSwitches",
        "16 links of 32 GB/s between GPUs and NICs",
        "16 links of 25 GB/s between NICs and switches",
    ]
    boxes = Boxes(imported.topology, imported.topology.compute)
    assert list(comparison_classes(imported.topology, boxes)) == ["NVSwitch links", "GPU to NIC links", "NIC links"]


@pytest.mark.parametrize(
    ("nics", "gpus", "two_level", "ring"),
    [(4, 1, "2400/7", "4096/15"), (2, 1, "2400/7", "640/3"), (1, 2, "100", "160/3"), (1, 8, "25", "40/3")],
)
def test_algorithms_of_libraries_use_all_nics_of_imported_hosts(
    nics: int, gpus: int, two_level: str, ring: str
) -> None:
    """Eight GPUs on an NVSwitch: some have several NICs of 12.5 GB/s, others share one."""
    parts = []
    for group in range(8 // gpus):
        inside = [gpu(f"{n:02x}", n, nvlink("0000:c0:00.0", 12)) for n in range(group * gpus, (group + 1) * gpus)]
        ports = [nic(f"{0x40 + n:02x}", n, "100000") for n in range(group * nics, (group + 1) * nics)]
        parts.append(bridge(f"a{group}", "".join([*inside, *ports])))
    network = import_text(*[system(cpu("".join(parts)))] * 2).topology
    assert generate(network, method="two-level").algbw == Fraction(two_level)
    assert generate(network, method="nccl-ring").algbw == Fraction(ring)
    assert generate(network, "allreduce", method="nccl-tree").algbw == Fraction(two_level) / 2


def test_nics_of_one_gpu_carry_together_what_its_slot_carries() -> None:
    text = system(cpu(bridge("a0", gpu("00", 0, "") + nic("b0", 0) + nic("b1", 1))))
    imported = import_text(text, text)
    assert links(imported)["host0/GPU0", "host0/mlx5_0"] == 16
    assert algbw(imported) == 64


def test_which_network_cards_count_is_said_and_can_be_changed() -> None:
    imported = import_text(dgx_a100(), dgx_a100())
    assert imported.nics == 16
    assert any("share no PCIe switch with a GPU (--nics all counts them): mlx5_8" in each for each in imported.ignored)
    imported = import_text(dgx_a100(), dgx_a100(), nics="all")
    assert imported.nics == 18
    assert not any("mlx5_8" in each for each in imported.ignored)
    imported = import_text(dgx_a100(), dgx_a100(), nics="mlx5_0+mlx5_4")
    assert imported.nics == 4
    assert links(imported)["host0/mlx5_0/out", "fabric"] == 25
    assert "there is no network card 'mlx5_77'; did you mean" in problem(dgx_a100(), dgx_a100(), nics="mlx5_77")


def test_a_gpu_without_a_nic_of_its_own_shares_one_at_its_pcie_switch() -> None:
    inner = bridge("a1", gpu("01", 1, nvlink("0000:c0:00.0", 12)) + nic("b0", 0))
    text = system(cpu(bridge("a0", gpu("00", 0, nvlink("0000:c0:00.0", 12)) + inner)))
    found = links(import_text(text, text))
    assert {one for one, other in found if other == "host0/mlx5_0/out"} == {"host0/GPU0", "host0/GPU1"}
    apart = system(cpu(gpu("00", 0, nvlink("0000:c0:00.0", 12)) + inner))
    assert {one for one, other in links(import_text(apart, apart)) if other == "host0/mlx5_0"} == {
        "host0/GPU1",
        "fabric",
    }


def test_a_port_that_is_much_slower_than_others_is_for_management() -> None:
    inside = "".join(gpu(f"0{n}", n, "") for n in range(2)) + nic("b0", 0) + nic("b1", 1, "10000", "eth")
    text = system(cpu(inside))
    imported = import_text(text, text)
    assert imported.nics == 2
    assert any("less than a tenth of the speed of others (--nics all counts them): eth1" in s for s in imported.ignored)
    assert import_text(text, text, nics="all").nics == 4


def test_a_port_whose_gpus_have_nearer_ports_serves_none() -> None:
    inner = bridge("a1", gpu("01", 0, "") + nic("b0", 0))
    text = system(cpu(bridge("a0", inner + nic("b1", 1))))
    imported = import_text(text, text)
    assert imported.nics == 2
    said = "further away from GPUs than their other ports (--nics all counts them): mlx5_1"
    assert any(said in each for each in imported.ignored)
    assert import_text(text, text, nics="all").nics == 4


def test_nics_near_no_gpu_are_shared_by_the_host() -> None:
    halves = [cpu(two_gpus(), 0), cpu(nic("b0", 0), 1)]
    imported = import_text(system(*halves), system(*halves))
    assert {gpu for gpu, nic in links(imported) if nic == "host0/mlx5_0/out"} == {"host0/GPU0", "host0/GPU1"}
    assert any("1 NIC near no GPU, shared by all GPUs of the host: mlx5_0" in each for each in imported.assumed)


def test_a_cluster_of_one_dump_has_the_nics_of_the_dump(tmp_path: Path) -> None:
    file, kept = tmp_path / "topo.xml", tmp_path / "host.json"
    file.write_text(dgx_a100())
    write_network(import_topology(file).topology, kept)
    expected = optimum(import_topology(file, hosts=3).topology).algbw
    for box in (file, kept):
        cluster = load_topology(f"cluster:box={box},boxes=3")
        assert optimum(cluster).algbw == expected
        assert cluster.bandwidths[cluster.number("b2/mlx5_3"), cluster.number("leaf0")] == 25
        assert optimum(load_topology(f"cluster:box={box},boxes=3,nic_bandwidth=20")).algbw < expected
        assert load_topology(f"cluster:box={box},boxes=3,nics=4,nic_bandwidth=50").find("b2/mlx5_3") is None
    shared = dgx_a100().replace('name="mlx5_8" dev="8"', 'name="mlx5_8" dev=""')
    file.write_text(re.sub(r'<net name="mlx5_[1357]" dev="."', "<net", shared))
    cluster = load_topology(f"cluster:box={file},boxes=2")
    assert optimum(cluster).algbw == optimum(import_topology(file, hosts=2).topology).algbw == 200
    found = {tuple(cluster.ids((link.source, link.target))) for link in cluster.links}
    assert {("b0/mlx5_2/out", "leaf0"), ("leaf0", "b0/mlx5_2/in")} <= found
    assert ("b0/mlx5_2/in", "leaf0") not in found
    assert [each.change.name for each in failures(cluster, "nics").rows] == ["b0/mlx5_0"]
    assert cluster.without("b1/mlx5_2--leaf0").name.endswith("without b1/mlx5_2--leaf0")
    write_network(load_topology(kept).without("GPU2"), kept)
    cluster = load_topology(f"cluster:box={kept},boxes=2")
    assert (cluster.find("b1/mlx5_2"), len(cluster.compute)) == (None, 14)
    broken = replace(import_topology(file).topology, attributes={"nics": [{"id": "x"}]})
    assert "import again" in refusal(with_kept_nics, broken)


def test_files_of_the_same_name_are_the_hosts_of_their_folders(tmp_path: Path) -> None:
    for folder in ("left/now", "right/now"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "topo.xml").write_text(dgx_a100())
    imported = import_topology(tmp_path / "left/now/topo.xml", tmp_path / "right/now/topo.xml")
    assert {node.attributes["box"] for node in imported.topology.nodes if node.is_compute} == {"left", "right"}
    assert imported.topology.name == "2 hosts of topo"


def two_gpus() -> str:
    return "".join(gpu(f"0{number + 1}", number, nvlink("0000:c0:00.0", 12)) for number in range(2))


def test_a_socket_that_every_cpu_lists_is_one_nic_and_names_that_are_used_twice_get_numbers() -> None:
    socket = '<nic><net name="eth0" dev="0" speed="10000" port="0" guid="0x0" gdr="0"/></nic>'
    halves = [cpu(gpu(f"0{n}", n, nvlink("fffffff:ff:ff.0", 18), 'sm="100"') + socket, n) for n in range(2)]
    imported = import_text(system(*halves), system(*halves))
    assert imported.nics == 2
    assert links(imported)["host0/eth0/out", "fabric"] == Fraction(5, 4)
    twins = nic("b0", 0).replace("mlx5_0", "hsn") + nic("b1", 1).replace("mlx5_1", "hsn")
    inside = bridge("a0", gpu("00", 0, nvlink("0000:c0:00.0", 12)) + twins)
    assert ("host1/hsn-1", "fabric") in links(import_text(system(cpu(inside)), system(cpu(inside))))


def test_ports_without_dev_and_speeds_that_cannot_be_right() -> None:
    def fabric(speed: str, **options: Any) -> tuple[Fraction, tuple[str, ...]]:
        text = system(cpu(bridge("a0", gpu("00", 0, nvlink("0000:c0:00.0", 12)) + nic("b0", 0, speed))))
        imported = import_text(text, text, **options)
        return links(imported)["host0/mlx5_0", "fabric"], imported.assumed

    assert fabric("0")[0] == fabric("-1")[0] == Fraction(5, 4)
    huge, assumed = fabric("200000000")
    assert huge == 25000
    assert any("implausible" in each and "--nic" in each for each in assumed)
    assert fabric("200000000", nic=25)[0] == 25
    text = dgx_a100().replace('<net name="mlx5_8" dev="8"', '<net name="mlx5_8"')
    assert any("<net> without dev" in each for each in import_text(text).ignored)


def test_links_to_itself_and_elsewhere_ranks_that_share_a_gpu_and_bus_ids_that_are_used_twice() -> None:
    entries = nvlink("0000:c0:00.0", 12) + nvlink("0000:01:00.0", 4, "0x030200") + nvlink("0000:77:00.0", 1, "0x030200")
    imported = import_text(system(cpu(gpu("01", 0, entries) + gpu("02", 1, nvlink("0000:c0:00.0", 12)))))
    assert imported.bandwidths == {Fraction(300): 4}
    assert any("to itself" in each for each in imported.ignored)
    assert any("0000:77:00.0" in each for each in imported.ignored)
    double = gpu("01", 0, nvlink("0000:c0:00.0", 12)).replace("</pci>", '<gpu dev="0" sm="80" rank="1"/></pci>')
    imported = import_text(system(cpu(double + gpu("02", 1, nvlink("0000:c0:00.0", 12)))))
    assert ids(imported) == ["GPU0-rank0", "GPU0-rank1", "GPU1"]
    assert links(imported)["GPU0-rank1", "GPU0"] == 5000
    assert links(imported)["GPU0", "NVSwitch"] == 300
    twins = cpu(bridge("a0", gpu("01", 0, "") + gpu("02", 1, "")) + bridge("a0", gpu("03", 2, "") + gpu("04", 3, "")))
    assert len(import_text(system(twins)).topology.switches) == 3


def test_nvlink_to_a_cpu_and_c2c_count_where_cpus_do() -> None:
    power = 'arch="ppc64"'
    entries = nvlink("0000:00:00.0", 3, "0x068001")
    text = system(cpu(gpu("01", 0, entries, 'sm="70"'), 0, power), cpu(gpu("02", 1, entries, 'sm="70"'), 1, power))
    found = links(import_text(text))
    assert found["GPU0", "CPU0"] == 32 + 75
    grace = text.replace(entries, '<c2c bw="44712" count="10"/>')
    assert links(import_text(grace))["GPU0", "CPU0"] == 32 + Fraction("447.12")


def test_c2c_is_the_way_to_the_nics_of_a_host_with_one_gpu() -> None:
    slow = gpu("01", 0, '<c2c bw="10000" count="60"/>', 'sm="121"', "2.5 GT/s PCIe", width=1)
    text = system(cpu(slow + nic("b0", 0, "200000") + nic("b1", 1, "200000"), more='arch="arm64"'))
    imported = import_text(text, text)
    assert links(imported)["host0/GPU0", "host0/mlx5_0"] == 32
    assert algbw(imported) == 100
    said = "GPU0 reaches NICs over NVLink-C2C of 600 GB/s, as its PCIe slot carries 0.3125 GB/s"
    assert any(said in each for each in imported.assumed)


def test_one_file_stands_for_several_hosts_and_a_file_that_is_given_twice_is_two(tmp_path: Path) -> None:
    (tmp_path / "dgx.xml").write_text(dgx_a100())
    file = tmp_path / "dgx.xml"
    for imported in (import_topology(file, file), import_topology(file, hosts=2)):
        assert imported.boxes == 2
        assert algbw(imported) == optimum(build_topology("dgx-a100:boxes=2")).algbw
        assert ids(imported)[8] == "b1/GPU0"
        assert imported.topology.name == "2 hosts of dgx"
    named = import_topology(file, file, names=["left", "right"])
    assert {node.attributes.get("box") for node in named.topology.nodes} == {"left", "right", None}
    assert ids(named)[0] == "left/GPU0"
    assert "give each host a name" in refusal(import_topology, file, hosts=3, names=["a", "b"])


def test_text_after_tags_comments_with_dashes_and_declarations_before_the_system_do_not_matter() -> None:
    text = "<!-----\n - a licence\n ----->\nsome prompt$ cat topo.xml\n" + dgx_a100().replace(
        "</gpu>", "</gpu> stray text"
    )
    assert import_text(f"{text}\nfs@host:~$ ").bandwidths == {Fraction(300): 16}
    declared = '<!DOCTYPE system [<!ENTITY a "b">]>' + dgx_a100().replace("stray", "&a;")
    assert import_text(declared).bandwidths == {Fraction(300): 16}


DEVICE = '<pci busid="0000:01:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>'
GRAPHS = '<graphs version="1"><graph id="0" pattern="4"><channel><gpu dev="0"/></channel></graph></graphs>'


def test_what_is_broken_is_said_with_its_line() -> None:
    for text, said in [
        (dgx_a100().replace("</system>", ""), "no </system>; the file is cut off"),
        (dgx_a100().replace("</cpu>", "", 1), "line 8: not well-formed XML: mismatched tag"),
        (dgx_a100().replace('count="2"', 'count="two"', 1), "line 3: count is 'two'; expected a whole number"),
        (dgx_a100().replace('speed="200000"', 'speed="fast"', 1), "line 3: net speed is 'fast'"),
        (dgx_a100().replace('sm="80"', 'sm="35"'), "what one NVLink of a GPU with sm=35 carries; give --nvlink GBPS"),
        (mi300x('sm="1"'), "what one xGMI link of a GPU with gcn=? carries; give --xgmi GBPS"),
        (dgx_a100().replace("0000:00:00.0", "", 1), "<pci> has no busid; give it one"),
        (system(cpu('<gpu dev="0"/>')), "<gpu> is in no <pci>"),
        (
            system(cpu(gpu("01", 0, ""))),
            "needs at least two; 'forestcoll import' takes a file of each host, or --hosts N for N",
        ),
        (dgx_a100().replace("</gpu>", "&a;</gpu>", 1), "not well-formed XML: undefined entity"),
        (system(cpu(bridge("a0", DEVICE))), "no <gpu>, <nvlink> or <net>"),
        (system(cpu(bridge("a0", DEVICE))), "NCCL_TOPO_FILE"),
        (system(cpu(bridge("a0", DEVICE))), "NCCL_TOPO_DUMP_FILE=topo.xml"),
        (GRAPHS, "are its plan and no network; run the job with NCCL_TOPO_DUMP_FILE"),
    ]:
        assert said in problem(text)
