"""Matrices of measured bandwidths: p2pBandwidthLatencyTest, nvbandwidth, CSV."""

from fractions import Fraction

from import_tools import algbw, ids, import_text, links, problem


def block(title: str, rows: list[list[str]]) -> str:
    head = "   D\\D " + " ".join(str(number).rjust(6) for number in range(len(rows)))
    lines = [f"     {number} " + " ".join(each.rjust(6) for each in row) for number, row in enumerate(rows)]
    return "\n".join([title, head, *lines]) + "\n"


def square(count: int, value: float, diagonal: str = "1293.26") -> list[list[str]]:
    return [[diagonal if a == b else f"{value:.2f}" for b in range(count)] for a in range(count)]


def peer_test(count: int, enabled: float) -> str:
    devices = "".join(
        f"Device: {gpu}, NVIDIA A100-SXM4-80GB, pciBusID: {gpu + 10:x}, pciDeviceID: 0, pciDomainID:0\n"
        for gpu in range(count)
    )
    parts = [
        "[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]\n",
        devices,
        "Device=0 CAN Access Peer Device=1\n\n***NOTE: In case a device doesn't have P2P access to other one ...\n",
        "So you can see lesser Bandwidth (GB/s) and unstable Latency (us) in those cases.\n\n",
        "P2P Connectivity Matrix\n     D\\D     0     1\n     0\t     1     1\n     1\t     1     1\n",
        block("Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)", square(count, 10.5)),
        block("Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", square(count, enabled)),
        block("Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)", square(count, 12.5)),
        block("Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)", square(count, 2 * enabled)),
        "P2P=Disabled Latency Matrix (us)\n   GPU     0      1\n     0   2.25  15.80\n     1  15.96   2.32\n\n",
        "   CPU     0      1\n     0   2.87   8.28\n     1   8.29   2.81\n",
    ]
    return "".join(parts)


def test_a_measured_box_is_a_switch_and_not_a_complete_graph() -> None:
    text = peer_test(8, 272.5)
    imported = import_text(text)
    assert imported.format == "p2p-bandwidth"
    assert ids(imported) == [f"GPU{gpu}" for gpu in range(8)]
    assert imported.bandwidths == {Fraction("272.5"): 16}
    assert algbw(imported) == Fraction("272.5") * 8 / 7
    assert imported.topology.nodes[1].attributes["model"] == "NVIDIA A100-SXM4-80GB"
    assert import_text(text, matrix="complete").bandwidths == {Fraction("272.5"): 56}


def test_rows_send_half_of_a_bidirectional_matrix_is_taken_and_nvbandwidth_is_read_too() -> None:
    rows = [["900", "10", "20"], ["11", "900", "21"], ["12", "22", "900"]]
    found = links(import_text(block("Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", rows)))
    assert [found["switch", f"GPU{number}"] for number in range(3)] == [12, 22, 21]
    assert found["GPU0", "switch"] == 20
    imported = import_text(block("Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)", square(2, 500)))
    assert imported.bandwidths == {Fraction(250): 4}
    assert any("is read, as there is none" in each for each in imported.assumed)
    text = (
        "Running device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n"
        "           0         1\n 0       N/A    276.07\n 1    280.00       N/A\n\nSUM 552.14\n"
    )
    found = links(import_text(text, matrix="complete"))
    assert found == {("GPU1", "GPU0"): Fraction("276.07"), ("GPU0", "GPU1"): 280}


def test_a_table_may_have_names_and_any_separator() -> None:
    for text in (
        "0,100,50\n100,0,50\n50,50,0\n",
        "gpu0,gpu1,gpu2\n0,100,50\n100,0,50\n50,50,0\n",
        ",gpu0,gpu1,gpu2\ngpu0,0,100,50\ngpu1,100,0,50\ngpu2,50,50,0\n",
        "gpu0;0;100;50\ngpu1;100;0;50\ngpu2;50;50;0\n",
        "\tgpu0\tgpu1\tgpu2\ngpu0\t-\t100\t50\ngpu1\t100\t-\t50\ngpu2\t50\t50\t-\n",
        "  X    100.0  5e1\n 100    X     50\n # measured at night\n 50     50     X\n",
        '"0","800Gb/s","50"\n"100","0","50"\n"50","50","0"\n',
        "0,1,2\n0,100,50\n100,0,50\n50,50,0\n",
    ):
        imported = import_text(text, matrix="complete")
        assert imported.format == "matrix"
        assert sorted(links(imported).values()) == [50, 50, 50, 50, 100, 100]
        assert ids(imported)[0] in ("0", "gpu0")
        assert import_text(text).bandwidths == {Fraction(100): 4, Fraction(50): 2}
    assert import_text("0,1,100\n1,2,100\n2,0,100\n").format == "edge-list"


def test_what_is_broken_is_said() -> None:
    for text, form, said in [
        (peer_test(4, 100).replace("100.00 1293.26", "100.00", 1), None, "has 3 values, not 4; paste the whole matrix"),
        (block("Bandwidth Matrix (GB/s)", square(3, 9)).rpartition("\n     2")[0], None, "3 columns and 2 rows"),
        (block("Bandwidth Matrix (GB/s)", [["1", "x"], ["2", "1"]]), None, "line 3: 'x' is no bandwidth"),
        ("[P2P] Bandwidth Matrix (GB/s)\n", None, "holds no matrix of bandwidths"),
        ("0,1,2\n1,0\n", "matrix", "line 1: has 3 values, but the matrix has 2 rows"),
        ("0,-5\n5,0\n", "matrix", "line 1: '-5' is below 0"),
        ("0,five\n5,0\n", "matrix", "line 1: 'five'"),
        ("0,0\n5,0\n", "matrix", "0 has no value to or from another node"),
        ("", "matrix", "is empty"),
    ]:
        assert said in problem(text, form=form)


def test_pairs_with_nvlink_on_two_cpus() -> None:
    """As on a POWER8 with four P100: 35 GB/s in a pair, 20 to 25 between pairs; blanks after the titles."""
    rows = [
        ["507.22", "35.35", "20.27", "20.31"],
        ["35.33", "509.12", "20.25", "20.28"],
        ["24.52", "25.09", "509.29", "35.35"],
        ["24.55", "24.92", "35.34", "509.52"],
    ]
    measured = block("Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", rows)
    connectivity = "P2P Connectivity Matrix\n     D\\D     0     1     2     3\n     0       1     1     0     0\n"
    text = connectivity + measured.replace("3\n", "3         \n", 1)
    for pasted in (text, "".join(f"    {line}" for line in text.splitlines(keepends=True))):
        found = links(import_text(pasted, matrix="complete"))
        assert (found["GPU0", "GPU1"], found["GPU1", "GPU2"]) == (Fraction("35.35"), Fraction("20.25"))
        assert found["GPU2", "GPU1"] == Fraction("25.09")
        sent = {value for (one, _), value in links(import_text(pasted)).items() if one != "switch"}
        assert sent == {Fraction(each) for each in ("35.35", "35.33", "35.34")}
