"""`forestcoll compare` as a user runs it."""

from pathlib import Path

import pytest
from cli_run import json_of, run_command, written

from forestcoll.demand.collective import COMPARED


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


def test_the_page_fits_on_a_screen_and_all_shows_everything() -> None:
    words = ("compare", "dgx-a100:boxes=2,gpus=4", "--collective", "allreduce", "--sizes", "1M,1G")
    short, whole = (run_command(*words, *more).out.splitlines() for more in ((), ("--all",)))
    document = json_of(*words)
    names = [row["name"] for row in document["rows"]]
    assert len(short) <= 24
    assert len(names) > 10
    shown = [line.strip().partition("  ")[0] for line in short[3:13]]
    assert shown == [name for name in names if name in shown]
    assert {"forestcoll", "nccl-ring", "nccl-tree", "two-level"} <= set(shown)
    assert short[13] == f"  and {len(names) - 10} more rows; --all shows everything"
    sentences = short[short.index("What limits them:") + 1 : -1]
    assert [line.strip().partition(":")[0] for line in sentences] == shown[:5]
    assert short[-1] == f"Do not apply: {', '.join(each['name'] for each in document['skipped'])}."
    assert all(f"  {each['name']}: {each['reason']}" in whole for each in document["skipped"])
    assert [line.strip().partition("  ")[0] for line in whole[3 : 3 + len(names)]] == names
    assert document["rows"][0]["busbw"] == document["optimal_busbw"]


def test_few_rows_are_all_shown_also_those_with_equal_figures() -> None:
    lines = run_command("compare", "dgx-a100:boxes=2", "--collective", "all-to-all", "--sizes", "1M").out.splitlines()
    assert [line.split()[0] for line in lines[3:7]] == ["forestcoll", "direct", "two-level", "bruck"]
    assert not any("more row" in line for line in lines)


@pytest.mark.parametrize("collective", COMPARED)
def test_texts_name_the_collective_that_is_compared(collective: str) -> None:
    document = json_of("compare", "dgx-1:boxes=1,gpus=4", "--collective", collective, "--sizes", "1M")
    texts = [each["reason"] for each in (*document["rows"], *document["skipped"])]
    others = [each for each in COMPARED if each != collective]
    assert not [text for text in texts if any(each in text for each in others)]
    assert any(f"not an algorithm for an {collective}" in text for text in texts) or collective != "all-to-all"


def test_an_unknown_algorithm_is_answered_with_one_that_has_the_word() -> None:
    error = run_command("compare", "ring:nodes=4", "--baselines", "ring").error_line()
    assert "'ring' is not the name of an algorithm; did you mean 'nccl-ring'?" in error
