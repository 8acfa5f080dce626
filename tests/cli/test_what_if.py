import json
import signal
from pathlib import Path
from unittest import mock

import pytest
from cli_run import json_of, run_command

from forestcoll import InputError, failures, read_schedule, upgrades
from forestcoll.cli.options import processes


def test_a_change_alone_is_a_row_and_with_a_mode_comes_first() -> None:
    alone = json_of("what-if", "dgx-a100:boxes=2", "--without", "b0/gpu0--ib")
    assert alone["algbw"] == "1040/3"
    assert [row["algbw"] for row in alone["rows"]] == ["320"]
    first = run_command(
        "what-if", "dgx-a100:boxes=2", "--without", "b0/gpu0--ib", "--fail", "nics", "--json"
    ).document()
    assert first["algbw"] == "320"


def test_generate_without_a_link_writes_the_schedule_of_the_changed_network(tmp_path: Path) -> None:
    file = tmp_path / "schedule.json"
    words = ["generate", "dgx-a100:boxes=2", "--without", "b0/gpu0--ib", "--degrade", "b0/gpu1--ib=12.5"]
    document = json_of(*words, "-o", str(file))
    assert document["algbw"] == "320"
    schedule = read_schedule(file)
    assert schedule.topology.name == "dgx-a100:boxes=2 without b0/gpu0--ib, with b0/gpu1--ib=25/2"
    steps = json_of("generate", "torus:dims=3x3", "--method", "bfb", "--without", "0--1")
    assert steps["verified"] is True
    optimum = json_of("optimum", "dgx-a100:boxes=2", "--without", "b0/gpu0--ib")
    assert optimum["algbw"] == "320"


@pytest.mark.parametrize(
    "words",
    [
        ["dgx-a100:boxes=2", "--without", "b0/gpu0--ib", "b0/gpu1--ib", "--degrade", "b0/gpu2--ib=5", "b0/gpu3--ib=5"],
        ["--degrade", "b0/gpu2--ib=5", "b0/gpu3--ib=5", "--without", "b0/gpu0--ib", "b0/gpu1--ib", "dgx-a100:boxes=2"],
        ["--without=b0/gpu0--ib,b0/gpu1--ib", "dgx-a100:boxes=2", "--degrade=b0/gpu2--ib=5,b0/gpu3--ib=5"],
        [
            *("--without", "b0/gpu0--ib", "--without", "b0/gpu1--ib", "dgx-a100:boxes=2"),
            *("--degrade", "b0/gpu2--ib=5", "--degrade", "b0/gpu3--ib=5"),
        ],
    ],
)
def test_several_links_after_one_option(words: list[str]) -> None:
    document = json_of("optimum", *words)
    changes = "without b0/gpu0--ib, b0/gpu1--ib, with b0/gpu2--ib=5, b0/gpu3--ib=5"
    assert document["topology"] == f"dgx-a100:boxes=2 {changes}"


def test_a_failover_set_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    run = run_command("what-if", "ring:nodes=4", "--fail", "links", "-o", str(folder))
    assert "4, each verified, and that of the network as it is" in run.out
    assert len(json.loads((folder / "manifest.json").read_text())["failures"]) == 4
    document = json_of("what-if", "ring:nodes=4", "--fail", "links", "-o", str(folder))
    assert document["failover"]["output"] == str(folder)


def test_processes_have_the_same_result() -> None:
    words = ["what-if", "ring:nodes=5", "--fail", "links", "--at-once", "2", "--json"]
    assert run_command(*words, "--jobs", "2").document() == run_command(*words).document()


def test_the_command_refuses_the_folder_of_another_set_before_the_study(tmp_path: Path) -> None:
    assert run_command("what-if", "ring:nodes=3", "--fail", "links", "-o", tmp_path / "fo").status == 0
    with mock.patch("forestcoll.what_if.study.failures", side_effect=AssertionError("the work began")):
        run = run_command("what-if", "ring:nodes=4", "--fail", "links", "-o", tmp_path / "fo")
    assert run.error_line().endswith("which is no file of this failover set; name another folder")


def test_ctrl_c_says_whether_a_failover_set_was_begun(tmp_path: Path) -> None:
    words = ["what-if", "ring:nodes=4", "--fail", "links"]
    with mock.patch("forestcoll.cli.terminal_progress.TerminalProgress.advance", side_effect=KeyboardInterrupt):
        run = run_command(*words, "-o", tmp_path / "set")
    assert run.error_line(130).startswith("interrupted; nothing was written")
    assert not any(tmp_path.iterdir())
    with mock.patch("forestcoll.what_if.failover.value_of", side_effect=KeyboardInterrupt):
        run = run_command(*words, "-o", tmp_path / "set")
    assert run.error_line() == "interrupted after output was written"


def _lose_a_process() -> None:
    with processes(2) as pool:
        assert pool is not None
        pool.submit(signal.raise_signal, signal.SIGKILL).result()


