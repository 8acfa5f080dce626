"""The inputs of simulators and synthesizers: ns-3's text, analytical YAML, TACCL, InfraGraph."""

import json
from fractions import Fraction
from typing import Any

from forestcoll.algorithms.generate import optimum
from forestcoll.topology.registry import build_topology
from import_tools import algbw, ids, import_text, links, problem

FABRIC = """7 3 8 // {no. of nodes}  {no. of switches}  {no. of links}
4 5 6 // {List of node id for switches}
4 0 200Gbps 0.0005ms 0 // From here on each line corresponds to one link.
6 0 200Gbps 0.0005ms 0
4 1 200Gbps 0.0005ms 0
6 1 200Gbps 0.0005ms 0
5 2 200Gbps 0.0005ms 0
6 2 200Gbps 0.0005ms 0
5 3 200Gbps 0.0005ms 0
6 3 200Gbps 0.0005ms 0
"""

SPECTRUM = """10 2 2 2 10 H100
4 5 6 7 8 9
0 4 2880Gbps 0.000025ms 0
0 6 400Gbps 0.0005ms 0
1 4 2880Gbps 0.000025ms 0
1 7 400Gbps 0.0005ms 0
2 5 2880Gbps 0.000025ms 0
2 6 400Gbps 0.0005ms 0
3 5 2880Gbps 0.000025ms 0
3 7 400Gbps 0.0005ms 0
6 8 400Gbps 0.0005ms 0
7 9 400Gbps 0.0005ms 0
"""


def test_the_text_of_ns3_has_full_duplex_links_in_bits() -> None:
    imported = import_text(FABRIC)
    assert imported.format == "astra-sim-ns3"
    assert ids(imported) == [0, 1, 2, 3]
    assert imported.bandwidths == {Fraction(25): 16}
    assert imported.topology.links[0].latency_us == Fraction(1, 2)


def test_the_text_of_simai_has_servers_and_nvswitches() -> None:
    imported = import_text(SPECTRUM.replace("10 2 2 2 10", "10 2 2 4 10"))
    assert [imported.topology.nodes[node].attributes["box"] for node in range(4)] == [0, 0, 1, 1]
    assert imported.topology.nodes[4].attributes == {"device": "nvswitch", "box": 0}
    assert imported.topology.nodes[5].attributes == {"device": "nvswitch", "box": 1}
    assert imported.topology.nodes[6].attributes == {"device": "switch"}
    assert imported.bandwidths == {Fraction(360): 8, Fraction(50): 12}


def test_links_of_ns3_listed_both_ways_are_not_doubled_parallel_lines_add_up_and_further_lines_are_ignored() -> None:
    link = "0 1 400Gbps 0.0005ms 0\n"
    for text in (f"2 0 1\n\n{link}", f"2 0 1\n{link}", "2 0 1\n\n\n0 1 400Gbps 1us 0.0\n"):
        assert import_text(text).bandwidths == {Fraction(50): 2}
    lines = "".join(f"{gpu} 4 400Gbps 0.0005ms 0\n4 {gpu} 400Gbps 0.0005ms 0\n" for gpu in range(4))
    imported = import_text(f"5 1 8\n4\n{lines}")
    assert imported.bandwidths == {Fraction(50): 8}
    assert any("one-way link" in each for each in imported.assumed)
    lines = "0 1 100Gbps 0.0005ms 0\n" * 3
    imported = import_text(f"2 0 2\n\n{lines}")
    assert imported.bandwidths == {Fraction(25): 2}
    assert any("1 line after the 2 links" in each for each in imported.ignored)


def yaml(topology: str, counts: str, bandwidth: str, latency: str = "") -> str:
    lines = [f"topology: [ {topology} ]", f"npus_count: [ {counts} ]", f"bandwidth: [ {bandwidth} ]  # GB/s"]
    return "\n".join([*lines, f"latency: [ {latency} ]  # ns" if latency else "", ""])


