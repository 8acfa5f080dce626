"""The commands `forestcoll export` and `forestcoll check-program`."""

import json
import re
from pathlib import Path

import pytest
from cli_run import run_command

from forestcoll import read_schedule, simulate
from forestcoll.base.units import size_name
from forestcoll.tuning.programs import rounds

SPEC = "dgx-a100:boxes=2,gpus=2"


@pytest.fixture(scope="module")
def schedule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("schedule") / "schedule.json"
    assert run_command("generate", SPEC, "--collective", "allreduce", "-o", path).status == 0
    return path


@pytest.mark.parametrize("arguments", [("msccl-xml",), ("msccl-xml", "--dialect", "rccl"), ("mscclpp-json",)])
def test_check_program_accepts_an_exported_file(schedule: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    out = tmp_path / "program"
    found = run_command("export", schedule, "--to", *arguments, "-o", out, "--json").document()
    assert (found["ranks"], found["loss"], found["checked"], found["output"]) == (4, "0", True, str(out))
    judged = run_command("check-program", out, "--json").document()
    assert (judged["valid"], judged["format"], judged["collective"]) == (True, arguments[0], "allreduce")
    assert judged["rank"] is judged["block"] is judged["step"] is judged["message"] is None


def test_the_speed_of_the_schedule_is_stated_next_to_that_of_the_program(schedule: Path) -> None:
    points = simulate(read_schedule(schedule), [10**6, 64 * 10**6, 10**9])
    done = json.loads(run_command("export", schedule, "--to", "mscclpp-json", "--json").out)
    stated = [(each["size"], each["schedule_algbw"]) for each in done["expected"]]
    assert stated == [(each.size, each.algbw) for each in points]
    own = ", ".join(f"{each.algbw:.4g} at {size_name(each.size)}" for each in points)
    page = run_command("export", schedule, "--to", "mscclpp-json").out
    assert f"of the schedule  {own}, {done['schedule_algbw']} for large data" in page


def test_the_same_schedule_gives_the_same_bytes(schedule: Path, tmp_path: Path) -> None:
    for number in range(2):
        run_command("export", schedule, "--to", "mscclpp-json", "-o", tmp_path / f"{number}.json")
    assert (tmp_path / "0.json").read_bytes() == (tmp_path / "1.json").read_bytes()


def test_traces_are_one_file_per_rank(schedule: Path, tmp_path: Path) -> None:
    run = run_command("export", schedule, "--to", "chakra", "--bytes", "1MiB", "-o", tmp_path / "all")
    assert run.status == 0
    assert str(tmp_path / "all.*.et") in run.out
    assert len(list(tmp_path.glob("all.*.et"))) == 4
    assert run_command("check-program", tmp_path / "all.2.et", "--json").document()["format"] == "chakra"
    message = run_command("check-program", tmp_path / "all.0.et", "--root", 1).error_line()
    assert "traces of Chakra have neither dialects nor a root" in message


def test_a_program_that_is_too_long_to_be_simulated_says_so(
    schedule: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "TOO_MANY_INSTRUCTIONS", 10)
    run = run_command("export", schedule, "--to", "mscclpp-json", "-o", tmp_path / "plan.json")
    assert run.status == 0
    assert re.search(r"expected algbw +not known: the program is too long to be simulated", run.out)


def test_a_goal_schedule_is_written_for_a_size_and_checked(schedule: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.goal"
    run = run_command("export", schedule, "--to", "goal", "--bytes", "1MiB", "-o", out)
    assert run.status == 0
    assert "read back and executed on symbolic data" in run.out
    found = run_command("check-program", out, "--json").document()
    assert (found["format"], found["valid"], found["remarks"]) == ("goal", True, [])
    message = run_command("check-program", out, "--root", 1).error_line()
    assert "GOAL schedules have no dialects and state their root" in message


def test_a_folder_for_astra_sim_is_written_and_its_traces_checked(tmp_path: Path) -> None:
    ring = tmp_path / "ring.json"
    assert run_command("generate", "ring:nodes=3", "-o", ring).status == 0
    run = run_command("export", ring, "--to", "astra-sim", "--bytes", "1GB", "-o", tmp_path / "sim")
    assert run.status == 0
    assert "expected algbw" in run.out
    assert str(tmp_path / "sim") in run.out
    assert (tmp_path / "sim" / "run.sh").exists()
    assert run_command("check-program", tmp_path / "sim" / "collective.0.et").status == 0


def test_the_snippet_is_written_next_to_the_plan(schedule: Path, tmp_path: Path) -> None:
    out = tmp_path / "plan.json"
    run = run_command("export", schedule, "--to", "mscclpp-json", "-o", out, "--snippet", tmp_path / "use.py")
    assert run.status == 0
    assert "PLAN = Path(__file__).with_name('plan.json')" in (tmp_path / "use.py").read_text()


def test_standard_output_has_only_the_file(schedule: Path) -> None:
    run = run_command("export", schedule, "--to", "msccl-xml", "-o", "-")
    assert run.status == 0
    assert run.out.startswith("<algo ")
    assert "as msccl-xml for microsoft" in run.err


def test_export_without_an_output_writes_no_file(schedule: Path) -> None:
    run = run_command("export", schedule, "--to", "msccl-xml")
    assert (run.status, "no; use -o FILE" in run.out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "mscclpp-json", "--dialect", "azure"), "--dialect is only for msccl-xml"),
        (("--to", "mscclpp-json", "--lanes", "2"), "--lanes is only for msccl-xml"),
        (("--to", "chakra", "--strands", "2"), "--strands is only for msccl-xml"),
        (("--to", "msccl-xml", "--snippet", "use.py"), "--snippet is only for mscclpp-json"),
        (("--to", "mscclpp-json", "--snippet", "use.py"), "also give -o FILE"),
        (("--to", "msccl-xml", "--bytes", "1GB"), "--bytes is only for chakra, astra-sim and goal"),
        (("--to", "chakra", "--bytes", "much"), "expected a size of 1 byte or more"),
        (("--to", "chakra", "-o", "-"), "give -o PREFIX"),
        (("--to", "astra-sim", "-o", "-"), "give -o DIR"),
        (("--to", "xml"), "'xml' is not one of"),
        ((), "Missing option '--to'"),
        (("--to", "msccl-xml", "--chunks", "0"), "'0'; expected 'exact' or an integer of 1 or more"),
    ],
)
def test_wrong_usage_is_reported(schedule: Path, arguments: tuple[str, ...], message: str) -> None:
    run = run_command("export", schedule, *arguments)
    assert run.status == 2
    assert message in run.err
    assert run.out == ""


