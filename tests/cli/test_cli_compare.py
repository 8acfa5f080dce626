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


AS_CHOSEN = ("compare", "dgx-h100:boxes=4", "--collective", "allreduce", "--baselines", "nccl (as it chooses)")


def test_json_has_what_nccl_chooses_for_each_size() -> None:
    rows = {row["name"]: row for row in json_of(*AS_CHOSEN, "--nccl", "2.28")["rows"]}
    chosen = rows["nccl (as it chooses)"]
    first = chosen["times"][0]
    assert (first["algorithm"], first["protocol"], first["channels"]) == ("TREE", "LL128", 16)
    assert round(first["nccl_us"], 1) == 83.2
    assert chosen["nccl"] == "NCCL 2.28.9 (stored table)"
    assert "nccl_us" not in rows["forestcoll"]["times"][0]


def test_the_page_shows_what_nccl_chooses() -> None:
    out = run_command(*AS_CHOSEN).out
    assert "What NCCL chooses by itself, and the time that it expects, by NCCL 2.32.3 (stored table):" in out
    assert "  16MiB  TREE       LL128           16" in out


def test_an_unknown_version_of_nccl_is_refused() -> None:
    line = run_command(*AS_CHOSEN, "--nccl", "2.1").error_line()
    assert line.startswith("nccl is '2.1'; tables are stored of 2.28.9, 2.30.7, 2.32.3")