def test_analytical_yaml_is_a_product_with_the_numbers_as_written() -> None:
    for text, spec in [
        (yaml("Ring", "8", "50.0", "500.0"), "ring:nodes=8,bandwidth=50"),
        (yaml("FullyConnected", "8", "50"), "complete:nodes=8,bandwidth=50"),
        (yaml("Ring, Ring", "4, 4", "50, 50"), "torus:dims=4x4,bandwidth=50"),
        (yaml("Ring, Ring, Ring", "2, 2, 2", "50, 50, 50"), "hypercube:dim=3,bandwidth=50"),
    ]:
        imported = import_text(text)
        assert imported.format == "astra-sim-analytical"
        assert imported.topology.bandwidth_unit == "GiB/s"
        assert algbw(imported) == optimum(build_topology(spec)).algbw, spec
    assert import_text(yaml("FullyConnected, Ring", "4, 2", "25, 25")).bandwidths == {Fraction(25): 32}
    assert import_text(yaml("Ring", "3", "0.1")).bandwidths == {Fraction(1, 10): 6}


def test_a_switch_dimension_and_boxes() -> None:
    imported = import_text(yaml("Switch, Switch", "8, 2", "400.0, 50.0", "936.25, 5000"))
    assert imported.bandwidths == {Fraction(400): 32, Fraction(50): 32}
    assert len(imported.topology.switches) == 10
    assert imported.boxes == 2
    boxes = {node.id: node.attributes.get("box") for node in imported.topology.nodes}
    assert (boxes[9], boxes["switch0-1"], boxes["switch1-0"]) == (1, 1, None)
    assert imported.topology.links[0].latency_us == Fraction("0.93625")


def taccl(**changes: object) -> str:
    links = [[0, 1, 0], [1, 0, 2], [0, 1, 0]]
    inverse = [[0, 20, 0], [20, 0, 40], [0, 10, 0]]
    document = {"name": "three", "gpus_per_node": 3, "alpha": 0.7, "links": links, "invbws": inverse, "betas": inverse}
    return json.dumps(document | changes)


def test_a_row_of_taccl_is_a_target_and_a_switch_has_no_matrices() -> None:
    imported = import_text(taccl(remote_invbw=107, nics_per_node=1))
    assert imported.format == "taccl"
    twos = {("GPU1", "GPU0"): 50, ("GPU0", "GPU1"): 50, ("GPU2", "GPU1"): 50}
    assert links(imported) == twos | {("GPU1", "GPU2"): 100}
    assert any("remote_invbw" in each for each in imported.ignored)
    switch = {"name": "s", "gpus_per_node": 16, "alpha": 0.3, "node_betas_list": [8], "node_invbws_list": [8]}
    assert import_text(json.dumps(switch)).bandwidths == {Fraction(125): 32}
    assert 'holds "-1"; expected microseconds above 0' in problem(json.dumps(switch | {"node_invbws_list": [-1]}))
    assert "give links and invbws as matrices" in problem(json.dumps(switch | {"node_invbws_list": [23, 46]}))
    assert "links is no matrix of 3 rows" in problem(taccl(links=[[0]]))
    assert "invbws[0][1] is 0; expected microseconds above 0" in problem(taccl(invbws=[[0] * 3] * 3))
    assert "holds 'a', which is not a number" in problem(taccl(invbws=[["a"] * 3] * 3))


INFRAGRAPH = """
name: two hosts
devices:
  - name: server
    components:
      - {name: xpu, count: 4, choice: xpu}
      - {name: nvsw, count: 1, choice: switch}
      - {name: card, count: 4, choice: device}
    links:
      - {name: nvlink, physical: {bandwidth: {choice: gigabytes_per_second, gigabytes_per_second: 300}}}
      - {name: pcie}
    edges:
      - {ep1: {component: "xpu"}, ep2: {component: "nvsw[0]"}, link: nvlink, scheme: many2many}
      - {ep1: {component: "xpu[0:4]"}, ep2: {device: card, component: "chip"}, link: pcie, scheme: one2one}
  - name: card
    components:
      - {name: chip, count: 1, choice: nic}
      - {name: port, count: 1, choice: port}
    links:
      - {name: inside, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 400}}}
    edges:
      - {ep1: {component: chip}, ep2: {component: port}, link: inside, scheme: one2one}
  - name: tor
    components:
      - {name: asic, count: 1, choice: {}}
links:
  - {name: eth, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 200}}}
instances:
  - {name: host, device: server, count: 2}
  - {name: leaf, device: tor, count: 1}
edges:
  - ep1: {instance: "host[0:2]", component: "card[0:4].port[0]"}
    ep2: {instance: "leaf", component: "asic[0]"}
    link: eth
    scheme: many2many
"""


