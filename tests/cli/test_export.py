"""The commands `forestcoll export` and `forestcoll verify`."""

import json
import re
from pathlib import Path

import pytest
from cli_run import json_of, run_command, written

from forestcoll import read_schedule, simulate
from forestcoll.base.units import size_name
from forestcoll.programs.targets.target import targets
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
    found = json_of("export", schedule, "--to", *arguments, "-o", out)
    assert (found["ranks"], found["loss"], found["checked"], found["output"]) == (4, "0", True, str(out))
    judged = json_of("verify", out)
    assert (judged["valid"], judged["format"], judged["collective"]) == (True, arguments[0], "allreduce")
    assert judged["rank"] is judged["block"] is judged["step"] is judged["message"] is None


def test_a_program_for_a_file_of_a_network_is_that_for_its_builder(tmp_path: Path) -> None:
    spec, file = "dgx-a100:boxes=4,gpus=2", tmp_path / "network.json"
    run_command("topology", spec, "-o", file)
    options = ("--collective", "all-to-all", "--to", "msccl-xml:dialect=rccl,blocks=10")  # 14 are needed for 7 peers
    of_file, of_spec = (run_command("export", each, *options).out for each in (file, spec))
    assert of_file == of_spec
    assert "made for the runtime" in of_file


def test_the_speed_of_the_schedule_is_stated_next_to_that_of_the_program(schedule: Path) -> None:
    points = simulate(read_schedule(schedule), [10**6, 64 * 10**6, 10**9])
    done = json.loads(run_command("export", schedule, "--to", "mscclpp-json", "--json").out)
    stated = [(each["size"], each["schedule_algbw"]) for each in done["expected"]]
    assert stated == [(each.size, each.algbw) for each in points]
    own = ", ".join(f"{each.algbw:.4g} at {size_name(each.size)}" for each in points)
    page = run_command("export", schedule, "--to", "mscclpp-json").out
    assert f"of the schedule  {own}, {done['schedule_algbw']} for large data" in page


def test_a_program_that_is_too_long_to_be_simulated_says_so(
    schedule: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "TOO_MANY_INSTRUCTIONS", 10)
    run = run_command("export", schedule, "--to", "mscclpp-json", "-o", tmp_path / "plan.json")
    assert run.status == 0
    assert re.search(r"expected algbw +not known: the program is too long to be simulated", run.out)


def test_the_snippet_is_written_next_to_the_plan(schedule: Path, tmp_path: Path) -> None:
    out = tmp_path / "plan.json"
    run = run_command("export", schedule, "--to", "mscclpp-json", "-o", out, "-o", f"snippet={tmp_path / 'use.py'}")
    assert run.status == 0
    assert "PLAN = Path(__file__).with_name('plan.json')" in (tmp_path / "use.py").read_text()


def test_export_without_an_output_writes_no_file(schedule: Path) -> None:
    run = run_command("export", schedule, "--to", "msccl-xml")
    assert (run.status, "no; use -o FILE" in run.out) == (0, True)


def test_a_schedule_of_steps_is_exported(tmp_path: Path) -> None:
    steps, out = tmp_path / "steps.json", tmp_path / "x.xml"
    assert run_command("generate", "torus:dims=3x3", "--method", "bfb", "-o", steps).status == 0
    assert json_of("export", steps, "--to", "msccl-xml", "-o", out)["checked"] is True
    assert run_command("verify", out).status == 0
    assert run_command("export", steps, "--to", "chakra", "-o", tmp_path / "t").status == 0


def test_the_ranks_of_a_group_are_numbered_from_zero(tmp_path: Path) -> None:
    part, out = tmp_path / "part.json", tmp_path / "x"
    written(part, "generate", "ring:nodes=6", "--ranks", "0-1,5", "--no-relays", "--collective", "allreduce")
    for target in ("msccl-xml", "mscclpp-json", "goal"):
        assert json_of("export", part, "--to", target, "-o", out)["ranks"] == 3
        assert run_command("verify", out).status == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ('{"gpus": ' + "[" * 100_000, "JSON nested too deeply"),
        ("<algo", "not valid XML"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><algo/>", "has a document type"),
    ],
)
def test_a_file_that_is_not_a_program_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    assert message in run_command("verify", path).error_line()
    run = run_command("verify", path, "--json")
    assert run.status == 1
    assert json.loads(run.out)["valid"] is False
    assert message in json.loads(run.out)["message"]