def test_a_schedule_that_does_not_fit_is_reported(schedule: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.xml"
    message = run_command("export", schedule, "--to", "msccl-xml", "--placement", "both", "-o", out).error_line()
    assert "for in place or for out of place; export two files" in message
    message = run_command("export", schedule, "--to", "mscclpp-json", "--protocol", "LL128").error_line()
    assert "no protocol LL128" in message
    message = run_command("export", schedule, "--to", "msccl-xml", "--blocks", 1, "-o", out).error_line()
    assert "no program fits MSCCL XML for microsoft" in message
    assert not out.exists()


def test_a_schedule_of_steps_is_exported(tmp_path: Path) -> None:
    steps, out = tmp_path / "steps.json", tmp_path / "x.xml"
    assert run_command("generate", "torus:dims=3x3", "--method", "bfb", "-o", steps).status == 0
    assert run_command("export", steps, "--to", "msccl-xml", "-o", out, "--json").document()["checked"] is True
    assert run_command("check-program", out).status == 0
    assert run_command("export", steps, "--to", "chakra", "-o", tmp_path / "t").status == 0
    message = run_command("export", steps, "--to", "mscclpp-json").error_line()
    assert "schedules of steps are written as msccl-xml, chakra, astra-sim or goal only" in message


def test_an_incorrect_schedule_is_not_exported(schedule: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text(schedule.read_text().replace('"share": "', '"share": "1', 1))
    assert "[share" in run_command("export", wrong, "--to", "msccl-xml").error_line()


@pytest.mark.parametrize("target", ["msccl-xml", "mscclpp-json", "chakra", "goal"])
@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
def test_the_ranks_of_a_group_are_numbered_from_zero(tmp_path: Path, collective: str, target: str) -> None:
    part, out = tmp_path / "part.json", tmp_path / "x"
    arguments = ("--ranks", "0-1,4-5", "--no-relays", "--collective", collective, "-o", part)
    assert run_command("generate", "dgx-a100:boxes=1,gpus=8", *arguments).status == 0
    assert run_command("export", part, "--to", target, "-o", out, "--json").document()["ranks"] == 4
    assert run_command("check-program", tmp_path / "x.0.et" if target == "chakra" else out).status == 0


def test_a_schedule_with_relays_is_not_exported(tmp_path: Path) -> None:
    part = tmp_path / "part.json"
    assert run_command("generate", "ring:nodes=5", "--ranks", "0,2", "-o", part).status == 0
    message = run_command("export", part, "--to", "msccl-xml").error_line()
    assert "takes no part, so that it runs no program" in message


def test_a_failed_export_leaves_the_old_file_unchanged(tmp_path: Path) -> None:
    out = tmp_path / "x.xml"
    out.write_text("kept")
    assert "no such file" in run_command("export", tmp_path / "none.json", "--to", "msccl-xml", "-o", out).error_line()
    assert out.read_text() == "kept"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty; expected MSCCL XML"),
        ("hello", "is no program; expected MSCCL XML"),
        ("{}", 'has no "gpus"; expected an execution plan of MSCCL++'),
        ('{"format": "forestcoll.schedule/1"}', "is a schedule, not a program for a runtime"),
        ("{", "not valid JSON"),
        ('{"gpus": ' + "[" * 100_000, "JSON nested too deeply"),
        ("<algo", "not valid XML"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><algo/>", "has a document type"),
    ],
)
def test_a_file_that_is_not_a_program_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    assert message in run_command("check-program", path).error_line()
    run = run_command("check-program", path, "--json")
    assert run.status == 1
    assert json.loads(run.out)["valid"] is False
    assert message in json.loads(run.out)["message"]


def test_a_fault_is_reported_with_rank_block_and_step(schedule: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.xml"
    run_command("export", schedule, "--to", "msccl-xml", "--dialect", "azure", "-o", out)
    text = out.read_text()
    place = text.index('type="r"')
    out.write_text(text[:place] + text[place:].replace('dstoff="', 'dstoff="9999', 1))
    run = run_command("check-program", out, "--json")
    assert run.status == 1
    found = json.loads(run.out)
    assert (found["valid"], found["rule"]) == (False, "step-offset")
    assert [type(found[key]) for key in ("rank", "block", "step")] == [int, int, int]
    where = f"rank {found['rank']}, block {found['block']}, step {found['step']}: "
    assert found["message"].startswith(where)
    assert f"{out}: {where}" in run_command("check-program", out).error_line()


@pytest.mark.parametrize("name", ["nchunksperloop", "s_chunks"])
def test_a_file_that_needs_too_much_memory_is_refused(schedule: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "x.xml"
    run_command("export", schedule, "--to", "msccl-xml", "--dialect", "azure", "-o", out)
    out.write_text(re.sub(f'{name}="[0-9]+"', f'{name}="{10**17}"', out.read_text()))
    assert "chunks in all buffers would take about" in run_command("check-program", out).error_line()


def test_a_file_that_the_dialect_does_not_load_is_refused(schedule: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.xml"
    run_command("export", schedule, "--to", "msccl-xml", "-o", out)
    out.write_text(out.read_text().replace(' minBytes="0"', "", 1))
    assert run_command("check-program", out).status == 0
    message = run_command("check-program", out, "--dialect", "azure").error_line()
    assert 'no "minBytes", without which the runtime ignores the file [attribute-missing]' in message