def test_infragraph_expands_devices_instances_and_ranges() -> None:
    assert 'the bandwidth of link "pcie"; give --pcie GBPS' in problem(INFRAGRAPH)
    imported = import_text(INFRAGRAPH, pcie=32)
    assert imported.format == "infragraph"
    assert ids(imported)[5] == "host.1.xpu.1"
    assert imported.boxes == 2
    found = links(imported)
    assert found["host.1.xpu.1", "host.1.nvsw.0"] == 300
    assert found["host.1.card.3.port.0", "leaf.0.asic.0"] == 25
    assert found["host.0.xpu.2", "host.0.card.2.chip.0"] == 32
    assert ("host.0.xpu.2", "host.0.card.1.chip.0") not in found
    assert len(found) == 2 * (8 + 8 + 8 + 8)
    assert algbw(imported) == optimum(build_topology("dgx-a100:boxes=2,gpus=4")).algbw


OLDER = """
infrastructure:
  devices:
    - name: box
      components: [{name: xpu, type: xpu, count: 2}]
      links: [{name: nvlink, bandwidth: {choice: gigabytes_per_second, gigabytes_per_second: 50}}]
      connections: [xpu.0.nvlink.xpu.1]
  links: [{name: eth, bandwidth: {choice: giga_bytes_per_second, giga_bytes_per_second: 25}}]
  instances: [{name: host, device: box, count: 2}]
  connections: [host.0.xpu.0.eth.host.1.xpu.0]
"""


def test_older_infragraph_lists_connections() -> None:
    found = links(import_text(OLDER))
    assert found["host.0.xpu.0", "host.0.xpu.1"] == 50
    assert found["host.0.xpu.0", "host.1.xpu.0"] == 25


def graph(old: str, new: str) -> str:
    assert old in INFRAGRAPH
    return INFRAGRAPH.replace(old, new, 1)


def test_what_is_broken_is_said() -> None:
    for text, said in [
        (FABRIC.replace("7 3 8", "7 2 8"), "line 1: the first line says 2 switches, and the file lists 3"),
        (FABRIC.replace("7 3 8", "7 3 9"), "line 1: the first line says 9 links, and the file has 8; is it cut off?"),
        (FABRIC.replace("4 5 6", "4 5 9"), "switches must be different ids below 7"),
        (FABRIC.replace("6 3 200Gbps", "6 3 fast"), "line 10: '6 3 fast 0.0005ms 0' is no link"),
        (FABRIC.replace("6 3 200", "6 8 200"), "line 10: edge 6 -> 8: there is no node 8"),
        (FABRIC.replace("6 3 200", "6 3 0"), "line 10: edge 6 -> 3: bandwidth '0Gbps' must be greater than 0"),
        (FABRIC.replace("6 3 200", "3 3 200"), "line 10: edge 3 -> 3 is a self-loop"),
        (yaml("Ring", "8", "tbd"), "bandwidth is 'tbd', which is not a number; write the number"),
        (
            yaml("Ring, Switch", "8", "50"),
            "equally long, a value for each dimension; there are topology 2, npus_count 1",
        ),
        (yaml("Custom", "8", "50"), "'Custom'; expected Ring, FullyConnected or Switch; import its topology_file"),
        (yaml("Ring", "many", "50"), "npus_count is 'many'"),
        (yaml("Ring", "1", "50"), "has fewer than two nodes"),
        (yaml("Ring", "8", "-50"), "bandwidth is '-50'; expected a number above 0"),
        (yaml("FullyConnected", "100000", "50"), "make it smaller"),
        ("topology: [ Ring ]\nnpus_count: [ 8 ]\n", "has no list bandwidth"),
        ("topology: &a [ Ring ]\nnpus_count: *a\nbandwidth: [1]\n", "line 2: uses a YAML alias"),
        ("topology: [ Ring\nnpus_count: [ 8 ]\n", "line 2: not valid YAML"),
        (graph("device: tor", "device: spine"), "there is no device 'spine'"),
        (graph("leaf, device", "leaf, count: x, device"), "the key 'count' appears twice"),
        (
            graph('"nvsw[0]"', '"nvswitch[0]"'),
            "'nvswitch[0]' names no component or instance; there are xpu, nvsw, card",
        ),
        (graph("scheme: many2many", "scheme: ring"), "the scheme of an edge is 'ring'"),
        (graph("choice: port}", "choice: port}\n      - {name: card, choice: device}"), "contains itself"),
        (graph("instances:", "instances: []\nothers:"), "has no instances"),
        (graph("count: 4, choice: xpu", "count: 99999999, choice: xpu"), "count of xpu is 99999999; "),
        (graph("xpu[0:4]", "xpu[0:4:0]"), "'xpu[0:4:0]' has a step of 0"),
        (OLDER.replace(".nvlink.", ".pcie."), "the connection 'xpu.0.pcie.xpu.1' names no link; there are nvlink"),
    ]:
        options: dict[str, Any] = {"pcie": 32} if "devices" in text else {}
        assert said in problem(text, **options)


