"""Networks written for other tools, and read back."""

from pathlib import Path

import networkx as nx
import pytest

from forestcoll.algorithms.generate import optimum
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.importers.reading import import_topology
from forestcoll.topology.registry import build_topology, load_topology
from forestcoll.topology.writers.formats import write_network
from networks import linked
from refusal import refusal

SPECS = [
    "ring:nodes=5,bandwidth=25/2",
    "torus:dims=3x4",
    "dgx-a100:boxes=2",
    "mi250:boxes=2,gpus=8",
    "dgx-h100:boxes=2,nvls=true",
    "fat-tree:oversubscription=2",
    "complete:nodes=4,bandwidth=400Gb/s",
    "gb200-nvl72:gpus=4",
]


def test_a_format_that_keeps_all_gives_the_same_network_and_the_text_of_ns3_the_same_optimum(tmp_path: Path) -> None:
    for spec in SPECS:
        topology = build_topology(spec)
        for name in ("network.json", "network.json.gz", "network.graphml", "network.graphml.gz"):
            write_network(topology, tmp_path / name)
            assert load_topology(tmp_path / name) == topology, (spec, name)
        write_network(topology, tmp_path / "network.txt")
        read = load_topology(tmp_path / "network.txt")
        assert len(read.compute) == len(topology.compute)
        assert optimum(read).algbw == optimum(topology.without_abilities()).algbw, spec


def test_the_yaml_of_astra_sim_gives_the_same_optimum_in_other_units(tmp_path: Path) -> None:
    for spec in ("ring:nodes=5,bandwidth=25/2", "complete:nodes=4,bandwidth=400Gb/s", "dgx-h100:boxes=1"):
        topology = build_topology(spec)
        write_network(topology, tmp_path / "network.yml")
        read = load_topology(tmp_path / "network.yml")
        assert read.bandwidth_unit == "GiB/s"
        assert optimum(read).algbw * 2**30 == optimum(topology).algbw * 10**9, spec


def test_networkx_reads_the_graphml_and_values_of_two_types_are_kept_as_text(tmp_path: Path) -> None:
    write_network(build_topology("dgx-a100:boxes=2"), tmp_path / "network.graphml")
    graph = nx.read_graphml(tmp_path / "network.graphml")
    assert graph.nodes["b1/gpu3"]["box"] == 1
    assert graph.edges["b1/gpu3", "ib"]["bandwidth"] == "25"
    builder = TopologyBuilder("mixed")
    builder.add_duplex(builder.add_compute("a", slot=1), builder.add_compute("b", slot="left"), 1)
    write_network(builder.build(), tmp_path / "mixed.graphml")
    nodes = import_topology(tmp_path / "mixed.graphml").topology.nodes
    assert [node.attributes["slot"] for node in nodes] == ["1", "left"]


def test_integers_texts_and_odd_names_stay_what_they_are(tmp_path: Path) -> None:
    builder = TopologyBuilder("odd <names> & more", attributes={"list": [1, 2], "none": None, "yes": True})
    for node in (3, "3", 'a"b&c<d>', "line\nbreak"):
        builder.add_compute(node, note="<&>", number=2**70, flag=False)
    for one, other in ((3, "3"), ("3", 'a"b&c<d>'), ('a"b&c<d>', "line\nbreak"), ("line\nbreak", 3)):
        builder.add_link(one, other, "25/3", latency_us="1/3")
    topology = builder.build()
    write_network(topology, tmp_path / "odd.graphml")
    read = import_topology(tmp_path / "odd.graphml").topology
    assert read.links == topology.links
    assert read.name == topology.name
    assert [node.id for node in read.nodes] == [node.id for node in topology.nodes]


def two_switches() -> Topology:
    return linked("a b", "s=t a=s b=t", switches="s t", name="chain")


def without_bytes() -> Topology:
    builder = TopologyBuilder("odd", bandwidth_unit="messages")
    builder.add_duplex(builder.add_compute("a"), builder.add_compute("b"), 1)
    return builder.build()


MESSAGES = "odd: bandwidth_unit is 'messages', whose size in bytes is not known; use one such as GB"


@pytest.mark.parametrize(
    ("topology", "name", "said"),
    [
        ("ring:one_way=true", "n.txt", "link 0 -> 1 has no link of the same bandwidth back"),
        ("ring:bandwidth=1/3", "n.txt", "a rate of 8/3 Gbps is no short decimal"),
        ("ring:bandwidth=1/3", "n.yml", "is no decimal in GiB/s"),
        ("torus:dims=3x3", "n.yaml", "is neither a ring, a complete graph nor a switch"),
        ("dgx-a100:boxes=2", "n.yml", "is neither a ring, a complete graph nor a switch"),
        (two_switches(), "n.yml", "is neither a ring, a complete graph nor a switch"),
        (without_bytes(), "n.yml", MESSAGES),
        (without_bytes(), "n.txt", MESSAGES),
        ("ring", "missing/n.graphml", "the folder"),
    ],
)
def test_what_a_format_cannot_express_is_refused(
    topology: str | Topology, name: str, said: str, tmp_path: Path
) -> None:
    assert said in refusal(write_network, load_topology(topology), tmp_path / name)
    assert not list(tmp_path.iterdir())
