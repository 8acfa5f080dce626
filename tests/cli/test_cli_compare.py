"""`forestcoll compare` as a user runs it."""

from pathlib import Path

from cli_run import run_command

ROW_KEYS = {"name", "family", "algbw", "algbw_float", "share", "valid", "height", "times", "reason", "cuts"}
STEP_KEYS = ROW_KEYS - {"height"} | {"steps"}


def test_the_document_has_the_documented_keys() -> None:
    document = run_command("compare", "dgx-a100:boxes=2", "--json", "--sizes", "1M,1G").document()
    assert set(document) == {"topology", "collective", "optimal_algbw", "unit", "rows", "skipped"}
    assert (document["collective"], document["optimal_algbw"], document["unit"]) == ("allgather", "1040/3", "GB/s")
    rows, skipped = document["rows"], document["skipped"]
    assert isinstance(rows, list)
    assert isinstance(skipped, list)
    assert all(set(row) == (STEP_KEYS if row["family"] == "steps" else ROW_KEYS) for row in rows)
    assert all(row["valid"] is True for row in rows)
    assert {row["name"]: row["steps"] for row in rows if row["family"] == "steps"} == {
        "two-level-barrier": 2,
        "recursive-doubling": 4,
        "recursive-doubling-far": 4,
        "swing": 4,
        "bine": 4,
        "bruck": 4,
        "pat": 4,
    }
    assert {row["name"]: row["algbw"] for row in rows} == {
        "forestcoll": "1040/3",
        "two-level": "2400/7",
        "multitree": "2400/7",
        "multitree-remaining": "2400/7",
        "multitree-bandwidth": "2400/7",
        "tacos": "800/3",
        "nccl-ring": "640/3",
        "multitree-source": "200",
        "direct": "50",
        "two-level-barrier": "2400/13",
        "recursive-doubling": "4800/103",
        "recursive-doubling-far": "2400/13",
        "swing": "1200/23",
        "bine": "1200/23",
        "bruck": "80/3",
        "pat": "80/3",
    }
    assert [set(point) for point in rows[0]["times"]] == [{"size", "time_us", "algbw", "busbw"}] * 2
    assert all(set(each) == {"name", "reason"} for each in skipped)
    assert "nccl-tree" in {each["name"] for each in skipped}


def test_a_schedule_of_steps_has_steps_instead_of_a_height(tmp_path: Path) -> None:
    file = tmp_path / "steps.json"
    assert run_command("generate", "ring:nodes=4", "--method", "bfb", "-o", file).status == 0
    document = run_command("compare", "ring:nodes=4", "--baselines", "direct", "--against", file, "--json").document()
    assert isinstance(document["rows"], list)
    (row,) = [row for row in document["rows"] if row["name"] == str(file)]
    assert (row["family"], row["steps"], "height" in row) == ("steps", 2, False)


def test_the_table_and_the_sentences() -> None:
    run = run_command("compare", "dgx-a100:boxes=2", "--baselines", "forestcoll,nccl-ring,nvls", "--sizes", "1G")
    assert (run.status, run.err) == (0, "")
    lines = run.out.splitlines()
    assert lines[0] == "dgx-a100:boxes=2: allgather, 16 compute nodes"
    assert lines[1] == "No schedule exceeds 1040/3 GB/s (346.667)."
    assert lines[2].split() == ["schedule", "algbw", "of", "the", "bound", "sends", "1GiB"]
    assert lines[4].split()[:4] == ["nccl-ring", "213.333", "61.53%", "15"]
    assert "  nccl-ring: data enters each box 1.88 times: 15/16 M where 1/2 M would do;" in run.out
    assert lines[-2:] == ["Do not apply:", "  nvls: NVLS works in one box; nvls-tree is its form for several boxes"]


def test_an_unknown_algorithm_is_one_line() -> None:
    message = run_command("compare", "dgx-a100:boxes=2", "--baselines", "nccl-ring,brucks").error_line()
    assert "'brucks' is not the name of an algorithm; did you mean 'bruck'?" in message
    assert "two-level" in message


def test_a_collective_with_a_root_is_one_line() -> None:
    message = run_command("compare", "dgx-a100:boxes=2", "--collective", "broadcast").error_line(2)
    assert "allgather, reduce-scatter, allreduce" in message


def test_schedules_from_files_are_rows_or_one_line(tmp_path: Path) -> None:
    file = tmp_path / "schedule.json"
    assert run_command("generate", "ring:nodes=4", "-o", file).status == 0
    rows = run_command("compare", "ring:nodes=4", "--baselines", "two-level", "--against", file, "--json").document()[
        "rows"
    ]
    assert isinstance(rows, list)
    assert [(row["name"], row["algbw"]) for row in rows] == [("forestcoll", "8/3"), (str(file), "8/3")]
    copy = tmp_path / "copy.json"
    copy.write_text(file.read_text())
    words = ("--baselines", "direct", "--against", file, copy, "--sizes", "1K", "--json")
    several = run_command("compare", "ring:nodes=4", *words).document()["rows"]
    repeated = ("--baselines", "direct", "--against", file, "--against", copy, "--sizes", "1K", "--json")
    assert several == run_command("compare", *repeated, "ring:nodes=4").document()["rows"]
    assert isinstance(several, list)
    assert {row["name"] for row in several} >= {str(file), str(copy)}
    other = run_command("compare", "ring:nodes=5", "--baselines", "two-level", "--against", file).error_line()
    assert "a schedule for another network" in other
    text = file.read_text()
    file.write_text(text.replace('"algbw": "8/3"', '"algbw": "3"'))
    wrong = run_command("compare", "ring:nodes=4", "--baselines", "two-level", "--against", file)
    assert (wrong.status, wrong.err) == (0, "")
    assert f"  {file}: not valid: algbw is 3" in wrong.out
    file.write_text("<algo/>")
    assert str(file) in run_command("compare", "ring:nodes=4", "--against", file).error_line()


def test_a_report_is_written_and_names_the_command_without_its_file(tmp_path: Path) -> None:
    words = ("compare", "ring:nodes=4", "--baselines", "multitree")
    file = tmp_path / "report.html"
    run = run_command(*words, "--html", file)
    assert (run.status, run.out) == (0, run_command(*words).out)
    page = file.read_text(encoding="utf-8")
    assert "<code>forestcoll compare ring:nodes=4 --baselines multitree</code>" in page
    assert str(tmp_path) not in page
    assert run_command(*words, f"--html={file}", "--json").document()["topology"] == "ring:nodes=4"
    assert file.read_text(encoding="utf-8") == page.replace("multitree</code>", "multitree --json</code>")


def test_a_report_on_standard_output_leaves_the_table_to_standard_error() -> None:
    run = run_command("compare", "ring:nodes=4", "--baselines", "multitree", "--html", "-")
    assert run.status == 0
    assert run.out.startswith("<!DOCTYPE html>")
    assert run.err.startswith("ring:nodes=4: allgather")


def test_a_report_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "none" / "report.html"
    message = run_command("compare", "ring:nodes=4", "--baselines", "multitree", "--html", file).error_line()
    assert "cannot be written" in message
