"""A file of another kind is named, with what reads it, by every command that reads files."""

from pathlib import Path

import pytest
from cli_run import run_command

from forestcoll.base import file_kinds
from forestcoll.demand.groups import pieces
from forestcoll.design.workloads import profile
from forestcoll.runtime import cuda_table, tuning
from forestcoll.schedule import files as schedules
from forestcoll.simulation import costs
from forestcoll.topology import files as topologies
from forestcoll.topology.importers.measurements import document as measurements
from forestcoll.what_if import failover

SCHEDULE = "use it as in 'forestcoll verify FILE' or 'forestcoll export FILE'"
NETWORK = "give it as TOPOLOGY, as in 'forestcoll optimum FILE'"
PROGRAM = "use it as in 'forestcoll verify FILE'"
LOG = "use it as in 'forestcoll explain TOPOLOGY --measured FILE'"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a network, a schedule, programs, an empty file and a text."""
    folder = tmp_path_factory.mktemp("files")
    assert run_command("topology", "ring:nodes=3", "-o", folder / "network.json").status == 0
    assert run_command("generate", "ring:nodes=3", "-o", folder / "schedule.json").status == 0
    for name, target in (("plan.json", "mscclpp-json"), ("p.xml", "msccl-xml"), ("p.goal", "goal")):
        assert run_command("export", folder / "schedule.json", "--to", target, "-o", folder / name).status == 0
    (folder / "tests.log").write_text("# nThread 1 nGpus 8 minBytes 8 maxBytes 64\n#\n# Using devices\n")
    (folder / "nccl.log").write_text("node-00:4001:4001 [0] NCCL INFO Bootstrap: Using eth0\n")
    (folder / "tests.json").write_text('{"version": 2, "results": [], "average_bus_bandwidth": {}}')
    (folder / "rccl.jsonl").write_text('{"algBw": 1, "busBw": 2}\n{"algBw": 1, "busBw": 2}\n')
    (folder / "empty").write_text("")
    (folder / "text").write_text("once upon a time there was\n")
    return folder


def test_every_format_of_a_file_has_a_kind() -> None:
    formats = {
        *schedules.FORMATS,
        topologies.FORMAT,
        tuning.FORMAT,
        cuda_table.FORMAT,
        failover.FORMAT,
        profile.PROFILE_FORMAT,
        costs.FORMAT,
        measurements.FORMAT,
        pieces.FORMAT,
    }
    missing = {name for name in formats if file_kinds.kind_of({"format": name}) is None}
    assert not missing, "base/file_kinds.py needs a line for each"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["optimum", "schedule.json"], f"is a schedule, not a network; {SCHEDULE}"),
        (["optimum", "plan.json"], f"is a program for a runtime, not a network; {PROGRAM}"),
        (["optimum", "p.xml"], f"is a program for a runtime, not a network; {PROGRAM}"),
        (["import", "schedule.json"], f"is a schedule, not a network; {SCHEDULE}"),
        (["import", "p.goal"], f"is a program for a runtime, not a network; {PROGRAM}"),
        (["verify", "network.json"], f"is a network, not a schedule; {NETWORK}"),
        (["simulate", "plan.json"], f"is a program for a runtime, not a network; {PROGRAM}"),
        (["export", "plan.json", "--to", "goal"], f"is a program for a runtime, not a network; {PROGRAM}"),
        (["train-time", "network.json", "ring:nodes=3"], f"is a network, not a profile of a model; {NETWORK}"),
        (["import", "tests.log"], f"is a log of NCCL or nccl-tests, not a network; {LOG}"),
        (["optimum", "nccl.log"], f"is a log of NCCL or nccl-tests, not a network; {LOG}"),
        (["import", "tests.json"], f"is a log of NCCL or nccl-tests, not a network; {LOG}"),
        (["optimum", "tests.json"], f"is a log of NCCL or nccl-tests, not a network; {LOG}"),
        (["import", "rccl.jsonl"], f"is a log of NCCL or nccl-tests, not a network; {LOG}"),
        (["verify", "nccl.log"], f"is a log of NCCL or nccl-tests, not JSON; {LOG}"),
        (["verify", "tests.json"], f"is a log of NCCL or nccl-tests, not a schedule; {LOG}"),
        (["optimum", "empty"], "the file is empty; expected a network"),
        (["import", "empty"], "the file is empty; expected a network"),
        (["verify", "empty"], "the file is empty; expected a JSON object, {...}"),
    ],
)
def test_a_file_of_another_kind_is_named(words: list[str], said: str, folder: Path) -> None:
    path = folder / words[1]
    assert run_command(words[0], path, *words[2:]).error_line() == f"{path}: {said}"


_EXPECTED = "expected a schedule, MSCCL XML, a plan of MSCCL++ or GOAL"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("plan.json", '{"name": "x", "gpus": [{"id": 0,', "not valid JSON: Expecting property name"),
        ("plan.json", '{"name": "x"}', 'or "gpus" in a plan of MSCCL++'),
        ("foo.xml", "<?xml version='1.0'?>\n<foo/>", f"XML, but its root is <foo>, not <algo>; {_EXPECTED}"),
        ("no.xml", "<!-- -->", f"XML without an element; {_EXPECTED}"),
        ("run.log", "NCCL INFO\nmore", f"neither JSON nor XML: it begins with 'NCCL INFO'; {_EXPECTED}"),
    ],
)
def test_verify_says_what_a_file_without_schedule_and_program_is(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    line = run_command("verify", tmp_path / name).error_line()
    assert line.startswith(f"{tmp_path / name}: ")
    assert said in line
    assert run_command("verify", "-", stdin=text.encode()).error_line() == line.replace(
        str(tmp_path / name), "standard input"
    )


def test_verify_says_that_a_network_is_no_file() -> None:
    line = "torus:dims=4x4: is a network, not a file; 'forestcoll generate torus:dims=4x4 -o FILE' makes a schedule"
    assert run_command("verify", "torus:dims=4x4").error_line() == line
    assert run_command("verify", "tours:dims=4x4").error_line() == "tours:dims=4x4: no such file; check the name"
