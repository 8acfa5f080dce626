"""Files that are refused: what is wrong and where is on one line, and limits stop long work early."""

import gzip
import json
import re
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from import_tools import import_text, links, problem
from test_fabrics import TREE, YAML_TREE
from test_graphs import NATIVE
from test_simulators import INFRAGRAPH

from forestcoll.base.errors import InputError
from forestcoll.topology import TopologyBuilder
from forestcoll.topology.importers import formats, yaml_values
from forestcoll.topology.importers.formats import FORMATS, import_sources, import_topology
from forestcoll.topology.importers.graphs import plain
from forestcoll.topology.importers.hosts import amd_tables, hwloc_xml
from forestcoll.topology.importers.options import ImportOptions
from forestcoll.topology.importers.simulators import infragraph
from forestcoll.topology.importers.source import Source
from forestcoll.topology.registry import build_topology
from forestcoll.topology.writers.formats import write_network


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"speeds": "fast"}, "speeds is 'fast'; expected 'nominal' or 'nccl'"),
        ({"matrix": "ring"}, "matrix is 'ring'; expected 'ports' or 'complete'"),
        ({"nvlink": Fraction(0)}, "nvlink is 0; expected a bandwidth above 0"),
        ({"link_bandwidth": Fraction(-1, 2)}, "link_bandwidth is -1/2; expected a bandwidth above 0"),
    ],
)
def test_an_option_with_a_wrong_value_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        ImportOptions(**options)
    assert str(caught.value) == message


def test_an_unknown_format_has_the_nearest_name() -> None:
    with pytest.raises(InputError, match="there is no format 'nccl-xm'; did you mean 'nccl-xml'"):
        import_text("a b 1\n", form="nccl-xm")


def test_a_format_of_whole_networks_takes_one_file() -> None:
    said = problem("a b 1\n", "c d 1\n", form="edge-list")
    assert said == "host1.txt: a network in format edge-list is one file; import one at a time"


def test_files_of_several_hosts_have_one_format() -> None:
    said = problem(NATIVE, TREE)
    assert said.startswith("host1.txt: is in format slurm, and host0.txt in sndlib; ")


def test_hosts_with_the_same_name_get_numbers() -> None:
    text = "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV4\tPIX\nGPU1\tNV4\t X \tPIX\nNIC0\tPIX\tPIX\t X \n"
    sources = [Source.of(text.encode(), Path(folder, "node.txt")) for folder in ("a", "b", "c")]
    found = import_sources(sources, ImportOptions(nvlink=Fraction(25), nic=Fraction(50), pcie=Fraction(32)))
    assert {str(node.attributes["box"]) for node in found.topology.nodes if node.is_compute} == {
        "node", "node-2", "node-3"
    }  # fmt: skip
    assert any("a second host is called 'node'; it is named 'node-2' here" in each for each in found.assumed)


def test_a_file_that_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match=r"x\.txt: not UTF-8 text \(byte 2\); save it as UTF-8"):
        Source.of(b"a \xff", Path("x.txt"))
    with pytest.raises(InputError, match=r"x\.txt: compressed with gzip, but its name does not end in \.gz"):
        Source.of(gzip.compress(b"a"), Path("x.txt"))


def graphml(node: str) -> str:
    key = '<key id="d0" for="node" attr.name="id_as_json" attr.type="string"/>'
    graph = f'<graph edgedefault="undirected"><node id="n0"><data key="d0">{node}</data></node></graph>'
    return f"<graphml>{key}{graph}</graphml>"


HALF_A_LINK = """<network xmlns="http://sndlib.zib.de/network"><networkStructure><nodes><node id="A"/></nodes>
<links><link id="l"><source>A</source></link></links></networkStructure></network>"""

AMD_GPU = {"gpu": 0, "links": [], "link_type": 1}

TACCL = {"name": "s", "gpus_per_node": 2, "alpha": 1, "node_betas_list": [1], "node_invbws_list": [-1]}

