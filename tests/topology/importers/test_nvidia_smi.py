"""The matrix of nvidia-smi topo -m as people paste it, and the list of nvidia-smi nvlink -s."""

from fractions import Fraction

import pytest

from import_tools import algbw, full, ids, import_text, links, matrix, problem

NICS = ["PXB SYS"] * 4 + ["SYS PXB"] * 4
DGX_A100 = matrix(full(8, "NV12"), NICS)
CUBE_MESH = matrix(
    [
        [" X ", "NV1", "NV1", "NV2", "NV2", "SYS", "SYS", "SYS"],
        ["NV1", " X ", "NV2", "NV1", "SYS", "NV2", "SYS", "SYS"],
        ["NV1", "NV2", " X ", "NV2", "SYS", "SYS", "NV1", "SYS"],
        ["NV2", "NV1", "NV2", " X ", "SYS", "SYS", "SYS", "NV1"],
        ["NV2", "SYS", "SYS", "SYS", " X ", "NV1", "NV1", "NV2"],
        ["SYS", "NV2", "SYS", "SYS", "NV1", " X ", "NV2", "NV1"],
        ["SYS", "SYS", "NV1", "SYS", "NV1", "NV2", " X ", "NV2"],
        ["SYS", "SYS", "SYS", "NV1", "NV2", "NV1", "NV2", " X "],
    ]
)
"""A DGX-1 with V100: six NVLinks a GPU, which lead to other GPUs."""


def test_a_dgx_a100_is_eight_ports_of_one_switch() -> None:
    imported = import_text(DGX_A100)
    assert imported.format == "nvidia-smi-topo"
    assert ids(imported) == [f"GPU{number}" for number in range(8)]
    assert imported.bandwidths == {Fraction(300): 16}
    assert algbw(imported) == Fraction(2400, 7)
    assert imported.topology.nodes[0].attributes["box"] == "host0"


def test_direct_links_are_direct() -> None:
    assert import_text(CUBE_MESH).bandwidths == {Fraction(50): 16, Fraction(25): 16}
    boards = import_text(matrix(full(4, "NV4")))
    assert boards.bandwidths == {Fraction(100): 12}
    assert algbw(boards) == 400
    sixteen = import_text(matrix(full(16, "NV6")))  # V100 on switches
    assert sixteen.bandwidths == {Fraction(150): 32}


def test_a_speed_that_several_generations_may_have_is_asked() -> None:
    text = matrix(full(8, "NV18"))
    message = problem(text)
    assert "NV18 is H100 or B200; give --nvlink GBPS" in message
    assert "25 on H100 and H200, 50 on B200" in message
    assert import_text(text, nvlink=25).bandwidths == {Fraction(450): 16}
    assert import_text(text, nvlink=50).bandwidths == {Fraction(900): 16}
    pair, five = matrix(full(2, "NV4")), matrix(full(5, "NV1"))
    assert "NV4 is a pair of A40, A6000 or RTX 3090, or of older GPUs; give --nvlink GBPS" in problem(pair)
    said = "NV1 NV1 NV1 NV1 is a DGX-1 with P100, or some GPUs of one with V100; give --nvlink"
    assert said in problem(five)
    assert set(import_text(pair, nvlink="14.0625").bandwidths) == {Fraction(225, 4)}
    assert set(import_text(five, nvlink="14.0625").bandwidths) == {Fraction(225, 16)}
    for count, bandwidth in ((1, 25), (2, 50), (3, 75)):
        imported = import_text(matrix(full(2, f"NV{count}")))
        assert imported.bandwidths == {Fraction(bandwidth): 2}
        assert any("25 GB/s each way" in each for each in imported.assumed)


