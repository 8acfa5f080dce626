"""Fabrics between hosts: ibnetdiscover, Slurm's topology files."""

import time
from fractions import Fraction

import pytest

from forestcoll.topology.importers.fabrics.hostlist import expanded
from import_tools import ids, import_text, links, problem


def guid(number: int) -> str:
    return f"{number:016x}"


def switch(number: int, name: str, ports: list[str]) -> str:
    head = f"vendid=0x2c9\ndevid=0xd2f2\nswitchguid=0x{guid(number)}({guid(number)})\n"
    line = f'Switch\t65 "S-{guid(number)}"\t\t# "MF0;{name}:MQM9701/U1" enhanced port 0 lid {number} lmc 0\n'
    return "\n" + head + line + "".join(f"{port}\n" for port in ports)


def adapter(number: int, name: str, up: int, port: int, rate: str = "4xNDR") -> str:
    head = f'vendid=0x2c9\ndevid=0x1021\ncaguid=0x{guid(number)}\nCa\t1 "H-{guid(number)}"\t\t# "{name}"\n'
    line = f'[1]({guid(number)}) \t"S-{guid(up)}"[{port}]\t\t# lid {number} lmc 0 "MF0;leaf:MQM9701/U1" lid 1 {rate}\n'
    return "\n" + head + line


def to_adapter(port: int, number: int, name: str, rate: str = "4xNDR") -> str:
    return f'[{port}]\t"H-{guid(number)}"[1]({guid(number)}) \t\t# "{name}" lid {number} {rate}'


def to_switch(port: int, number: int, other: int, rate: str = "4xNDR") -> str:
    return f'[{port}]\t"S-{guid(number)}"[{other}]\t\t# "MF0;switch{number}:MQM9701/U1" lid {number} {rate}'


DEFAULT = "MT4129 ConnectX7   Mellanox Technologies"
AGGREGATION = "Mellanox Technologies Aggregation Node"


