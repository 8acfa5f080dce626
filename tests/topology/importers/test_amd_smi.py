"""The tables of AMD's tools: amd-smi topology (text, JSON in two forms) and rocm-smi --showtopo."""

import json
from collections.abc import Callable
from fractions import Fraction

from import_tools import algbw, ids, import_text, links, problem

Cell = Callable[[int, int], str]


def bus(gpu: int) -> str:
    return f"0000:{gpu:x}c:00.0"


def table(title: str, labels: list[str], cell: Cell) -> str:
    rows = [" " * 13 + " ".join(each.ljust(12) for each in labels)]
    for one, label in enumerate(labels):
        cells = [cell(one, other).ljust(12) for other in range(len(labels))]
        rows.append(" ".join([label.ljust(12), *cells]).rstrip())
    return "\n".join([title, *rows]) + "\n\n"


def amd_smi(gpus: int, kind: Cell, hops: Cell, weight: Cell, span: Cell) -> str:
    labels = [bus(gpu) for gpu in range(gpus)]
    tables = {
        "ACCESS TABLE:": lambda _one, _other: "ENABLED",
        "WEIGHT TABLE:": weight,
        "HOPS TABLE:": hops,
        "LINK TYPE TABLE:": kind,
        "NUMA BW TABLE:": span,
        "CACHE COHERANCY TABLE:": but("C", "SELF"),
    }
    legend = "Legend:\n  SELF = Current GPU\n  <BW from>-<BW to>\n"
    return "".join(table(title, labels, cell) for title, cell in tables.items()) + legend


def but(cell: str, diagonal: str) -> Cell:
    return lambda one, other: diagonal if one == other else cell


def rocm_smi(gpus: int, kind: Cell, hops: Cell, weight: Cell, numa: Callable[[int], int]) -> str:
    def title(text: str) -> str:
        return f" {text} ".center(90, "=")

    labels = [f"GPU{gpu}" for gpu in range(gpus)]
    tables = {"Weight between two GPUs": weight, "Hops between two GPUs": hops, "Link Type between two GPUs": kind}
    nodes = "".join(
        f"GPU[{gpu}]\t\t: (Topology) Numa Node: {numa(gpu)}\nGPU[{gpu}]\t\t: (Topology) Numa Affinity: {numa(gpu)}\n"
        for gpu in range(gpus)
    )
    body = "".join(table(title(text), labels, cell) for text, cell in tables.items())
    head, end = title("ROCm System Management Interface"), title("End of ROCm SMI Log")
    return f"{head}\n{body}{title('Numa Nodes')}\n{nodes}{end}\n"


MI300X = amd_smi(8, but("XGMI", "SELF"), but("1", "0"), but("15", "0"), but("50000-50000", "N/A"))


def test_mi300x_is_a_complete_graph_whose_speed_is_asked() -> None:
    message = problem(MI300X)
    assert "its table of bandwidths is that of the driver" in message
    assert "give --xgmi GBPS" in message
    imported = import_text(MI300X, xgmi=64)
    assert imported.format == "amd-smi"
    assert imported.bandwidths == {Fraction(64): 56}
    assert algbw(imported) == 512
    assert ids(imported) == [f"GPU{gpu}" for gpu in range(8)]
    assert imported.topology.nodes[3].attributes["busid"] == bus(3)
    without_bandwidths = MI300X.replace("50000-50000", "0-0        ")
    assert import_text(without_bandwidths, xgmi=64).bandwidths == {Fraction(64): 56}


def test_a_model_that_the_file_names_says_the_speed() -> None:
    for line, speed in (("Card Series: AMD Instinct MI300X VF", "64"), ("TARGET_GRAPHICS_VERSION: gfx950", "76.8")):
        imported = import_text(f"{line}\n{MI300X}")
        assert imported.bandwidths == {Fraction(speed): 56}
        assert any("as the file names" in each for each in imported.assumed)


PAIRS = {(0, 1): 4, (0, 2): 1, (1, 3): 1, (2, 3): 4}
"""Two cards of two dies, as half an MI250X: four links inside a card, one between cards."""


def dies(one: int, other: int) -> int:
    return PAIRS.get((min(one, other), max(one, other)), 0)


