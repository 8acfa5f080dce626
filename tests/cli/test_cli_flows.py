"""`optimum`, `generate`, `bounds`, `verify` and `simulate` for all-to-all, gather and scatter."""

import json
from pathlib import Path

import pytest
from cli_run import run_command


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
    best = run_command("optimum", *words, "--json").document()
    made = run_command("generate", *words, "-o", path, "--json").document()
    checked = run_command("verify", path, "--json").document()
    assert best["algbw"] == best["optimal_algbw"] == made["algbw"] == checked["algbw"] == algbw
    assert made["verified"] is checked["optimal"] is True
    keys = ("flows", "greatest_height", "mean_height")
    assert [made[key] for key in keys] == [checked[key] for key in keys]
    if "--no-relays" not in words:
        (bound,) = run_command("bounds", *words, "--json").document()["collectives"].values()  # type: ignore[attr-defined]
        assert (bound["upper_algbw"], bound["achieved_algbw"], bound["tight"]) == (algbw, algbw, True)
    times = json.loads(run_command("simulate", path, "--sizes", "1K,1G", "--json").out)
    assert [each["size"] for each in times] == [2**10, 2**30]


def test_a_demand_matrix_from_a_file(tmp_path: Path) -> None:
    path, file = tmp_path / "flows.json", matrix_file(tmp_path)
    words = ("ring:nodes=3", "--collective", "all-to-all", "--demand", file)
    made = run_command("generate", *words, "-o", path, "--json").document()
    assert made["demand"] == [["0", "1/2", "1/4"], ["1/8", "0", "0"], ["0", "1", "0"]]
    assert json.loads(path.read_text())["demand"] == made["demand"]
    assert run_command("verify", path, "--json").document()["algbw"] == made["algbw"]
    assert run_command("bounds", *words, "--json").document()["collectives"]["all-to-all"]["tight"] is True  # type: ignore[index]
    named = matrix_file(tmp_path, "x,2,0,1\n0,1/4,0,1/2\n2,0,0,1\n1,0,1/8,0\n")
    assert run_command("optimum", *words[:-1], named, "--json").document()["algbw"] == made["algbw"]


def test_shards_of_a_gather(tmp_path: Path) -> None:
    shards = tmp_path / "shards.json"
    shards.write_text('{"0": "1/4", "1": "1/4", "2": "1/2"}')
    words = ("ring:nodes=3", "--collective", "gather", "--root", "0", "--shards", shards)
    assert run_command("optimum", *words, "--json").document()["algbw"] == "8/3"


def test_schedules_of_many_flows_are_compact(tmp_path: Path) -> None:
    path = tmp_path / "flows.json.gz"
    made = run_command("generate", "dgx-h100:boxes=32", "--collective", "all-to-all", "-o", path, "--json").document()
    assert (made["flows"], made["base_flows"]) == (256 * 255, 255)
    assert "65280 (255 base flows, 256 images each)" in run_command("verify", path).out


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["ring:nodes=3", "--collective", "all-to-all", "--trees", "2"], 2, "moves along flows, not trees"),
        (["ring:nodes=3", "--collective", "gather"], 2, "a gather needs a root"),
        (["ring:nodes=3", "--demand", "demand.csv"], 2, "an allgather has no demand matrix"),
        (["ring:nodes=3", "--collective", "all-to-all", "--shards", "s.json"], 2, "an all-to-all has no shards"),
        (["ring:nodes=4", "--collective", "all-to-all", "--demand", "demand.csv"], 1, "demand.csv: "),
        (["ring:nodes=3", "--collective", "gather", "--root", "0", "--demand", "demand.csv"], 1, "to the root only"),
        (["ring:nodes=3", "--collective", "all-to-all", "--demand", "none.csv"], 1, "none.csv: no such file"),
    ],
)
def test_wrong_input_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], status: int, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    matrix_file(tmp_path)
    for command in ("optimum", "generate"):
        assert message in run_command(command, *words).error_line(status)


def test_methods_of_trees_are_refused() -> None:
    run = run_command("generate", "ring:nodes=3", "--collective", "all-to-all", "--method", "proven")
    assert "--method proven is for trees and steps" in run.error_line(2)
    run = run_command("bounds", "ring:nodes=3", "--demand", "x.csv")
    assert "--demand needs --collective" in run.error_line(2)
    run = run_command("bounds", "ring:nodes=3", "--collective", "gather")
    assert "a gather needs a root" in run.error_line(2)
    run = run_command("bounds", "ring:nodes=3", "--collective", "allgather", "--demand", "x.csv")
    assert "an allgather has no demand matrix" in run.error_line(2)
    words = ["ring:nodes=3", "--collective", "gather", "--root", "0", "--demand", "x.csv", "--shards", "s.json"]
    assert "--demand and --shards cannot be combined" in run_command("optimum", *words).error_line(2)


def test_one_bound_of_trees() -> None:
    found = run_command("bounds", "ring:nodes=4", "--collective", "allgather", "--json").document()["collectives"]
    assert isinstance(found, dict)
    assert found["allgather"]["upper_algbw"] == "8/3"


def test_an_all_to_all_is_exported_and_its_program_is_checked(tmp_path: Path) -> None:
    path, out = tmp_path / "flows.json", tmp_path / "program"
    run_command("generate", "torus:dims=3x3", "--collective", "all-to-all", "-o", path)
    for words in (("msccl-xml",), ("msccl-xml", "--dialect", "azure"), ("mscclpp-json",)):
        found = run_command("export", path, "--to", *words, "-o", out, "--json").document()
        assert (found["collective"], found["ranks"], found["checked"]) == ("alltoall", 9, True)
        judged = run_command("check-program", out, "--json").document()
        assert (judged["valid"], judged["collective"]) == (True, "alltoall")


def test_an_export_states_what_rounding_costs_an_all_to_all(tmp_path: Path) -> None:
    path, out = tmp_path / "flows.json", tmp_path / "program"
    run_command("generate", "torus:dims=4x4", "--collective", "all-to-all", "-o", path)
    page = run_command("export", path, "--to", "msccl-xml", "-o", out).out
    assert "lost" in page
    assert "flows left out, or shares rounded" in page
    exact = run_command("export", path, "--to", "msccl-xml", "--chunks", "192", "-o", out, "--json").document()
    assert exact["loss"] == "0"
    assert int(str(exact["chunks"])) % 192 == 0


def test_a_program_of_a_gather_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "flows.json"
    run_command("generate", "ring:nodes=3", "--collective", "gather", "--root", "0", "-o", path)
    run = run_command("export", path, "--to", "msccl-xml", "-o", tmp_path / "x.xml")
    assert "no runtime loads a program for a gather" in run.error_line()