CONNECTED = """
infrastructure:
  devices:
    - name: box
      components: [{name: xpu, type: xpu, count: 2}]
      links: [{name: nvlink, bandwidth: {choice: gigabytes_per_second, gigabytes_per_second: 50}}]
      connections: [xpu.0.pcie.xpu.1]
  instances: [{name: host, device: box, count: 2}]
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (graphml("[1"), "id_as_json of node 'n0' is '[1'; expected JSON"),
        (graphml("[1]"), "id_as_json of node 'n0' is '[1]'; expected JSON"),
        ('{"nodes": [[1]], "links": []}', "nodes[0] is [1]; expected an object"),
        (HALF_A_LINK, "a <link> needs <source> and <target>"),
        (json.dumps(TACCL), 'node_invbws_list holds "-1"; expected microseconds above 0'),
        (INFRAGRAPH.replace("count: 4, choice: xpu", "count: 99999999, choice: xpu"), "count of xpu is 99999999; "),
        (INFRAGRAPH.replace("xpu[0:4]", "xpu[0:4:0]"), "'xpu[0:4:0]' has a step of 0"),
        (CONNECTED, "the connection 'xpu.0.pcie.xpu.1' names no link; there are nvlink"),
    ],
)
def test_what_is_broken_is_said(text: str, said: str) -> None:
    assert said in problem(text, link_bandwidth=1, pcie=32)


@pytest.mark.parametrize(
    ("room", "name", "most", "text", "said"),
    [
        (plain, "_KEPT", 1, '{"nodes": [{"id": 1, "a": 1, "b": 2}], "links": []}', "node 1 has more than 1 attributes"),
        (infragraph, "MAX_NODES", 20, INFRAGRAPH, "has more than 20 nodes; make it smaller"),
        (infragraph, "MAX_LINKS", 3, INFRAGRAPH, "an edge stands for more than 3 links"),
        (infragraph, "MAX_LINKS", 30, INFRAGRAPH, "has more than 30 links; make it smaller"),
        (amd_tables, "_MOST_GPUS", 1, json.dumps([AMD_GPU] * 2), "lists more than 1 GPUs"),
        (yaml_values, "_MAX_BYTES", 9, INFRAGRAPH, "of YAML; import a smaller file"),
    ],
)
def test_a_file_beyond_a_limit_is_refused(
    room: Any, name: str, most: int, *, text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, name, most)
    assert said in problem(text, link_bandwidth=1, pcie=32)


def test_a_matrix_of_too_many_objects_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from test_hwloc_xml import dgx2

    monkeypatch.setattr(hwloc_xml, "_MOST_OBJECTS", 3)
    assert "the matrix has more than 3 objects" in problem(dgx2())


def test_a_line_of_slurm_continues_after_a_backslash() -> None:
    split = TREE.replace("Nodes=tux[2,3]", "\\\n  Nodes=tux[2,3]")
    assert links(import_text(split, link_bandwidth=50)) == links(import_text(TREE, link_bandwidth=50))


def test_only_the_first_topology_of_slurm_is_read() -> None:
    other = YAML_TREE.removeprefix("---\n").replace("topology: t", "topology: u").replace("core", "top")
    imported = import_text(YAML_TREE + other, link_bandwidth=50)
    assert links(imported) == links(import_text(YAML_TREE, link_bandwidth=50))
    assert any("the topologies after the first, 't'" in each for each in imported.ignored)


def test_an_unlimited_capacity_of_sndlib_states_no_bandwidth() -> None:
    text = NATIVE.replace("155.00 0.00", "UNLIMITED 0.00")
    assert "the bandwidth of 1 edge, such as 'Beta' -> 'Gamma'" in problem(text)
    imported = import_text(text, link_bandwidth=10)
    assert links(imported)["Alpha", "Beta"] == 160


@pytest.mark.parametrize("name", ["network.txt", "network.yml"])
def test_bandwidths_without_a_unit_in_bytes_cannot_be_written(name: str, tmp_path: Path) -> None:
    builder = TopologyBuilder("odd", bandwidth_unit="messages")
    builder.add_duplex(builder.add_compute("a"), builder.add_compute("b"), 1)
    with pytest.raises(
        InputError, match="odd: bandwidth_unit is 'messages', whose size in bytes is not known; use one such as GB"
    ):
        write_network(builder.build(), tmp_path / name)


def test_a_network_with_other_switches_than_one_star_has_no_yaml(tmp_path: Path) -> None:
    builder = TopologyBuilder("chain")
    for switch in ("s", "t"):
        builder.add_switch(switch)
    builder.add_duplex("s", "t", 1)
    for node, switch in (("a", "s"), ("b", "t")):
        builder.add_duplex(builder.add_compute(node), switch, 1)
    for network in (builder.build(), build_topology("dgx-a100:boxes=2")):
        with pytest.raises(InputError, match="is neither a ring, a complete graph nor a switch"):
            write_network(network, tmp_path / "network.yml")


def test_an_attribute_with_values_of_two_types_is_kept_as_text(tmp_path: Path) -> None:
    builder = TopologyBuilder("mixed")
    builder.add_duplex(builder.add_compute("a", slot=1), builder.add_compute("b", slot="left"), 1)
    write_network(builder.build(), tmp_path / "mixed.graphml")
    nodes = import_topology(tmp_path / "mixed.graphml").topology.nodes
    assert [node.attributes["slot"] for node in nodes] == ["1", "left"]


SMI = "\tGPU0\tGPU1\nGPU0\t X \tNV12\nGPU1\tNV12\t X \n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a b 5\nb c -5\nc a 3\n", "line 2: edge 'b' -> 'c': bandwidth '-5' must be greater than 0"),
        ("a b 5\nb c nan\nc a 3\n", "line 2: edge 'b' -> 'c': bandwidth 'nan' is not finite"),
        ("0,1,2\n1,0,-1\n2,1,0\n", "line 2: '-1' is below 0; expected GB/s"),
        ("0 1 2\n1 0 -1\n2 1 0\n", "line 2: '-1' is below 0; expected GB/s"),
        (",a,b,c\na,0,1,2\nb,1,0,inf\nc,2,1,0\n", "line 3: 'inf' is not finite"),
        ("0,1,2\n1,0,fast\n2,1,0\n", "line 2: 'fast' is not a number"),
        ("a,b\n1,2\n", "line 2: has 2 values, but the matrix has 1 row; write a square"),
    ],
)
def test_a_file_with_one_bad_number_is_recognised(text: str, said: str) -> None:
    assert problem(text).startswith(f"host0.txt: {said}")


@pytest.mark.parametrize("text", ["0,1,2\n1,0,\n2,1,0\n", "0,1,2\n1,0,nan\n2,1,0\n", "0,1,2,\n1,0,nan,\n2,1,0,\n"])
def test_pairs_without_a_value_are_listed(text: str) -> None:
    assert import_text(text).ignored[0] == "1 pair without a value, such as 1 to 2 (line 2)"


@pytest.mark.parametrize("form", ["nccl-xml", "sndlib", "slurm", "infragraph", "edge-list", "p2p-bandwidth"])
def test_a_file_of_another_format_than_the_given_one_is_named(form: str) -> None:
    words = "it looks like the matrix of nvidia-smi topo -m; leave --format out, or give --format nvidia-smi-topo"
    assert problem(SMI, form=form) == f"host0.txt: is not in format {form}: {words}"


def test_a_text_without_a_system_is_not_cut_off() -> None:
    said = "has no <system>; expected topology XML of NCCL, which NCCL_TOPO_DUMP_FILE=topo.xml writes"
    assert problem("nothing of it\n", form="nccl-xml") == f"host0.txt: {said}"


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (SMI, {"speeds": "nccl"}, "--speeds has no effect on format nvidia-smi-topo, only on nccl-xml"),
        (SMI, {"rounding": "none"}, "--rounding has no effect on format nvidia-smi-topo, only on measurements"),
        (
            SMI,
            {"matrix": "complete"},
            "--matrix has no effect on format nvidia-smi-topo, only on p2p-bandwidth, matrix",
        ),
        (
            "a b 5\nb a 5\n",
            {"xgmi": 20, "pcie": 5},
            "--xgmi has no effect on format edge-list, only on nccl-xml, amd-smi, infragraph",
        ),
    ],
)
def test_an_option_without_effect_is_refused(text: str, options: dict[str, Any], said: str) -> None:
    assert problem(text, **options) == f"host0.txt: {said}; leave it out"


@pytest.mark.parametrize(
    ("text", "options", "useless"),
    [
        ("a b 5\nb a 5\n", {"link_bandwidth": 7}, ["--link-bandwidth"]),
        ("a b\nb a 5\n", {"link_bandwidth": 7}, []),
        (SMI, {"nvlink": 25, "pcie": 16, "nic": 25}, ["--pcie", "--nic"]),
        ("0,1\n1,0\n", {"matrix": "complete"}, []),
    ],
)
def test_an_option_that_the_file_does_not_need_is_noted(text: str, options: dict[str, Any], useless: list[str]) -> None:
    noted = [said.partition(": ")[0] for said in import_text(text, **options).ignored if "the same without it" in said]
    assert noted == useless


def test_the_options_of_a_format_are_those_that_its_reader_uses() -> None:
    names = {each.name for each in fields(ImportOptions)}
    assert {name for each in FORMATS for name in each.options} == names
    for each in FORMATS:
        folder = Path(formats.__file__).parent.joinpath(*each.module.split(".")).with_suffix(".py")
        used = set(re.findall(r"\boptions\.([a-z_]+)\b", folder.read_text())) & names
        assert used <= set(each.options), each.name
