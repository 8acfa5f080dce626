import json
import os
from pathlib import Path
from unittest import mock

import pytest
from cli_run import run_command

from forestcoll import InputError, read_schedule
from forestcoll.cli.options import processes


def test_the_json_of_failures_is_that_of_the_contract() -> None:
    document = run_command("what-if", "dgx-a100:boxes=2", "--fail", "links", "--json").document()
    assert document["algbw"] == "1040/3"
    rows = document["rows"]
    assert isinstance(rows, list)
    assert [[row[key] for key in ("change", "algbw", "ratio", "count")] for row in rows] == [
        ["b0/gpu0--b0/nvswitch", "80/3", "1/13", 16],
        ["b0/gpu0--ib", "320", "12/13", 16],
    ]
    assert rows[1]["bottleneck"]["exit_bandwidth"] == "300"


def test_a_network_that_falls_apart_has_the_algbw_zero() -> None:
    document = run_command("what-if", "dgx-a100:boxes=2", "--fail", "switches", "--json").document()
    rows = document["rows"]
    assert isinstance(rows, list)
    assert [(row["change"], row["algbw"], row["count"]) for row in rows] == [
        ("ib", "0", 1),
        ("b0/nvswitch", "80/3", 2),
    ]


def test_the_page_of_failures() -> None:
    run = run_command("what-if", "dgx-a100:boxes=2", "--fail", "nics")
    assert run.status == 0
    assert run.out.splitlines() == [
        "dgx-a100:boxes=2: allgather over 16 compute nodes",
        "  algbw now  1040/3 GB/s (346.667)",
        "  failure of nics  of this kind  algbw, GB/s  of now  bottleneck",
        "  b0/gpu0--ib                16          320  92.30%  1 link into 1 compute node, 300 together",
        (
            "Bottleneck after b0/gpu0--ib: GPU b0/gpu0 must receive 15/16 of the data from the other 15 GPUs. "
            "All of it enters over these links:"
        ),
        "  1 link of 300 GB/s (b0/nvswitch -> b0/gpu0)",
        "  300 GB/s together, so algbw <= 300 / (15/16) = 320 GB/s.",
    ]


def test_the_json_of_upgrades() -> None:
    document = run_command("what-if", "dgx-a100:boxes=2", "--upgrade", "--json").document()
    rows = document["rows"]
    assert isinstance(rows, list)
    assert rows[0]["breakpoint"] == "350"
    assert rows[0]["curve"] == [{"bandwidth": "300", "algbw": "1040/3"}, {"bandwidth": "350", "algbw": "400"}]
    assert len(rows[0]["links"]) == 16
    assert rows[1]["breakpoint"] is None
    assert [float(row["ratio"].split("/")[0]) > 0 for row in rows] == [True] * 4


def test_the_json_of_new_links() -> None:
    document = run_command("what-if", "mesh:dims=4", "--add-link", "--bandwidth", "2", "--json").document()
    rows = document["rows"]
    assert isinstance(rows, list)
    assert next((row["change"], row["algbw"], row["count"]) for row in rows) == ("0--3=2", "8/3", 1)


def test_a_change_alone_is_a_row_and_with_a_mode_comes_first() -> None:
    alone = run_command("what-if", "dgx-a100:boxes=2", "--without", "b0/gpu0--ib", "--json").document()
    assert alone["algbw"] == "1040/3"
    assert [row["algbw"] for row in alone["rows"]] == ["320"]  # type: ignore[attr-defined]
    first = run_command(
        "what-if", "dgx-a100:boxes=2", "--without", "b0/gpu0--ib", "--fail", "nics", "--json"
    ).document()
    assert first["algbw"] == "320"


def test_generate_without_a_link_writes_the_schedule_of_the_changed_network(tmp_path: Path) -> None:
    file = tmp_path / "schedule.json"
    words = ["generate", "dgx-a100:boxes=2", "--without", "b0/gpu0--ib", "--degrade", "b0/gpu1--ib=12.5"]
    document = run_command(*words, "-o", str(file), "--json").document()
    assert document["algbw"] == "320"
    schedule = read_schedule(file)
    assert schedule.topology.name == "dgx-a100:boxes=2 without b0/gpu0--ib, with b0/gpu1--ib=25/2"
    steps = run_command("generate", "torus:dims=3x3", "--method", "bfb", "--without", "0--1", "--json").document()
    assert steps["verified"] is True
    optimum = run_command("optimum", "dgx-a100:boxes=2", "--without", "b0/gpu0--ib", "--json").document()
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
    document = run_command("optimum", *words, "--json").document()
    changes = "without b0/gpu0--ib, b0/gpu1--ib, with b0/gpu2--ib=5, b0/gpu3--ib=5"
    assert document["topology"] == f"dgx-a100:boxes=2 {changes}"