def test_pcie_joins_islands_of_nvlink_and_pxb_joins_pcie_switches_by_one_more() -> None:
    rows = [[" X " if a == b else "NV18" if a // 4 == b // 4 else "SYS" for b in range(8)] for a in range(8)]
    assert "give --pcie GBPS" in problem(matrix(rows), nvlink=25)
    imported = import_text(matrix(rows, numa=[str(number) for number in range(8)]), nvlink=25, pcie=64)
    switches = [node.id for node in imported.topology.nodes[8:]]
    assert switches == ["NVSwitch", "NVSwitch1", *(f"CPU{n}" for n in range(8)), "socket0", "socket1"]
    rows = [[" X " if a == b else "PIX" if a // 2 == b // 2 else "PXB" for b in range(4)] for a in range(4)]
    found = links(import_text(matrix(rows), pcie=16))
    assert {("GPU0", "PCIe-GPU0"), ("PCIe-GPU0", "PCIe-GPU0-GPU2"), ("PCIe-GPU0-GPU2", "CPU0")} <= set(found)
    assert len(found) == 14
    assert len(links(import_text(matrix(full(2, "PXB")), pcie=16))) == 6
    # SOC is the old word for another socket.
    assert len(import_text(matrix(full(2, "SOC"), numa="01"), pcie=16).topology.switches) == 2


def test_pcie_alone_makes_a_tree_of_switches_and_cpus() -> None:
    rows = [
        [" X ", "PIX", "PHB", "SYS", "SYS"],
        ["PIX", " X ", "PHB", "SYS", "SYS"],
        ["PHB", "PHB", " X ", "SYS", "SYS"],
        ["SYS", "SYS", "SYS", " X ", "NODE"],
        ["SYS", "SYS", "SYS", "NODE", " X "],
    ]
    message = problem(matrix(rows))
    assert "what PCIe carries" in message
    assert "give --pcie GBPS" in message
    text = matrix(rows, numa=["0", "0", "0", "1", "1"])
    found = links(import_text(text, pcie=32))
    assert set(found.values()) == {Fraction(32), Fraction(16)}
    pairs = {("GPU0", "PCIe-GPU0"), ("GPU1", "PCIe-GPU0"), ("PCIe-GPU0", "CPU0"), ("GPU2", "CPU0")}
    assert pairs | {("GPU3", "CPU1"), ("GPU4", "CPU1"), ("CPU1", "CPU0")} <= set(found)
    assert len(found) == 14
    assert links(import_text(text, pcie=32, link_bandwidth=20))["CPU0", "CPU1"] == 20


def test_gpus_of_a_numa_node_share_its_root_and_cpus_share_the_links_between_sockets() -> None:
    """Eight GPUs with SYS between them in four NUMA nodes: 32 GB/s for each pair of eight CPUs would be too kind."""
    text = matrix(full(8, "SYS"), numa=list("00112233"))
    imported = import_text(text, pcie=32)
    found = links(imported)
    assert {one for one, other in found if other == "CPU3"} == {"GPU6", "GPU7", "socket1"}
    assert {one for one, other in found if other == "socket1"} == {"CPU2", "CPU3", "socket0"}
    assert found["socket0", "socket1"] == 16
    assert algbw(imported) == 32  # a busbw of 28 GB/s, as was measured of eight GPUs on two sockets (nccl#1530)
    assert any("also those with SYS between them" in each for each in imported.assumed)
    assert any("the 4 CPUs are two sockets" in each for each in imported.assumed)
    unknown = text.replace("0-47,96-143\t", "\t").replace("NUMA Affinity", "NUMA Affinity\tGPU NUMA ID")
    assert links(import_text(unknown, pcie=32)) == found
    for ending in ("", "\tN/A"):
        lines = [line.partition("\t0-47")[0] + ending for line in text.splitlines()]
        assert len(import_text("\n".join(lines), pcie=32).topology.switches) == 10


def test_nics_of_a_pcie_host_are_at_its_switches_and_cpus_and_nics_that_are_far_from_all_are_shared() -> None:
    rows = [[" X " if a == b else "PIX" if a // 2 == b // 2 else "SYS" for b in range(4)] for a in range(4)]
    text = matrix(rows, ["PIX SYS"] * 2 + ["SYS NODE"] * 2, numa="0011")
    imported = import_text(text, text, pcie=32, nic=25, nics="all")
    found = links(imported)
    assert found["host0/PCIe-GPU0", "host0/mlx5_0"] == found["host0/CPU1", "host0/mlx5_1"] == 32
    assert ("host0/GPU0", "host0/mlx5_0") not in found
    text = matrix(full(4, "SYS"), ["SYS SYS"] * 4, numa="0011").replace("X \tSYS\n", "X \tPIX\n")
    imported = import_text(text, text, pcie=32, nic=25)
    assert imported.nics == 4
    assert {("host1/PCIe-mlx5_0", "host1/mlx5_1"), ("host1/CPU2", "host1/CPU0")} <= set(links(imported))
    assert any("2 NICs with SYS to all GPUs, shared by all GPUs of the host" in each for each in imported.assumed)
    joined = matrix(full(2, "NV12"), ["SYS SYS"] * 2)
    found = links(import_text(joined, joined, nic=25))
    assert {one for one, other in found if other == "host0/mlx5_1/out"} == {"host0/GPU0", "host0/GPU1"}


def test_the_nearest_nics_go_to_gpus_first_and_the_others_share_them() -> None:
    text = matrix(full(4, "NV12"), ["PIX PXB SYS", "PXB PXB SYS", "SYS SYS PIX", "SYS SYS PXB"])
    found = links(import_text(text, text, nic=25))
    users = {nic: {one for one, other in found if other.startswith(f"host0/{nic}")} for nic in ("mlx5_0", "mlx5_1")}  # type: ignore[attr-defined]
    assert users == {"mlx5_0": {"host0/GPU0", "fabric"}, "mlx5_1": {"host0/GPU1", "fabric"}}
    assert {one for one, other in found if other == "host0/mlx5_2/out"} == {"host0/GPU2", "host0/GPU3"}


def test_a_matrix_without_nvlink_says_so() -> None:
    text = matrix(full(2, "PIX"))
    assert not any("NVLink" in each for each in import_text(text, pcie=32).assumed)
    only_pcie = "\n".join(line for line in text.splitlines() if "NV#" not in line)
    assert any("topo -mp, which shows none" in each for each in import_text(only_pcie, pcie=32).assumed)


def test_nics_of_one_host_are_kept_for_several_and_far_ones_are_left_out() -> None:
    rows = [["SYS"] + ["PIX" if nic == gpu else "NODE" for nic in range(8)] for gpu in range(8)]
    text = matrix(full(8, "NV18"), [" ".join(row) for row in rows])
    alone = import_text(text, nvlink=25)
    assert alone.ignored == (
        "9 NICs: the file does not say what they carry; give --nic to keep them for a cluster or --hosts",
    )
    alone = import_text(text, nvlink=25, nic=50)
    assert [each["id"] for each in alone.topology.attributes["nics"]] == [f"mlx5_{n}" for n in range(1, 9)]  # type: ignore[attr-defined]
    assert any("further away from GPUs than others (--nics all counts them): mlx5_0" in each for each in alone.ignored)
    imported = import_text(text, text, nvlink=25, nic=50)
    assert imported.nics == 16
    assert algbw(imported) == Fraction(1600, 3)
    assert import_text(text, text, nvlink=25, nic=50, nics="all").nics == 18
    assert import_text(text, text, nvlink=25, nic=50, nics="mlx5_1+mlx5_0").nics == 4


def wrapped(text: str, width: int = 80) -> str:
    """The text as a window of that width shows it: long lines go on in the next one."""
    lines = (line.expandtabs(8) for line in text.splitlines())
    return "\n".join(line[start : start + width] for line in lines for start in range(0, max(len(line), 1), width))


HEADED = DGX_A100.partition("Legend")[0].split()
CHANGED = [
    DGX_A100.replace("\tGPU0", "\t\x1b[4mGPU0", 1).replace("Affinity\n", "Affinity\x1b[0m\n", 1),
    DGX_A100.replace("\tGPU0", "\t[4mGPU0", 1).replace("Affinity\n", "Affinity[0m\n", 1),
    DGX_A100.expandtabs(8),
    " ".join(DGX_A100.expandtabs(8).splitlines()[0].split()) + "\n" + "\n".join(DGX_A100.splitlines()[1:]),
    DGX_A100.replace("\n", "\r\n"),
    DGX_A100.replace("\t", "\u00a0\u00a0\u00a0"),
    "\n".join(f"> {line}" for line in DGX_A100.splitlines()),
    "\n".join(f"| {line.replace(chr(9), ' | ')} |" for line in DGX_A100.splitlines()),
    f"root@node:~# nvidia-smi topo -m\n{DGX_A100}\nroot@node:~# ",
    "+----+\n| N/A   31C    P0    73W /  700W |\n+----+\n\n" + DGX_A100,
    DGX_A100.replace("CPU Affinity\tNUMA Affinity", "CPU Affinity").replace("\t0-47,96-143\t0", "\t0-47"),
    DGX_A100.replace("\tCPU Affinity\tNUMA Affinity", "").replace("\t0-47,96-143\t0", ""),
    DGX_A100.replace("NUMA Affinity", "NUMA Affinity\tGPU NUMA ID").replace("\t0-47,96-143\t0", "\t0-47\t0\t\tN/A"),
    DGX_A100.replace("\t0-47,96-143\t0", "\t\t1\t\tN/A"),
    "\n".join(DGX_A100.splitlines()[1:]),
    DGX_A100.partition("\n\nLegend")[0],
    " ".join(DGX_A100.split()),
    f"{' '.join(HEADED)} Legend".replace("SYS SYS", "SYSSYS").replace("GPU6 GPU7", "GPU6GPU7"),
    wrapped(DGX_A100),
    wrapped(DGX_A100, 100),
    matrix(full(8, "NV12"), NICS, "NIC") + "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n",
]


@pytest.mark.parametrize("changed", CHANGED, ids=lambda text: repr(text[:25]))
def test_a_paste_is_read_whatever_became_of_it(changed: str) -> None:
    imported = import_text(changed)
    assert imported.format == "nvidia-smi-topo"
    assert ids(imported) == [f"GPU{number}" for number in range(8)]
    assert imported.bandwidths == {Fraction(300): 16}


def test_several_hosts_are_joined_by_the_nearest_nics_which_a_legend_names() -> None:
    text = matrix(full(8, "NV12"), ["PXB SYS SYS"] * 4 + ["SYS PXB SYS"] * 4)
    assert "what a NIC carries; give --nic GBPS" in problem(text, text)
    imported = import_text(text, text, nic=25)
    found = links(imported)
    assert (imported.boxes, imported.nics) == (2, 4)
    assert found["host0/mlx5_0/out", "fabric"] == found["host1/GPU3", "host1/mlx5_0/out"] == 25
    assert any("mlx5_2" in each for each in imported.ignored)
    assert links(import_text(text, text, nic=25, pcie=32))["host1/GPU3", "host1/mlx5_0/out"] == 32
    rows = matrix(full(2, "NV12"), ["PXB", "PXB"], "NIC")
    text = f"{rows}\nNIC Legend:\n\n  NIC0: mlx5_bond_0\n"
    assert ("host1/mlx5_bond_0/out", "fabric") in links(import_text(text, text, nic=50))


def test_a_second_matrix_is_ignored_and_one_of_peer_access_is_no_network() -> None:
    imported = import_text(DGX_A100 + DGX_A100)
    assert imported.bandwidths == {Fraction(300): 16}
    assert any("1 further matrix" in each for each in imported.ignored)
    text = "\tGPU0\tGPU1\nGPU0\tX\tOK\nGPU1\tOK\tX\n"
    assert "peer access" in problem(text, form="nvidia-smi-topo")
    assert import_text(text + DGX_A100).bandwidths == {Fraction(300): 16}


def test_an_incomplete_matrix_is_refused() -> None:
    row = "GPU3\tNV12\tNV12\tNV12\t X \tNV12\tNV12"
    assert row in DGX_A100
    said = "line 5: the row of 'GPU3' has X in the column of another device"
    assert said in problem(DGX_A100.replace(row, row.replace("\tNV12", "", 1)))
    assert "5 entries for 8 GPUs" in problem(DGX_A100.replace(row, "GPU3\tNV12"))
    cut_off = "\n".join(DGX_A100.splitlines()[:6])
    assert "the matrix has a column GPU5, but no row for it" in problem(cut_off)
    assert "has 1 compute node" in problem(matrix([[" X "]]))


def status(gpus: int, active: int, raw: str = "26.562", inactive: int = 0) -> str:
    lines = []
    for gpu in range(gpus):
        lines.append(f"GPU {gpu}: NVIDIA A100-SXM4-80GB (UUID: GPU-{gpu})")
        lines += [f"\t Link {link}: {raw} GB/s" for link in range(active)]
        lines += [f"\t Link {link}: <inactive>" for link in range(active, active + inactive)]
    return "\n".join(lines) + "\n"


def test_a_list_of_nvlinks_is_a_switch_with_nominal_speeds_of_active_links() -> None:
    speeds = [("26.562", 18, 450), ("25", 12, 300), ("25.781", 12, 300), ("53.125", 18, 900), ("26.562", 17, 425)]
    for raw, active, port in speeds:
        imported = import_text(status(8, active, raw))
        assert imported.format == "nvidia-smi-nvlink"
        assert imported.bandwidths == {Fraction(port): 16}, raw
    imported = import_text(status(8, 16, inactive=2))
    assert imported.bandwidths == {Fraction(400): 16}
    assert any("16 inactive NVLinks" in each for each in imported.ignored)


def test_the_list_says_speeds_but_not_where_few_links_lead() -> None:
    assert "run nvidia-smi topo -m" in problem(status(8, 6, "25.781"))
    assert "fewer than two GPUs" in problem(status(2, 0, inactive=4))
    assert import_text(status(2, 4, "14.062")).bandwidths == {Fraction(225, 4): 4}
    imported = import_text(status(8, 18, "53.125") + matrix(full(8, "NV18")))
    assert imported.format == "nvidia-smi-topo"
    assert imported.bandwidths == {Fraction(900): 16}


def test_a_list_of_nvlinks_as_it_is_pasted() -> None:
    """As on two Quadro with a bridge: a title, indented lines, blank lines between links, no UUID."""
    lines = ["==============STATUS=============="]
    for gpu in range(2):
        lines += [f"    GPU {gpu}: Quadro RTX 8000", "\t    Link 0: 25.781 GB/s", "", "\t    Link 1: 25.781 GB/s"]
    imported = import_text("\n".join(lines))
    assert imported.format == "nvidia-smi-nvlink"
    assert imported.bandwidths == {Fraction(50): 4}
    broken = import_text("\n".join([*lines[:-1], "\t    Link 1: <inactive>"]))
    assert broken.bandwidths == {Fraction(50): 2, Fraction(25): 2}
    assert broken.ignored == ("1 inactive NVLink of GPU1",)