def test_a_fault_is_reported_with_rank_block_and_step(schedule: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.xml"
    run_command("export", schedule, "--to", "msccl-xml", "--dialect", "azure", "-o", out)
    text = out.read_text()
    place = text.index('type="r"')
    out.write_text(text[:place] + text[place:].replace('dstoff="', 'dstoff="9999', 1))
    run = run_command("verify", out, "--json")
    assert run.status == 1
    found = json.loads(run.out)
    assert (found["valid"], found["rule"]) == (False, "step-offset")
    assert [type(found[key]) for key in ("rank", "block", "step")] == [int, int, int]
    where = f"rank {found['rank']}, block {found['block']}, step {found['step']}: "
    assert found["message"].startswith(where)
    assert f"{out}: {where}" in run_command("verify", out).error_line()


@pytest.mark.parametrize("name", ["nchunksperloop", "s_chunks"])
def test_a_file_that_needs_too_much_memory_is_refused(schedule: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "x.xml"
    run_command("export", schedule, "--to", "msccl-xml", "--dialect", "azure", "-o", out)
    out.write_text(re.sub(f'{name}="[0-9]+"', f'{name}="{10**17}"', out.read_text()))
    assert "chunks in all buffers would take about" in run_command("verify", out).error_line()


def test_a_file_that_the_dialect_does_not_load_is_refused(schedule: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.xml"
    run_command("export", schedule, "--to", "msccl-xml", "-o", out)
    out.write_text(out.read_text().replace(' minBytes="0"', "", 1))
    assert run_command("verify", out).status == 0
    message = run_command("verify", out, "--dialect", "azure").error_line()
    assert 'no "minBytes", without which the runtime ignores the file [attribute-missing]' in message


@pytest.mark.parametrize(("target", "traces"), [("chakra", 4), ("goal", 0), ("astra-sim", 8)])
def test_programs_for_simulators_are_written_for_a_size(
    schedule: Path, tmp_path: Path, target: str, traces: int
) -> None:
    page = run_command("export", schedule, "--to", target, "--bytes", "1GB", "-o", tmp_path / "all").out
    assert str(tmp_path / "all") in page
    assert len(list(tmp_path.rglob("*.et"))) == traces


def test_a_schedule_for_simulators_is_checked(schedule: Path, tmp_path: Path) -> None:
    run_command("export", schedule, "--to", "goal", "--bytes", "1GB", "-o", tmp_path / "all")
    found = json_of("verify", tmp_path / "all")
    assert (found["format"], found["valid"], found["remarks"]) == ("goal", True, [])
    refused = run_command("verify", tmp_path / "all", "--root", 1).error_line()
    assert "GOAL schedules have no dialects and state their root" in refused


def test_the_help_explains_each_key_of_each_format() -> None:
    text = "".join(run_command("export", "--help").out.partition("Keys of --to:")[2].split())
    for spec in targets.all():
        for each in spec.parameters:
            found = text.partition("".join(f"{each.name}= {each.meaning}: {each.kind.form}.  [".split()))[2]
            assert found.partition("]")[0].endswith("".join(f"default: {each.default_text}".split()))
    assert "[forastra-sim,chakra,goal;default:1GB]" in text


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("goal:bytes=64MiB --bytes 1MB", "bytes"),
        ("goal:bytes=1GB --bytes 1MB", "bytes"),
        ("msccl-xml:dialect=microsoft --dialect rccl", "dialect"),
    ],
)
def test_options_that_contradict_the_text_of_the_format_are_refused(words: str, option: str, schedule: Path) -> None:
    line = run_command("export", schedule, "--to", *words.split()).error_line(2)
    assert line.startswith(f"--to and --{option} give different values of {option}; leave one of them out")


def test_an_option_may_repeat_what_the_text_of_the_format_says(schedule: Path) -> None:
    assert run_command("export", schedule, "--to", "goal:bytes=1MiB", "--bytes", "1MiB").status == 0


@pytest.mark.parametrize("command", [("export", "--to", "msccl-xml"), ("simulate",)])
def test_a_collective_with_a_root_is_generated_first(command: tuple[str, ...]) -> None:
    line = run_command(*command, "ring:nodes=4", "--collective", "broadcast").error_line(2)
    made = "'forestcoll generate TOPOLOGY --collective broadcast --root ID -o FILE'"
    assert f"'broadcast' needs a root; make a file with {made} and give it instead of TOPOLOGY" in line


def test_a_schedule_that_a_format_cannot_express_is_named_by_its_file(tmp_path: Path) -> None:
    steps, spec = tmp_path / "steps.json", "ring:nodes=4"
    made = "--collective", "all-to-all", "--method", "steps"
    assert run_command("generate", spec, *made, "-o", steps).status == 0
    line = run_command("export", steps, "--to", "mscclpp-json").error_line()
    refused = "an all-to-all in steps has no program; use a schedule of flows, which generate makes without --method"
    assert line == f"{steps}: {refused}"
    assert run_command("export", spec, *made, "--to", "mscclpp-json").error_line() == f"{spec}: {refused}"


@pytest.mark.parametrize(
    ("made", "stated"),
    [
        (("--to", "mscclpp-json"), "the schedule was generated first, for mscclpp-json"),
        (("--to", "mscclpp-json", "--method", "bfb"), "the schedule was generated first, with --method bfb"),
        (("--to", "msccl-xml", "--method", "ring"), "the schedule was generated first, with --method ring"),
        (("--to", "goal"), "the schedule was generated first"),
    ],
)
def test_a_schedule_that_was_generated_first_is_stated(made: tuple[str, ...], stated: str) -> None:
    assert stated in json_of("export", "ring:nodes=4", *made)["remarks"]
    assert stated in run_command("export", "ring:nodes=4", *made).out


def test_a_given_schedule_is_not_called_generated(schedule: Path) -> None:
    assert "generated" not in run_command("export", schedule, "--to", "mscclpp-json").out


@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
@pytest.mark.parametrize("format_", ["mscclpp-json", "msccl-xml"])
def test_the_schedule_of_a_found_network_becomes_a_valid_program(tmp_path: Path, format_: str, collective: str) -> None:
    steps, program = tmp_path / "steps.json", tmp_path / f"program.{format_.partition('-')[2]}"
    found = "design", "--nodes", 8, "--degree", 4, "--only", "bidirectional", "--collective", collective
    assert run_command(*found, "-o", steps).status == 0
    made = json_of("export", steps, "--to", format_, "-o", program)
    assert (made["checked"], json_of("verify", program)["valid"]) == (True, True)
