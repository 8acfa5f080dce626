"""`forestcoll import`, and files of other tools in place of TOPOLOGY."""

import json
import re
from pathlib import Path

import pytest
from cli_run import json_of, run_command, written

from forestcoll.topology.importers.importer import importers

MATRIX = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-63\nGPU1\tNV12\t X \t0-63\n"


@pytest.fixture
def topo(tmp_path: Path) -> Path:
    path = tmp_path / "topo.txt"
    path.write_text(MATRIX)
    return path


def test_the_file_says_from_which_format_it_was_imported(topo: Path, tmp_path: Path) -> None:
    output = tmp_path / "network.json"
    assert run_command("import", topo, "-o", output).status == 0
    assert json.loads(output.read_text())["graph"]["imported"]["format"] == "nvidia-smi-topo"
    assert json_of("optimum", output)["algbw"] == "600"


def test_a_speed_may_have_a_unit(topo: Path) -> None:
    assert json_of("import", topo, "--nvlink", "200Gb/s")["bandwidths"] == {"300": 2}


def test_with_the_network_on_standard_output_the_summary_goes_elsewhere(topo: Path) -> None:
    run = run_command("import", topo, "-o", "-")
    assert json.loads(run.out)["nodes"][0]["id"] == "GPU0"
    assert "nvidia-smi-topo" in run.err


@pytest.mark.parametrize(
    "words",
    [
        ["optimum"],
        ["optimum", "--all"],
        ["generate"],
        ["topology"],
        ["generate", "--method", "bfb"],
        ["one-port", "--source", "GPU0"],
        ["compare", "--baselines", "nccl-ring"],
        ["what-if", "--upgrade"],
        ["train-time", "switch-base-256"],
    ],
)
def test_every_command_takes_such_a_file_for_topology(words: list[str], topo: Path) -> None:
    run = run_command(*words, topo)
    assert run.status == 0
    if words[0] != "train-time":
        assert run.err.startswith("forestcoll: note: topo: assumed: one NVLink carries 25 GB/s")


def test_what_was_assumed_of_the_box_of_a_cluster_is_a_note(topo: Path) -> None:
    spec = f"cluster:box={topo},boxes=2,nics=2,nic_bandwidth=25"
    (note,) = run_command("optimum", spec).err.splitlines()
    assert note == (
        f"forestcoll: note: {spec}: assumed: box {topo}: one NVLink carries 25 GB/s each way, as on V100 and A100; "
        "forestcoll import --nvlink gives another speed"
    )


def test_ids_of_the_file_name_ranks_and_roots(topo: Path) -> None:
    run = run_command("optimum", topo, "--collective", "broadcast", "--root", "GPU1", "--ranks", "GPU0,GPU1", "--json")
    assert json.loads(run.out)["algbw"] == "300"


def test_a_missing_speed_is_asked_for_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "topo.txt"
    path.write_text(MATRIX.replace("NV12", "NV18"))
    start = f"{path}: the file does not say what one NVLink carries, and NV18 is H100 or B200; "
    unit = ", in GB/s each way (25 on H100 and H200, 50 on B200)"
    assert run_command("import", path).error_line() == f"{start}give --nvlink GBPS{unit}"
    assert json_of("import", path, "--nvlink", "25")["bandwidths"] == {"450": 2}
    words = f"{start}run 'forestcoll import {path} --nvlink GBPS -o network.json'{unit}, and use network.json instead"
    assert run_command("optimum", path).error_line() == words
    cluster = run_command("optimum", f"cluster:box={path},boxes=2,nics=2,nic_bandwidth=25")
    assert cluster.error_line().endswith(words)


def test_standard_input_is_a_file() -> None:
    assert "600 GB/s" in run_command("optimum", "-", stdin=MATRIX.encode()).out


def test_help_lists_every_format_and_the_document_describes_each() -> None:
    docs = Path(__file__).parents[2] / "docs"
    document = (docs / "imports.md").read_text() + (docs / "tables" / "importers.csv").read_text()
    help_text = "".join(run_command("import", "--help").out.split())
    for spec in importers.all():
        assert spec.name in help_text
        assert f"`{spec.name}`" in document, f"docs/tables/importers.csv needs a row for {spec.name}"
        assert (f",`{spec.name}` *," in document) == spec.facts.get("several", False)
        for each in spec.parameters:
            assert f"`--{each.name.replace('_', '-')}" in document


def test_a_format_may_have_options_and_an_option_overrules_them(topo: Path) -> None:
    form = "nvidia-smi-topo:nvlink=50"
    assert json_of("import", topo, "--format", form)["bandwidths"] == {"600": 2}
    assert json_of("import", topo, "--format", form, "--nvlink", "25")["bandwidths"] == {"300": 2}
    run = run_command("import", topo, "--format", "nvidia-smi-topo:nvlnk=50")
    assert run.status == 2
    assert "'--format': nvidia-smi-topo: there is no parameter 'nvlnk'; did you mean 'nvlink'" in run.err


def test_the_default_of_an_option_may_be_given_for_any_format(topo: Path) -> None:
    assert json_of("import", topo, "--speeds", "nominal", "--matrix", "ports") == json_of("import", topo)


def test_the_document_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = (Path(__file__).parents[2] / "docs" / "imports.md").read_text()
    texts = re.findall(r"^```(?:text)?\n(.*?)^```$", document, flags=re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    Path("topo.txt").write_text(texts[0])
    Path("h100.txt").write_text(texts[0].replace("NV12", "NV18"))
    shown = texts[1].partition("\n")[2]
    assert run_command("import", "topo.txt", "-o", "network.json").out == shown
    message = run_command("import", "h100.txt").error_line()
    assert f"$ forestcoll import h100.txt\nforestcoll: {message}\n" in document


def test_two_files_of_networks_are_refused(tmp_path: Path) -> None:
    other = written(tmp_path / "ring.graphml", "topology", "ring")
    assert "is one file; import one at a time" in run_command("import", other, other).error_line()


def test_bandwidths_are_rounded_to_a_number_of_digits(tmp_path: Path) -> None:
    source, target = tmp_path / "long.txt", tmp_path / "short.json"
    source.write_text("a b 1.23456\nb a 1\n")
    run = run_command("import", source, "--format", "edge-list", "--rounding", "4", "-o", target)
    assert "rounded to 4 digits, those of 1 link" in run.out
    assert [edge["bandwidth"] for edge in json.loads(target.read_bytes())["edges"]] == ["247/200", 1]


def test_odd_hardware_is_said(tmp_path: Path) -> None:
    rows = [[" X " if one == other else "NV12" for other in range(8)] for one in range(8)]
    for other in range(7):
        rows[7][other] = rows[other][7] = "NV11"
    path = tmp_path / "topo.txt"
    titles = "\t".join(f"GPU{number}" for number in range(8))
    path.write_text("\n".join([f"\t{titles}", *(f"GPU{n}\t" + "\t".join(row) for n, row in enumerate(rows))]))
    odd = "1 of 8 links between GPU and NVSwitch has 275 GB/s, not 300 GB/s: GPU7--NVSwitch"
    assert f"Odd:\n  {odd}" in run_command("import", path).out
    assert json_of("import", path)["odd_hardware"] == [odd]