def htsim(nodes: int, pod: int, *tiers: str) -> str:
    """A .topo file of htsim; each tier is its lines, with `;` between them."""
    parts = [f"# a fat tree\nNodes {nodes}\nTiers {len(tiers)}\nPodsize {pod}\n"]
    for number, tier in enumerate(tiers):
        parts.append(f"\nTier {number}\n" + tier.replace("; ", "\n") + "\n")
    return "".join(parts)


SPEED = "Downlink_speed_Gbps 400; Downlink_Latency_ns 800; Radix_Down"
LEAVES = htsim(32, 32, f"{SPEED} 8; Radix_Up 4; Oversubscribed 2; Switch_Latency_ns 5", f"{SPEED} 4; Queue_Up 3")
PODS = htsim(16, 4, f"{SPEED} 2; Radix_Up 2", f"{SPEED} 2; Radix_Up 2", f"{SPEED} 8; Bundle 2".replace("400", "200"))


def test_htsim_has_a_fat_tree_by_its_numbers() -> None:
    imported = import_text(LEAVES)
    assert imported.format == "htsim"
    assert len(ids(imported)) == 32
    found = links(imported)
    assert {one for one, other in found if other == "tor3"} == {
        *(f"host{number}" for number in range(24, 32)),
        *(f"agg{number}" for number in range(4)),
    }
    assert imported.bandwidths == {Fraction(50): 96}
    assert imported.topology.links[0].latency_us == Fraction(4, 5)
    assert algbw(imported) == Fraction(1600, 31)
    assert imported.ignored == ("Queue_Up, Switch_Latency_ns",)


def test_pods_of_htsim_share_core_switches_and_links_may_be_bundles() -> None:
    found = links(import_text(PODS))
    assert {one for one, other in found if other == "tor2"} == {"host4", "host5", "agg2", "agg3"}
    assert {one for one, other in found if other == "core1"} == {"agg1", "agg3", "agg5", "agg7"}
    assert found["core1", "agg3"] == 50  # two links of 200 Gb/s


def test_what_is_broken_in_htsim_is_said() -> None:
    for text, said in [
        (LEAVES.replace("Nodes 32", "Nodes x"), "line 2: 'Nodes x' has no number; write a name and a number"),
        (LEAVES.replace("Podsize 32", ""), "has no Podsize greater than 0"),
        (LEAVES.replace("Tiers 2", "Tiers 4"), "Tiers is 4; expected 2 or 3"),
        (LEAVES.replace("Tiers 2", "Tiers 3"), "has no numbers of tier 2"),
        (LEAVES.replace("Podsize 32", "Podsize 16").replace("Down 4", "Down 2"), "two tiers join one pod only"),
        (LEAVES.replace("Podsize 32", "Podsize 5"), "Nodes (32) is no multiple of Podsize (5)"),
        (LEAVES.replace("Radix_Down 4", "Radix_Down 8"), "tier 1: radix_down is 8, but 4 links lead down"),
        (LEAVES.replace("Radix_Down 4", "Radix_Down 3/2"), "tier 1: radix_down is 3/2; expected a whole number"),
        (LEAVES.replace("Radix_Down 4", "Radix_Up 4"), "tier 1: radix_down is missing"),
        (LEAVES.replace("Oversubscribed 2", "Oversubscribed 3"), "tier 0: 32/3 links go upwards"),
        (PODS.replace("Bundle 2", "Bundle 1"), "tier 2: radix_down is 8, but 4 links lead down"),
    ]:
        assert said in problem(text, form="htsim")
    assert "has more than 4194304 links" in problem(
        LEAVES.replace("32", "4194304").replace("Down 4", "Down 524288"), form="htsim"
    )