def fabric(rate: str = "4xNDR") -> str:
    """Two leaves with two adapters and an aggregation node each, joined by two links to one spine."""
    names = ["node1 mlx5_0", "node2 mlx5_0", DEFAULT, DEFAULT]
    parts = ["#\n# Topology file: generated on Wed Aug  6 16:11:23 2025\n#\n# Initiated from node 1 port 1\n"]
    for leaf in (0, 1):
        hosts = [to_adapter(n + 1, 100 + 2 * leaf + n, names[2 * leaf + n], rate) for n in range(2)]
        up = [to_switch(10 + n, 9, 2 * leaf + n, rate) for n in range(2)]
        parts.append(switch(1 + leaf, f"leaf-{leaf}", [*hosts, *up, to_adapter(65, 200 + leaf, AGGREGATION)]))
    down = [to_switch(2 * leaf + n, 1 + leaf, 10 + n, rate) for leaf in (0, 1) for n in range(2)]
    parts.append(switch(9, "spine-1", down))
    for place, name in enumerate(names):
        parts.append(adapter(100 + place, name, 1 + place // 2, place % 2 + 1, rate))
    parts += [adapter(200 + leaf, AGGREGATION, 1 + leaf, 65) for leaf in (0, 1)]
    return "".join(parts)


def test_each_link_counts_once_and_aggregation_nodes_do_not() -> None:
    imported = import_text(fabric())
    assert imported.format == "ibnetdiscover"
    names = ["node1/mlx5_0", "node2/mlx5_0", f"H-{guid(102)}", f"H-{guid(103)}"]
    assert sorted(map(str, ids(imported))) == sorted(names)
    assert imported.bandwidths == {Fraction(100): 4, Fraction(50): 8}
    assert links(imported)["leaf-1", "spine-1"] == 100
    boxes = {node.id: node.attributes.get("box") for node in imported.topology.nodes}
    assert boxes["node1/mlx5_0"] == "node1"
    assert boxes[f"H-{guid(102)}"] is None
    assert imported.ignored == ("2 aggregation nodes of switches",)


def test_a_rate_is_lanes_times_the_data_rate() -> None:
    rates: dict[str, int | Fraction] = {
        "4xEDR": 100,
        "4xHDR": 200,
        "2xHDR": 100,
        "4xQDR": 32,
        "4xFDR10": 40,
        "4xXDR": 800,
    }
    for rate, gbits in (rates | {"4xFDR": Fraction(600, 11)}).items():
        assert links(import_text(fabric(rate)))["node1/mlx5_0", "leaf-0"] == Fraction(gbits) / 8, rate


def test_a_rate_that_no_end_states_is_asked_for() -> None:
    text = fabric("")
    assert "does not say the rate of 8 links, such as 4xNDR; give --link-bandwidth GBPS" in problem(text)
    assert import_text(text, link_bandwidth=25).bandwidths == {Fraction(50): 4, Fraction(25): 8}
    one_end = fabric().partition("Ca\t")[0]
    assert import_text(one_end).bandwidths == {Fraction(100): 4, Fraction(50): 8}


def test_adapters_without_links_ports_without_nodes_and_adapters_of_the_same_name() -> None:
    alone = f'Ca\t1 "H-{guid(300)}"\t\t# "dgx HCA-1"\n'
    assert any("1 adapter without a link" in each for each in import_text(fabric() + alone).ignored)
    assert "has 0 compute nodes" in problem(alone)
    assert "is a port of no node" in problem(to_adapter(1, 5, "a b"), form="ibnetdiscover")
    imported = import_text(fabric().replace("node2 mlx5_0", "node1 mlx5_0"))
    assert {f"H-{guid(100)}", f"H-{guid(101)}"} <= set(ids(imported))


def test_ten_thousand_lines_are_read_in_two_seconds() -> None:
    adapters = 1280
    parts = []
    for leaf in range(40):
        down = [to_adapter(n + 1, 10**6 + 32 * leaf + n, f"node{32 * leaf + n} mlx5_0") for n in range(32)]
        parts.append(switch(leaf, f"leaf{leaf}", [*down, *(to_switch(33 + n, 5000 + n, leaf) for n in range(32))]))
    below = [[to_switch(n, n, 33 + spine) for n in range(40)] for spine in range(32)]
    parts += [switch(5000 + spine, f"spine{spine}", ports) for spine, ports in enumerate(below)]
    parts += [adapter(10**6 + n, f"node{n} mlx5_0", n // 32, n % 32 + 1) for n in range(adapters)]
    text = "".join(parts)
    assert text.count("\n") > 10_000
    began = time.process_time()
    imported = import_text(text)
    assert time.process_time() - began < 2
    assert len(imported.topology.compute) == adapters
    assert len(imported.topology.links) == 2 * (1280 + 1280)


TREE = """# topology.conf
SwitchName=s0 Nodes=tux[0-1]   LinkSpeed=900
SwitchName=s1 Nodes=tux[2,3]
SwitchName=s2 Switches=s[0-1]
"""


def test_slurm_gives_the_shape_and_the_user_the_bandwidth() -> None:
    assert "has the shape of the network only; give --link-bandwidth GBPS" in problem(TREE)
    imported = import_text(TREE, link_bandwidth=50)
    assert imported.format == "slurm"
    assert ids(imported) == ["tux0", "tux1", "tux2", "tux3"]
    assert imported.bandwidths == {Fraction(50): 12}
    assert any("LinkSpeed" in each for each in imported.ignored)


BLOCKS = """BlockName=b0 Nodes=n[1-2]
BlockName=b1 Nodes=n[3-4]
BlockSizes=2,4
"""
YAML_BLOCKS = """- topology: t
  block:
    block_sizes: [2]
    blocks:
      - block: b0
        nodes: n[1-2]
      - block: b1
        nodes: n[3-4]
"""
YAML_TREE = """---
- topology: t
  cluster_default: true
  tree:
    switches:
      - switch: core
        children: b[0-1]
      - switch: b0
        nodes: n[1-2]
      - switch: b1
        nodes: n[3-4]
"""


def test_slurm_may_have_blocks_yaml_and_lines_that_continue_and_the_first_topology_is_read() -> None:
    for text in (BLOCKS, YAML_BLOCKS, YAML_TREE):
        imported = import_text(text, link_bandwidth=50)
        assert imported.format == "slurm"
        assert len(links(imported)) == 12
        assert links(imported)["b1", "core"] == 50
    split = TREE.replace("Nodes=tux[2,3]", "\\\n  Nodes=tux[2,3]")
    assert links(import_text(split, link_bandwidth=50)) == links(import_text(TREE, link_bandwidth=50))
    other = YAML_TREE.removeprefix("---\n").replace("topology: t", "topology: u").replace("core", "top")
    imported = import_text(YAML_TREE + other, link_bandwidth=50)
    assert links(imported) == links(import_text(YAML_TREE, link_bandwidth=50))
    assert any("topologies besides 't', which --topology names: u" in each for each in imported.ignored)
    assert links(import_text(YAML_TREE + other, link_bandwidth=50, topology="u"))["b1", "top"] == 50


def torus(dims: str, nodes: str, more: str = "") -> str:
    sizes = "".join(f"          {axis}: {size}\n" for axis, size in zip("xyz", dims.split("x"), strict=True))
    return (
        "---\n- topology: pods\n  torus3d:\n    toruses:\n"
        f"      - name: podA\n        dims:\n{sizes}        nodes: {nodes}\n{more}"
    )


def test_slurm_may_have_a_torus_in_which_x_changes_fastest() -> None:
    imported = import_text(torus("4x2x2", "n[01-16]"), link_bandwidth=25)
    assert imported.format == "slurm"
    found = links(imported)
    assert imported.bandwidths == {Fraction(25): 64}  # four links a node: two along x, one along y and z
    for other in ("n02", "n04", "n05", "n09"):
        assert found["n01", other] == found[other, "n01"] == 25
    assert links(import_text(torus("3x1x1", "a[1-3]"), link_bandwidth=1)).keys() == {
        (f"a{one}", f"a{other}") for one in (1, 2, 3) for other in (1, 2, 3) if one != other
    }
    for text, said in [
        (torus("4x2x2", "n[01-15]"), "torus 'podA' has 15 nodes for 16 places"),
        (torus("4x2x0", "n[01-15]"), "dims of a torus is (4, 2, 0); expected numbers from 1"),
        (torus("4x2x2", "n[01-16]").replace("x: 4", "w: 4"), "x of dims is ''; expected a whole number"),
        (torus("4x2x2", "n[01-16]").replace("        nodes", "        node"), "has 0 nodes for 16 places"),
        (torus("2x1x1", "a,b") + torus("2x1x1", "c,d").partition("toruses:\n")[2], "several tori"),
        ("- topology: t\n  torus3d:\n    toruses:\n      - dims: 4\n", "dims of a torus is '4'; expected x, y and z"),
    ]:
        assert said in problem(text, link_bandwidth=1)


def region(nodes: str, x: int, dims: int) -> str:
    anchor = f"            anchor:\n              x: {x}\n              y: 0\n              z: 0\n"
    size = f"            dims:\n              x: {dims}\n              y: 1\n              z: 1\n"
    return f"          - nodes: {nodes}\n" + anchor + size


def test_a_torus_of_slurm_may_have_regions_with_a_hole() -> None:
    whole = torus("5x1x1", "none").replace("        nodes: none\n", "        regions:\n")
    found = links(import_text(whole + region("a[1-2]", 0, 2) + region("b[1-2]", 3, 2), link_bandwidth=1))
    assert found.keys() == {
        way for one, other in (("a1", "a2"), ("b1", "b2"), ("b2", "a1")) for way in ((one, other), (other, one))
    }
    assert "has no place (1, 0, 0) for 'b1'; fix its regions" in problem(
        whole + region("a[1-2]", 0, 2) + region("b[1-2]", 1, 2), link_bandwidth=1
    )


RINGS = "- topology: r\n  cluster_default: true\n  ring:\n    rings:\n      - ring: r1\n        nodes: n[1-4]\n"


def test_slurm_may_have_a_ring() -> None:
    for text in (RINGS, "RingName=r1 Nodes=n[1-4]\n"):
        imported = import_text(text, link_bandwidth=25)
        assert imported.bandwidths == {Fraction(25): 8}
        assert links(imported)["n4", "n1"] == 25
        assert any("neighbours in the ring" in each for each in imported.assumed)
    assert import_text(RINGS.replace("[1-4]", "[1-2]"), link_bandwidth=25).bandwidths == {Fraction(25): 2}
    second = "      - ring: r2\n        nodes: m[1-4]\n"
    assert "holds several rings, which nothing joins" in problem(RINGS + second, link_bandwidth=1)


def test_one_of_several_topologies_of_slurm_is_read() -> None:
    text = YAML_BLOCKS + RINGS + "- topology: eth\n  flat: true\n"
    imported = import_text(text, link_bandwidth=25)
    assert links(imported)["n4", "n1"] == 25
    assert imported.ignored == ("topologies besides 'r', which --topology names: t",)
    assert links(import_text(text, link_bandwidth=25, topology="t"))["b1", "core"] == 25
    assert "topology 'eth' is flat and lists no hosts; there are t, r" in problem(text, topology="eth")
    assert "topology 'tt' is not in the file; did you mean 't'?" in problem(text, topology="tt")
    assert "a flat one lists no hosts" in problem("- topology: eth\n  flat: true\n", link_bandwidth=1)


LINE = '           {lid}    {port}[  ] ==( {speed} Active/  LinkUp)==>       {other}    {there}[  ] "{name}" ( )\n'
EDR = "4X      25.78125 Gbps"


def iblinkinfo(speed: str = EDR) -> str:
    """A leaf with three adapters, of which two are ports of one, and a port that is down."""
    hosts = [("n0 HCA-1", 11, 1), ("n1 HCA-1", 12, 1), ("n1 HCA-1", 13, 2)]
    text = ""
    for place, (name, lid, port) in enumerate(hosts):
        end = LINE.format(lid=lid, port=port, speed=speed, other=3, there=place + 1, name="MF0;leaf1:MSB7700/U1")
        text += f"CA: {name}:\n      0xb88303000000000{place}{end[5:]}"
    text += "Switch: 0x0c42a10300b90001 MF0;leaf1:MSB7700/U1:\n"
    for place, (name, lid, port) in enumerate(hosts):
        text += LINE.format(lid=3, port=place + 1, speed=speed, other=lid, there=port, name=name)
    return text + '           3    9[  ] ==(                Down/ Polling)==>             [  ] "" ( )\n'


def with_line(text: str) -> str:
    """The same as iblinkinfo --line prints it: each line with the GUIDs and names of both ends."""
    lines, name = [], ""
    for line in text.splitlines():
        if "==(" not in line:
            name = line.removesuffix(":").partition(" ")[2].removeprefix("0x0c42a10300b90001 ")
            continue
        start = line.split()[0] if line.split()[0].startswith("0x") else "0x0c42a10300b90001"
        own = line.replace(start, "").strip()
        remote = own.replace("==>", "==>  0x00000000000000aa ") if "Down" not in own else own
        lines.append(f'{start} "{name:>30}"      {remote}')
    return "\n".join(lines) + "\n"


def test_both_forms_of_iblinkinfo_are_the_same_fabric() -> None:
    for text in (iblinkinfo(), with_line(iblinkinfo())):
        imported = import_text(text)
        assert imported.format == "iblinkinfo"
        assert ids(imported) == ["n0/HCA-1", "n1/HCA-1"]
        assert links(imported) == {
            way: speed
            for host, speed in (("n0/HCA-1", Fraction(25, 2)), ("n1/HCA-1", Fraction(25)))
            for way in ((host, "leaf1"), ("leaf1", host))
        }
        assert imported.topology.nodes[0].attributes["box"] == "n0"
        assert imported.ignored == ("1 port without an active link",)


def test_a_speed_of_iblinkinfo_is_that_of_the_signals_of_a_lane() -> None:
    signals: dict[str, int | Fraction] = {
        "1X           2.5 Gbps": 2,
        "4X           5.0 Gbps": 16,
        "4X          10.0 Gbps": 32,
        "4X 10.0 Gbps (FDR10)": 40,
        "4X       14.0625 Gbps": Fraction(600, 11),
        "2X        53.125 Gbps": 100,
        "4X        106.25 Gbps": 400,
        "4X         212.5 Gbps": 800,
    }
    for speed, gbits in signals.items():
        assert links(import_text(iblinkinfo(speed)))["n0/HCA-1", "leaf1"] == Fraction(gbits) / 8, speed
    unknown = iblinkinfo("4X       999.0 Gbps")
    assert "the rate of 3 links, such as 4xNDR; give --link-bandwidth" in problem(unknown)
    assert links(import_text(unknown, link_bandwidth=5))["n0/HCA-1", "leaf1"] == 5
    faster = iblinkinfo().replace("( )", "( Could be 4X 53.125 Gbps )", 2)
    said = "iblinkinfo says that 2 ports could be faster, the first in line 2"
    assert any(said in each for each in import_text(faster).assumed)
    initial = iblinkinfo().replace("Active/", "Init/", 1)
    assert any("2 ports without" in each for each in import_text(initial).ignored)


IBSIM = """# Net configuration file
Switch\t8 "s1"
[1]\t"h1"[1]
[2]\t"h2"[1]\tw=12
[3]\t"s2"[3]
[4]\t"s2"[4]

Switch 8 "s2"
[1]\t"h3"
[3]\t"s1"[3]
[4]\t"s1"[4]

Hca\t2 "h1"
[1]\t"s1"[1]

Hca\t2 "h2"
[1]\t"s1"[2] w=12

Hca\t2 "h3"
[1]\t"s2"[1]

Hca 2 "h4"
"""


def test_a_net_file_of_ibsim_has_the_shape_and_the_widths() -> None:
    assert "what a link of 4 lanes carries: it has the shape of the network only; give --link" in problem(IBSIM)
    imported = import_text(IBSIM, link_bandwidth=25)
    assert imported.format == "ibsim"
    assert ids(imported) == ["h1", "h2", "h3"]
    found = links(imported)
    assert found["s1", "h1"] == 25
    assert found["h2", "s1"] == 75
    assert found["s1", "s2"] == 50
    assert imported.ignored == ("1 adapter without a link: h4",)
    assert links(import_text(f"width=1\n{IBSIM}", link_bandwidth=4))["h1", "s1"] == 1
    for text, said in [
        (IBSIM.replace('[1]\t"s1"[2] w', '[1]\t"s1"[5] w'), "port 2 of 's1' leads to 'h2'[1], which leads to 's1'[5]"),
        (IBSIM.replace('"h3"\n[3]', '"h9"\n[3]'), "line 9: port 1 of 's2' leads to 'h9', which is no node"),
        (IBSIM.replace('"s2"\n[1]', '"s1"\n[1]'), "line 8: node 's1' appears twice"),
        ('[1] "a"[1]\nHca 1 "a"\n', "line 1: '[1] \"a\"[1]' is a port of no node"),
    ]:
        assert said in problem(text, link_bandwidth=1)


def test_what_is_broken_in_slurm_is_said() -> None:
    for text, said in [
        (TREE.replace("tux[0-1]", "tux[0-"), "line 2: 'tux[0-' has brackets that do not match"),
        (TREE.replace("tux[0-1]", "tux[0-999999999]"), "line 2: 'tux[0-999999999]' means more than"),
        (TREE.replace("s[0-1]", "s[0-7]"), "line 4: switch 's2' names 's2', which is no switch"),
        (TREE.replace("SwitchName=s1", "SwitchName=s0"), "line 3: node 's0' appears twice"),
        ("SwitchName=s0 Switches=s0\n", "line 1: switch 's0' is below itself"),
        ("- topology: t\n  block:\n    blocks:\n      - block: [1]\n", 'block is ["1"]; expected a text'),
    ]:
        assert said.replace("names 's2', which", "names 's3', which") in problem(text, form="slurm", link_bandwidth=1)


def test_a_list_of_hosts_is_expanded() -> None:
    assert expanded("a[1-2]b[08-09],c") == ["a1b08", "a1b09", "a2b08", "a2b09", "c"]
    assert expanded("n") == ["n"]
    for bad in ("a[1", "a]", "a[x]", ",", "a[[1]]", "a[2-1]x,"):
        with pytest.raises(ValueError, match=r"brackets|empty|list"):
            expanded(bad)


def test_an_old_fabric_of_adapters_with_two_ports_and_default_names() -> None:
    """As in the manual of ibnetdiscover: both ports of an adapter on one switch, and two links between the switches."""
    name = "MT23108 InfiniHost Mellanox Technologies"
    text = (
        "#\n# Topology file: generated on Tue Jun  5 14:15:10 2007\n#\n# Max of 3 hops discovered\n\n"
        "Non-Chassis Nodes\n\n"
        f'vendid=0x8f1\ndevid=0x5a06\nSwitch  24 "S-{guid(1)}"         # "ISR9024 Voltaire" base port 0 lid 6 lmc 0\n'
        f'[22]    "H-{guid(10)}"[1](8f10403961355)         # "{name}" lid 4 4xSDR\n'
        f'[8]     "H-{guid(11)}"[2](8f1040396055a)         # "{name}" lid 14 4xSDR\n'
        f'[12]    "H-{guid(11)}"[1](8f10403960559)         # "{name}" lid 10 1xSDR\n'
        f'[10]    "S-{guid(2)}"[1]         # "SW-6IB4 Voltaire" lid 3 4xSDR\n'
        f'[6]     "S-{guid(2)}"[3]         # "SW-6IB4 Voltaire" lid 3 4xSDR\n\n'
        f'Switch  8 "S-{guid(2)}"          # "SW-6IB4 Voltaire" base port 0 lid 3 lmc 0\n'
        f'[4]     "H-{guid(12)}"[1](5442b100004901)        # "{name}" lid 12 4xSDR\n\n'
        f'Ca      2 "H-{guid(11)}"          # "{name}"\n'
        f'[2](8f1040396055a)      "S-{guid(1)}"[8]         # lid 14 lmc 1 "ISR9024 Voltaire" lid 6 4xSDR\n'
        f'[1](8f10403960559)      "S-{guid(1)}"[12]                # lid 10 lmc 1 "ISR9024 Voltaire" lid 6 1xSDR\n'
    )
    imported = import_text(text)
    assert sorted(map(str, ids(imported))) == [f"H-{guid(number)}" for number in (10, 11, 12)]
    found = links(imported)
    assert found[f"H-{guid(11)}", f"S-{guid(1)}"] == Fraction(5, 4)  # 4 lanes and 1 lane of 2 Gb/s
    assert found[f"S-{guid(1)}", f"S-{guid(2)}"] == 2


def test_a_switch_of_ports_with_two_lanes_and_adapters_of_two_generations() -> None:
    """As on a QM9700 whose ports are divided: names with a prefix, an enhanced port 0, 2xNDR next to 4xEDR."""
    text = (
        "ibwarn: [6931] a warning before the first line\n#\n# Topology file: generated on Fri Jul 19 02:49:25 2024\n#\n"
        f'Switch\t129 "S-{guid(1)}"\t\t# "MF0;POD229-QM97-IB-02:MQM9700/U1" enhanced port 0 lid 1 lmc 0\n'
        f'[1]\t"H-{guid(10)}"[1]({guid(10)}) \t\t# "node005 mlx5_2" lid 22 2xNDR\n'
        f'[2]\t"H-{guid(11)}"[1]({guid(11)}) \t\t# "node004 mlx5_2" lid 27 2xNDR\n'
        f'[3]\t"H-{guid(12)}"[1]({guid(12)}) \t\t# "node018 HCA-1" lid 10 4xEDR\n'
    )
    found = links(import_text(text))
    assert found["node005/mlx5_2", "POD229-QM97-IB-02"] == 25
    assert found["POD229-QM97-IB-02", "node018/HCA-1"] == Fraction(25, 2)


def test_two_adapters_with_one_cable() -> None:
    lines = [
        f'Ca\t1 "H-{guid(here)}"\t\t# "node-{name} mlx5_0"\n'
        f'[1](0x{guid(here)}) \t"H-{guid(there)}"[1](0x{guid(there)})\t\t# lid 1 "node-{other} mlx5_0" lid 2 4xEDR\n'
        for here, there, name, other in ((1, 2, "a", "b"), (2, 1, "b", "a"))
    ]
    names = ("node-a/mlx5_0", "node-b/mlx5_0")
    assert links(import_text("".join(lines))) == dict.fromkeys((names, names[::-1]), Fraction(25, 2))


def test_scontrol_lists_all_hosts_below_a_switch_which_are_linked_to_the_lowest_only() -> None:
    conf = "SwitchName=leaf0 Nodes=n[0-1]\nSwitchName=leaf1 Nodes=n[2-3]\nSwitchName=spine Switches=leaf[0-1]\n"
    printed = (
        "SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes=n[0-1]\nSwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[2-3]\n"
        "SwitchName=spine Level=1 LinkSpeed=1 Nodes=n[0-3] Switches=leaf[0-1]\n"
    )
    assert links(import_text(printed, link_bandwidth=25)) == links(import_text(conf, link_bandwidth=25))


def test_a_fabric_without_a_subnet_manager_has_no_active_link_which_is_said() -> None:
    text = iblinkinfo().replace("Active/", "Initialize/")
    count = text.count("Initialize/")
    assert count > 0
    message = (
        f"no link is active, and {count} ports are in the state Initialize; start a subnet manager, such as opensm"
    )
    assert message in problem(text)
