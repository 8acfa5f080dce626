"""XML of hwloc with a matrix of NVLink or xGMI bandwidths."""

from fractions import Fraction

from import_tools import algbw, ids, import_text, links, problem

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">\n'


def gpu(index: int, name: str) -> str:
    inside = f'<object type="OSDev" gp_index="{index}" name="{name}" osdev_type="5"/>'
    return f'<object type="PCIDev" gp_index="{index + 500}" pci_busid="0000:{index:02x}:00.0">{inside}</object>\n'


def nvswitch(index: int) -> str:
    return f'<object type="PCIDev" gp_index="{index}" subtype="NVSwitch" pci_busid="0000:{index:02x}:00.0"/>\n'


def matrix(names: list[str], values: list[list[int]], name: str = "NVLinkBandwidth") -> str:
    rows = "".join(f'<u64values length="9">{" ".join(map(str, row))} </u64values>\n' for row in values)
    indexes = f'<indexes length="9">{" ".join(names)} </indexes>\n'
    return f'<distances2hetero nbobjs="{len(names)}" kind="25" name="{name}">\n{indexes}{rows}</distances2hetero>\n'


def machine(objects: str, distances: str) -> str:
    return f'{HEAD}<object type="Machine" os_index="0" gp_index="1">\n{objects}</object>\n{distances}</topology>\n'


def dgx2() -> str:
    """Four GPUs with three links to each of two NVSwitches, between which the file has no links."""
    names = [f"OSDev:{10 + n}" for n in range(4)] + ["PCIDev:20", "PCIDev:21"]
    values = [[75000 if (a < 4) != (b < 4) else 0 for b in range(6)] for a in range(6)]
    objects = "".join(gpu(10 + n, f"nvml{n}") for n in range(4)) + nvswitch(20) + nvswitch(21)
    return machine(objects, matrix(names, values))


def test_all_nvswitches_are_one_and_xgmi_has_a_matrix_too() -> None:
    imported = import_text(dgx2())
    assert imported.format == "hwloc-xml"
    assert ids(imported) == ["GPU0", "GPU1", "GPU2", "GPU3"]
    assert imported.bandwidths == {Fraction(150): 8}
    assert algbw(imported) == 200
    assert imported.topology.nodes[1].attributes["busid"] == "0000:0b:00.0"
    assert any("2 NVSwitches are one" in each for each in imported.assumed)
    distances = matrix(["10", "11"], [[0, 100000], [100000, 0]], "XGMIBandwidth")
    text = machine(gpu(10, "rsmi0") + gpu(11, "rsmi1"), distances)
    assert import_text(text).bandwidths == {Fraction(100): 2}


def power() -> str:
    """Two CPUs with two GPUs each, as on POWER8: NVLink joins a GPU with its neighbour and its CPU."""
    cpus = "".join(f'<object type="Package" os_index="{n}" gp_index="{30 + n}"/>\n' for n in range(2))
    names = [f"OSDev:{10 + n}" for n in range(4)] + ["Package:30", "Package:31"]
    near = {(0, 1), (2, 3), (0, 4), (1, 4), (2, 5), (3, 5)}
    values = [
        [1000000 if a == b else 40000 if (min(a, b), max(a, b)) in near else 0 for b in range(6)] for a in range(6)
    ]
    return machine("".join(gpu(10 + n, f"nvml{n}") for n in range(4)) + cpus, matrix(names, values))


def test_cpus_are_switches_and_the_link_between_them_is_asked_for() -> None:
    assert "what the link between two CPUs carries; give --link-bandwidth GBPS" in problem(power())
    found = links(import_text(power(), link_bandwidth=32))
    assert found["GPU0", "GPU1"] == found["GPU3", "CPU1"] == 40
    assert found["CPU0", "CPU1"] == 32
    assert ("GPU0", "GPU2") not in found


def test_what_is_broken_is_said() -> None:
    for text, said in [
        (machine(gpu(10, "nvml0"), ""), "has no matrix of NVLink or xGMI bandwidths"),
        (dgx2().replace("75000", "", 1), "the matrix has 35 values for 6 objects; it is cut off"),
        (dgx2().replace("75000", "fast", 1), "'fast' in the matrix is no number of MB/s"),
        (dgx2().replace("OSDev:10", "OSDev:99"), "the matrix names 'OSDev:99', which is no object"),
        (dgx2().replace('hwloc2.dtd">', 'hwloc2.dtd" [<!ENTITY a "b">]>'), "line 2: declares the XML entity 'a'"),
    ]:
        assert said in problem(text)


def card(index: int, name: str) -> str:
    inside = f'<object type="OSDev" gp_index="{index}" name="{name}" osdev_type="3"/>'
    return f'<object type="PCIDev" gp_index="{index + 500}" pci_busid="0000:{index:02x}:00.0">{inside}</object>\n'


def bridge(inside: str, kind: str = "1-1") -> str:
    return f'<object type="Bridge" bridge_type="{kind}" gp_index="900">{inside}</object>\n'


def test_network_cards_are_at_the_nearest_gpus_and_far_ones_are_left_out() -> None:
    """Each of two GPUs shares a PCIe switch with a card; a third card is at the same CPU, a fourth elsewhere."""
    pairs = "".join(bridge(gpu(10 + n, f"nvml{n}") + card(40 + n, f"mlx5_{n}")) for n in range(2))
    objects = f'<object type="Package" os_index="0" gp_index="30">{bridge(pairs + card(42, "mlx5_2"), "0-1")}</object>'
    text = machine(objects + card(43, "mlx5_3"), matrix(["10", "11"], [[0, 100000], [100000, 0]]))
    assert import_text(text).ignored == (
        "4 NICs: the file does not say what they carry; give --nic to keep them for a cluster or --hosts",
    )
    assert "what a NIC carries; give --nic" in problem(text, text)
    imported = import_text(text, text, nic=25)
    found = links(imported)
    assert found["host0/GPU1", "host0/mlx5_1"] == found["fabric", "host1/mlx5_0"] == 25
    assert imported.nics == 4
    assert any("2 NICs further away from GPUs than others" in each for each in imported.ignored)
    assert len(import_text(text, nic=25).topology.attributes["nics"]) == 2  # type: ignore[arg-type]
    everything = links(import_text(text, text, nic=25, nics="all"))
    assert {one for one, other in everything if other == "host0/mlx5_3/out"} == {"host0/GPU0", "host0/GPU1"}
    only = import_text(text, text, nic=25, nics="mlx5_2")
    assert only.nics == 2
    assert any("3 NICs not named" in each for each in only.ignored)