def test_a_process_that_the_system_ends_is_one_line() -> None:
    with pytest.raises(InputError, match=r"the system ended a process of --jobs, .*; give fewer --jobs"):
        _lose_a_process()
    with processes(1) as alone:
        assert alone is None


def test_gpus_boxes_and_percentages_are_named_on_the_command_line() -> None:
    broken = json_of(
        "optimum", "dgx-a100:boxes=4", "--without", "b2/gpu3,b3", "--degrade", "b0/gpu0--ib,b0/gpu1--ib=50%"
    )
    assert broken["topology"] == "dgx-a100:boxes=4 without b2/gpu3, b3, with b0/gpu0--ib=50%, b0/gpu1--ib=50%"
    assert broken["compute_nodes"] == 23
    (row,) = json_of("what-if", "dgx-a100:boxes=2", "--without", "b0/gpu3")["rows"]
    assert row["algbw"] == json_of("optimum", "dgx-a100:boxes=2", "--without", "b0/gpu3")["algbw"]


def test_rows_say_how_many_compute_nodes_are_left() -> None:
    (row,) = json_of("what-if", "dgx-a100:boxes=2", "--fail", "boxes")["rows"]
    assert row["compute_nodes"] == 8
    page = run_command("what-if", "dgx-a100:boxes=2", "--fail", "boxes").out
    assert "of this kind  compute nodes  " in page
    assert "of this kind  compute nodes  " not in run_command("what-if", "dgx-a100:boxes=2", "--fail", "links").out


def test_a_bottleneck_that_is_no_cut_is_explained_and_has_no_cut() -> None:
    words = ["what-if", "dgx-a100:boxes=2", "--fail", "nics", "--collective"]
    page = run_command(*words, "allreduce").out
    assert "reduce and broadcast share the links\nBottleneck after b0/gpu0--ib: The reduce and the broadcast" in page
    bottleneck = json_of(*words, "allreduce")["rows"][0]["bottleneck"]
    assert (bottleneck["cut"], bottleneck["exit_bandwidth"], bottleneck["proof"]) == (None, None, "tree-dual")
    best = json_of("optimum", "dgx-a100:boxes=2", "--without", "b0/gpu0--ib", "--collective", "allreduce")
    assert bottleneck["details"] == best["proof"]
    page = run_command(*words, "all-to-all").out
    assert "the links that all pairs share\nBottleneck after b0/gpu0--ib: The blocks of all pairs cross" in page


def test_a_switch_that_may_stand_for_several_is_pointed_out() -> None:
    said = "is one node here; if it stands for several switches, --degrade"
    page = run_command("what-if", "cluster:box=dgx-h100,boxes=4,boxes_per_leaf=2", "--fail", "switches").out
    assert f"spine {said} spine=50% is the failure of half of them" in page
    assert f"leaf0 {said}" not in page
    assert said not in run_command("what-if", "dgx-a100:boxes=2", "--fail", "links").out


def test_records_are_plain() -> None:
    for study in (failures("dgx-a100:boxes=2", "nics", "allreduce"), upgrades("dgx-a100:boxes=2")):
        records = study.records()
        assert records
        assert {type(cell) for row in records for cell in row.values()} <= {str, int, float, bool, type(None)}


def test_the_columns_of_upgrades_are_explained() -> None:
    page = run_command("what-if", "dgx-a100:boxes=2", "--upgrade").out
    for note in ("gains up to: more bandwidth than this", "at: the bandwidth of each", "box switches: switches inside"):
        assert f"\n  {note}" in page
    assert "box switches" not in run_command("what-if", "ring:nodes=4", "--upgrade").out


def test_upgrades_in_money_and_their_chart(tmp_path: Path) -> None:
    words = ["what-if", "dgx-a100:boxes=2", "--upgrade", "--price", "nic=20", "--price", "GPU--box switch=10"]
    page = run_command(*words, "--plot", str(tmp_path / "gain.svg")).out
    assert "Most for the money: 16 links of 300 GB/s between GPUs and box switches: 0.00666667 GB/s" in page
    assert "up to 350 GB/s on each link, which costs 8000." in page
    assert "16 links of 300 GB/s" in (tmp_path / "gain.svg").read_text()
    rows = json.loads(run_command(*words, "--json").out)["rows"]
    assert (rows[0]["cost"], rows[0]["gain_per_cost"]) == ("8000", "1/150")
    assert rows[0]["curve"][-1] == {"bandwidth": "350", "algbw": "400", "cost": "8000"}
    useless = run_command("what-if", "ring:nodes=4", "--upgrade", "--price", "0--1=5").out
    assert "No upgrade with a price gains anything." in useless
    assert "cost" not in run_command("what-if", "ring:nodes=4", "--upgrade").out
    run = run_command(*words[:3], "--plot", str(tmp_path / "gain.svg"))
    assert (run.status, "give --price too" in run.err) == (2, True)
    assert run_command("what-if", "ring:nodes=4", "--fail", "links", "--price", "nic=2").status == 2