def test_words_that_are_no_links_end_a_list_of_links() -> None:
    said = run_command("optimum", "ring:nodes=4", "--without", "0--1", "x", "1--2").error_line(2)
    assert "unexpected extra argument" in said
    assert "--without" in run_command("optimum", "ring:nodes=4", "--without").error_line(2)


def test_a_failover_set_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    run = run_command("what-if", "ring:nodes=4", "--fail", "links", "-o", str(folder))
    assert "4, each verified, and that of the network as it is" in run.out
    assert len(json.loads((folder / "manifest.json").read_text())["failures"]) == 4
    document = run_command("what-if", "ring:nodes=4", "--fail", "links", "-o", str(folder), "--json").document()
    assert document["failover"]["output"] == str(folder)  # type: ignore[index]


def test_a_checkpoint_and_processes(tmp_path: Path) -> None:
    file = tmp_path / "sweep.json"
    words = ["what-if", "ring:nodes=5", "--fail", "links", "--at-once", "2", "--checkpoint", str(file), "--json"]
    first = run_command(*words, "--jobs", "2").document()
    assert file.exists()
    assert run_command(*words).document() == first


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ([], 2, "what changes? give --fail"),
        (["--fail", "links", "--upgrade"], 2, "exclude each other"),
        (["--fail", "gpus"], 2, "'gpus' is not one of"),
        (["--upgrade", "--at-once", "2"], 2, "--at-once and -o are for --fail"),
        (["--upgrade", "--bandwidth", "2"], 2, "--bandwidth is for --add-link"),
        (["--upgrade", "--checkpoint", "x"], 2, "--checkpoint is for --fail and --add-link"),
        (["--fail", "links", "--collective", "broadcast"], 2, "needs a root; give --root ID"),
        (["--fail", "links", "--root", "0"], 2, "has no root; leave --root out"),
        (["--fail", "links", "--at-once", "9"], 1, "at_once is 9; expected an integer from 1 to 4"),
        (["--fail", "boxes"], 1, "there are no boxes that can fail"),
        (["--without", "0--2"], 1, "no link joins 0 and 2"),
        (["--fail", "links", "--degrade", "0--1=x"], 1, "bandwidth 'x'"),
        (["--add-link", "--bandwidth", "-1"], 1, "must be greater than 0"),
        (["--fail", "links", "--ranks", "7,8"], 1, "there is no rank"),
    ],
)
def test_wrong_usage_is_refused_in_one_line(words: list[str], status: int, said: str) -> None:
    assert said in run_command("what-if", "ring:nodes=4", *words).error_line(status)


def test_the_command_refuses_the_folder_of_another_set_before_the_study(tmp_path: Path) -> None:
    assert run_command("what-if", "ring:nodes=3", "--fail", "links", "-o", tmp_path / "fo").status == 0
    with mock.patch("forestcoll.what_if.study.failures", side_effect=AssertionError("the work began")):
        run = run_command("what-if", "ring:nodes=4", "--fail", "links", "-o", tmp_path / "fo")
    assert run.error_line().endswith("which is no file of this failover set; name another folder")


def test_ctrl_c_says_whether_a_failover_set_or_a_checkpoint_was_begun(tmp_path: Path) -> None:
    words = ["what-if", "ring:nodes=4", "--fail", "links"]
    for more in (["-o", tmp_path / "set"], ["--checkpoint", tmp_path / "sweep.json"]):
        with mock.patch("forestcoll.cli.terminal_progress.TerminalProgress.advance", side_effect=KeyboardInterrupt):
            status = 1 if "--checkpoint" in more else 130
            run = run_command(*words, *more)
            assert run.error_line(status).startswith("interrupted")
            assert ("nothing was written" in run.err) == (status == 130) == (not any(tmp_path.iterdir()))
    with mock.patch("forestcoll.what_if.failover.value_of", side_effect=KeyboardInterrupt):
        run = run_command(*words, "-o", tmp_path / "set")
    assert run.error_line() == "interrupted after output was written"


def _lose_a_process() -> None:
    with processes(2) as pool:
        assert pool is not None
        pool.submit(os._exit, 9).result()


def test_a_process_that_the_system_ends_is_one_line() -> None:
    with pytest.raises(InputError, match=r"the system ended a process of --jobs, .*; give fewer --jobs"):
        _lose_a_process()
    with processes(1) as alone:
        assert alone is None
