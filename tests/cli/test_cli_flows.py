"""`optimum`, `generate`, `bounds`, `verify` and `simulate` for all-to-all, gather and scatter."""

import json
from pathlib import Path

import pytest
from cli_run import json_of, run_command


def matrix_file(folder: Path, text: str = "0,1/2,1/4\n1/8,0,0\n0,1,0\n") -> Path:
    path = folder / "demand.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("words", "algbw"),
    [
        (["dgx-a100:boxes=2", "--collective", "alltoall"], "50"),
        (["torus:dims=4x4", "--collective", "scatter", "--root", "0"], "64/15"),
        (["mi250:boxes=2", "--collective", "gather", "--root", "b0/gpu3"], "5312/15"),
        (["torus:dims=4x4", "--collective", "all_to_all", "--ranks", "0-3"], "16/3"),
        (["ring:nodes=6", "--collective", "all-to-all", "--ranks", "0-2", "--no-relays"], "3/2"),
    ],
)
def test_all_commands_state_the_same_algbw(tmp_path: Path, words: list[str], algbw: str) -> None:
    path = tmp_path / "flows.json.gz"
    best = json_of("optimum", *words)
    made = json_of("generate", *words, "-o", path)
    checked = json_of("verify", path)
    assert best["algbw"] == best["optimal_algbw"] == made["algbw"] == checked["algbw"] == algbw
    assert made["verified"] is checked["optimal"] is True
    keys = ("flows", "greatest_height", "mean_height")
    assert [made[key] for key in keys] == [checked[key] for key in keys]
    if "--no-relays" not in words:
        (bound,) = json_of("optimum", "--all", *words)["collectives"].values()
        assert (bound["upper_algbw"], bound["achieved_algbw"], bound["tight"]) == (algbw, algbw, True)
    times = json.loads(run_command("simulate", path, "--sizes", "1K,1G", "--json").out)
    assert [each["size"] for each in times] == [2**10, 2**30]


def test_a_demand_matrix_from_a_file(tmp_path: Path) -> None:
    path, file = tmp_path / "flows.json", matrix_file(tmp_path)
    words = ("ring:nodes=3", "--collective", "all-to-all", "--demand", file)
    made = json_of("generate", *words, "-o", path)
    assert made["demand"] == [["0", "1/2", "1/4"], ["1/8", "0", "0"], ["0", "1", "0"]]
    assert json.loads(path.read_text())["demand"] == made["demand"]
    assert json_of("verify", path)["algbw"] == made["algbw"]
    assert json_of("optimum", "--all", *words)["collectives"]["all-to-all"]["tight"] is True
    named = matrix_file(tmp_path, "x,2,0,1\n0,1/4,0,1/2\n2,0,0,1\n1,0,1/8,0\n")
    assert json_of("optimum", *words[:-1], named)["algbw"] == made["algbw"]


def test_schedules_of_many_flows_are_compact(tmp_path: Path) -> None:
    path = tmp_path / "flows.json.gz"
    made = json_of("generate", "dgx-h100:boxes=32", "--collective", "all-to-all", "-o", path)
    assert (made["flows"], made["base_flows"]) == (256 * 255, 255)
    assert "65280 (255 base flows, 256 images each)" in run_command("verify", path).out


def test_an_all_to_all_is_exported_and_its_program_is_checked(tmp_path: Path) -> None:
    path, out = tmp_path / "flows.json", tmp_path / "program"
    run_command("generate", "ring:nodes=4", "--collective", "all-to-all", "-o", path)
    for words in (("msccl-xml",), ("msccl-xml", "--dialect", "azure"), ("mscclpp-json",)):
        found = json_of("export", path, "--to", *words, "-o", out)
        assert (found["collective"], found["ranks"], found["checked"]) == ("alltoall", 4, True)
        judged = json_of("verify", out)
        assert (judged["valid"], judged["collective"]) == (True, "alltoall")


def test_an_export_states_what_rounding_costs_an_all_to_all(tmp_path: Path) -> None:
    path, out = tmp_path / "flows.json", tmp_path / "program"
    run_command("generate", "torus:dims=4x4", "--collective", "all-to-all", "-o", path)
    page = run_command("export", path, "--to", "msccl-xml", "-o", out).out
    assert "lost" in page
    assert "flows left out, or shares rounded" in page
    exact = json_of("export", path, "--to", "msccl-xml:chunks=192", "-o", out)
    assert exact["loss"] == "0"
    assert exact["chunks"] % 192 == 0
