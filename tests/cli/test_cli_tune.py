"""`forestcoll tune` as a user runs it."""

import json
from pathlib import Path

import pytest
from cli_run import json_of, run_command


def test_the_document_has_the_values_of_the_manifest(tmp_path: Path) -> None:
    folder = tmp_path / "tuned"
    run = run_command("tune", "ring:nodes=3", "--sizes", "1K..64K", "--json", "-o", folder)
    document = run.document()
    assert document["folder"] == str(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert [row["time_us"] for row in document["ranges"]] == [row["time_us"] for row in manifest["ranges"]]
    assert [row["size"] for row in document["sizes"]] == [2**power for power in range(10, 17)]


def test_the_costs_of_the_machine_are_printed_and_written(tmp_path: Path) -> None:
    run = run_command(
        "tune", "dgx-a100:boxes=1,gpus=2", "--sizes", "1K", "--costs", "machine", "-o", tmp_path / "tuned"
    )
    stated = "a send takes 1 us of overhead and 2.4 us of latency, 10.6 us more between boxes"
    assert f"Costs (machine a100): {stated}, a block moves at most 24 GB/s." in run.out
    costs = json.loads((tmp_path / "tuned" / "manifest.json").read_text())["costs"]
    assert (costs["source"], costs["protocols"]["Simple"]["alpha_us"]) == ("machine a100", 2.4)


def test_a_folder_with_other_files_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    run = run_command("tune", "dgx-a100:boxes=64", "-o", tmp_path)
    assert (run.status, run.out) == (1, "")
    assert "holds 'notes.txt', which is no file of a tuning; name another folder" in run.err


def test_without_an_output_no_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert json_of("tune", "ring:nodes=2", "--sizes", "1K")["folder"] is None
    assert not list(tmp_path.iterdir())


TUNER = ("tune", "dgx-h100:boxes=4", "--collective", "allreduce", "--to", "nccl-tuner")


def test_rules_for_nccl_are_printed_and_written(tmp_path: Path) -> None:
    folder = tmp_path / "tuner"
    run = run_command(*TUNER, "-o", folder)
    assert "  256KiB  TREE       LL128     the same" in run.out
    assert "  mpirun -np 32 -x NCCL_ALGO=allreduce:tree -x NCCL_PROTO=LL128 " in run.out
    assert f"written: {folder}" in run.out
    document = json_of(*TUNER)
    rules = [line for line in (folder / "tuner.csv").read_text().splitlines() if not line.startswith("#")]
    assert [f"allreduce,{rule['least']},{rule['most']}," for rule in document["rules"]] == [
        ",".join(line.split(",")[:3]) + "," for line in rules
    ]
    assert (document["hosts"], document["ranks"], document["folder"]) == (4, 32, None)


def test_options_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    costs = tmp_path / "costs.json"
    costs.write_text('{"format": "forestcoll.costs/1"}')
    assert "--costs is not for" in run_command(*TUNER, "--costs", costs).err
    assert "--measured is for --to nccl-tuner" in run_command("tune", "ring:nodes=3", "--measured", costs).err