def test_bandwidths_tell_direct_links_from_ways_over_several_and_count_them() -> None:
    def span(one: int, other: int) -> str:
        return "N/A" if one == other else f"50000-{50000 * dies(one, other)}" if dies(one, other) else "0-0"

    text = amd_smi(4, but("XGMI", "SELF"), but("1", "0"), but("15", "0"), span)
    found = links(import_text(text, xgmi=50))
    assert found == {(f"GPU{a}", f"GPU{b}"): 50 * dies(a, b) for a in range(4) for b in range(4) if dies(a, b)}


def test_without_bandwidths_the_least_weight_is_direct() -> None:
    def weight(one: int, other: int) -> str:
        return "0" if one == other else "15" if dies(one, other) else "30"

    text = rocm_smi(4, but("XGMI", "0"), but("1", "0"), weight, lambda _gpu: 0)
    imported = import_text(text, xgmi=50)
    assert len(links(imported)) == 8
    assert any("least weight, 15" in each for each in imported.assumed)


def test_hives_are_joined_by_pcie() -> None:
    def kind(one: int, other: int) -> str:
        return "0" if one == other else "XGMI" if one // 4 == other // 4 else "PCIE"

    def hops(one: int, other: int) -> str:
        return "0" if one == other else "1" if one // 4 == other // 4 else "3"

    text = rocm_smi(8, kind, hops, hops, lambda gpu: gpu // 4)
    assert "xGMI does not join all GPUs; give --pcie GBPS" in problem(text, xgmi=46)
    found = links(import_text(text, xgmi=46, pcie=32))
    assert found["GPU0", "CPU0"] == 32
    assert found["CPU0", "CPU1"] == 16
    assert ("GPU0", "GPU4") not in found
    without_numa = text.replace("Numa Node:", "Node:")
    assert links(import_text(without_numa, xgmi=46, pcie=32)) == found


def test_pcie_only() -> None:
    text = amd_smi(2, but("PCIE", "SELF"), but("2", "0"), but("40", "0"), but("N/A", "N/A"))
    pairs = [("GPU0", "CPU0"), ("CPU0", "GPU0"), ("GPU1", "CPU0"), ("CPU0", "GPU1")]
    assert links(import_text(text, pcie=32)) == dict.fromkeys(pairs, 32)


def test_json_in_its_newer_and_its_older_form() -> None:
    def link(one: int, other: int) -> dict[str, object]:
        figures = {"weight": 15, "num_hops": 1, "bandwidth": "50000-50000"}
        return {"gpu": other, "bdf": bus(other), "link_type": "SELF" if one == other else "XGMI", **figures}

    newer = [{"gpu": gpu, "bdf": bus(gpu), "links": [link(gpu, each) for each in (2, 1, 0)]} for gpu in range(3)]
    older = [
        {
            "gpu": gpu,
            "weight": {f"gpu_{each}": 15 for each in range(3)},
            "link_type": {f"gpu_{each}": "SELF" if each == gpu else "XGMI" for each in range(3)},
            "hops": {f"gpu_{each}": 1 for each in range(3)},
        }
        for gpu in range(3)
    ]
    for document in (newer, older):
        imported = import_text(json.dumps(document, indent=1), xgmi=64)
        assert imported.format == "amd-smi"
        assert imported.bandwidths == {Fraction(64): 6}


def test_what_is_broken_is_said() -> None:
    for text, said in [
        (MI300X.replace("XGMI", "", 1), "line 36: the row of 0000:0c:00.0 has 7 values, not 8"),
        (MI300X.replace(bus(1), bus(0)), "the table of link types has 8 columns; expected each GPU once"),
        ("LINK TYPE TABLE:\n", "holds no rows of link types; run amd-smi topology"),
        ("\n".join(MI300X.splitlines()[:38]), "has no row for 0000:3c:00.0"),
        ('[{"gpu": 0, "link_type": {}, "weight": {}}]', "gpu 0 has no links"),
        ('[{"gpu": "x", "links": [], "link_type": 1}]', "gpu is 'x'; expected a whole number"),
    ]:
        assert said in problem(text, xgmi=64)
