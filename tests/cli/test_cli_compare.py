"""`forestcoll compare` as a user runs it."""

from pathlib import Path

from cli_run import json_of, run_command, written


def test_schedules_from_files_are_rows_or_one_line(tmp_path: Path) -> None:
    file = written(tmp_path / "schedule.json", "generate", "ring:nodes=4")
    rows = json_of("compare", "ring:nodes=4", "--baselines", "two-level", "--against", file)["rows"]
    assert [(row["name"], row["algbw"]) for row in rows] == [("forestcoll", "8/3"), (str(file), "8/3")]
    copy = tmp_path / "copy.json"
    copy.write_text(file.read_text())
    words = ("--baselines", "direct", "--against", file, copy, "--sizes", "1K", "--json")
    several = run_command("compare", "ring:nodes=4", *words).document()["rows"]
    repeated = ("--baselines", "direct", "--against", file, "--against", copy, "--sizes", "1K", "--json")
    assert several == run_command("compare", *repeated, "ring:nodes=4").document()["rows"]
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
    assert json_of(*words, f"--html={file}")["topology"] == "ring:nodes=4"
    assert file.read_text(encoding="utf-8") == page.replace("multitree</code>", "multitree --json</code>")
