"""Topology files for NCCL: of machines, and of imported dumps with what has failed taken out."""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll import Topology, load_topology
from forestcoll.algorithms.generate import optimum
from forestcoll.nccl.graph.hosts import host_graphs
from forestcoll.nccl.topology_file import texts_for_virtual_machines, texts_of
from forestcoll.topology.changes import changed_network
from forestcoll.topology.importers.reading import import_topology
from forestcoll.topology.writers.formats import write_network
from refusal import refusal

DUMP = """<system version="1">
  <cpu host_hash="0x77" numaid="0" affinity="ff" arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49">
    <pci busid="0000:a0:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:01:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="80" rank="0" gdr="1">
          <nvlink target="0000:c0:00.0" count="2" tclass="0x068000"/>
          <nvlink target="0000:c1:00.0" count="2" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:02:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="80" rank="1" gdr="1">
          <nvlink target="0000:c0:00.0" count="2" tclass="0x068000"/>
          <nvlink target="0000:c1:00.0" count="2" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:b0:00.0" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" speed="100000" port="1" guid="0x9" maxconn="131072" gdr="1" rail="0" plane="0"/>
          <net name="mlx5_1" dev="1" speed="100000" port="2" guid="0x9" maxconn="131072" gdr="1" rail="1" plane="0"/>
        </nic>
      </pci>
      <pci busid="0000:b1:00.0" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_2" dev="2" speed="200000" port="1" guid="0x8" maxconn="131072" gdr="1" rail="2" plane="0"/>
        </nic>
      </pci>
    </pci>
  </cpu>
</system>
"""


def hosts(folder: Path, **options: object) -> Topology:
    (folder / "node.xml").write_text(DUMP)
    return import_topology(folder / "node.xml", **{"hosts": 2, **options}).topology  # type: ignore[arg-type]


def test_a_dump_is_written_without_what_belongs_to_its_job(tmp_path: Path) -> None:
    [text] = texts_of(hosts(tmp_path)).values()
    expected = re.sub(r' (rank|rail|plane|guid|host_hash)="\w+"', "", DUMP)
    assert text == expected
    (tmp_path / "words.xml").write_text(DUMP.replace("16.0 GT/s PCIe", "16.0 GT/s"))
    assert list(texts_of(import_topology(tmp_path / "words.xml").topology).values()) == [expected]
    write_network(hosts(tmp_path), tmp_path / "again.json")
    assert texts_of(load_topology(tmp_path / "again.json")) == {"b0": expected}


def test_failed_parts_of_a_dump_are_taken_out_and_slow_ports_say_so(tmp_path: Path) -> None:
    changes = {
        "without": ["b0/mlx5_2"],
        "degrade": ["b0/GPU0--b0/NVSwitch=75", "b0/mlx5_0--fabric=50%"],
    }
    whole, hurt = texts_of(changed_network(hosts(tmp_path), **changes)), texts_of(hosts(tmp_path))["b0"]
    assert list(whole) == ["b0", "b1"]
    assert whole["b1"] == hurt
    text = whole["b0"]
    assert "mlx5_2" not in text
    assert "0000:b1" not in text
    assert re.findall('speed="([0-9]+)"', text) == ["50000", "50000"]
    assert re.findall('count="([0-9]+)"', text) == ["2", "1", "2", "2"]
    (tmp_path / "hurt.xml").write_text(text)
    read = import_topology(tmp_path / "hurt.xml", hosts=2).topology
    assert read.bandwidths[read.find("b0/GPU0"), read.find("b0/NVSwitch")] == 75  # type: ignore[index]
    without = texts_of(hosts(tmp_path).without("b0/GPU1"))["b0"]
    assert "0000:02" not in without
    assert without.count("<gpu ") == 1


@pytest.mark.parametrize("spec", ["dgx-1", "dgx-2", "hgx-a100-4", "dgx-a100", "dgx-h100", "dgx-b200", "aws-p5"])
def test_the_file_of_a_machine_is_read_back_as_the_same_network(tmp_path: Path, spec: str) -> None:
    network = load_topology(f"{spec}:boxes=2")
    [text] = texts_of(network).values()
    (tmp_path / "box.xml").write_text(text)
    read = import_topology(tmp_path / "box.xml", hosts=2).topology
    # Two GPUs of a DGX-2 share a NIC of 12.5 GB/s, and only the machine lets them exchange data over its PCIe switch.
    assert optimum(read).algbw == (Fraction(5000, 31) if spec == "dgx-2" else optimum(network).algbw)
    alone = load_topology(f"{spec}:boxes=1")
    (tmp_path / "box.xml").write_text(next(iter(texts_of(alone).values())))
    assert optimum(import_topology(tmp_path / "box.xml").topology).algbw == optimum(alone).algbw


def test_a_virtual_machine_gets_cpus_and_slots_only(tmp_path: Path) -> None:
    text = texts_for_virtual_machines(hosts(tmp_path))["b0"]
    assert set(re.findall(r"<(\w+)", text)) == {"system", "cpu", "pci"}
    assert text.count("<pci") == 5


def test_hosts_that_differ_are_a_folder_and_other_networks_are_refused(tmp_path: Path) -> None:
    differ = load_topology("dgx-a100:boxes=2").without("b1/gpu0--ib")
    write_network(differ, tmp_path / "hosts", "nccl-topo")
    assert sorted(path.name for path in (tmp_path / "hosts").iterdir()) == ["b0.xml", "b1.xml"]
    assert "name a folder" in refusal(write_network, differ, tmp_path / "hosts.xml", "nccl-topo")
    for spec in ("ring:nodes=4", "mi300x"):
        assert "no NVIDIA machine that is known" in refusal(texts_of, load_topology(spec))


def test_graph_files_name_the_ports_of_an_imported_host(tmp_path: Path) -> None:
    [found] = host_graphs(hosts(tmp_path))
    assert found.rings is not None
    assert (len(found.rings.orders), found.rings.total) == (4, Fraction(50))
    ends = re.findall('net dev="(\\w+)"', found.text)
    assert [ends.count(port) for port in ("0x0", "0x1", "0x2")] == [2, 2, 4]


def test_an_attribute_that_was_changed_by_hand_is_one_line(tmp_path: Path) -> None:
    network = hosts(tmp_path)
    for value in ("x", [{"hosts": ["b0"]}], [{"hosts": 1, "text": "", "sm": "x", "nvlink": "1/0", "nets": ""}]):
        broken = replace(network, attributes={**network.attributes, "nccl": value})
        assert "import again" in refusal(texts_of, broken)
        assert "import again" in refusal(host_graphs, broken)
