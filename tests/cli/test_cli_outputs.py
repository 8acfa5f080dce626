"""All outputs of a command line are checked together before any work, so no file is lost or half of them written."""

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import click
import pytest
from cli_run import run_command

from forestcoll.base.errors import InputError
from forestcoll.cli.main import forestcoll
from forestcoll.cli.outputs import check_outputs
from forestcoll.cli.types import ChartFile, FileName, FileOrText, OutputFile, PictureFile

CONTEXT = click.Context(forestcoll)
COMMANDS = {
    name: command
    for name in forestcoll.list_commands(CONTEXT)
    if (command := forestcoll.get_command(CONTEXT, name)) is not None
}


def outputs_of(command: click.Command) -> list[click.Parameter]:
    return [each for each in command.params if isinstance(each.type, OutputFile)]


def inputs_of(command: click.Command) -> list[click.Parameter]:
    files = [each for each in command.params if isinstance(each.type, FileName | FileOrText)]
    return [each for each in files if not isinstance(each.type, OutputFile)]


def pairs(with_inputs: bool) -> Iterator[object]:  # noqa: FBT001 (which pairs)
    for name, command in COMMANDS.items():
        outputs = outputs_of(command)
        listed = (
            [(one, other) for one in inputs_of(command) for other in outputs]
            if with_inputs
            else combinations(outputs, 2)
        )
        for one, other in listed:
            yield pytest.param(name, one, other, id=f"{name}-{one.name}-{other.name}")


def problem(name: str, values: dict[str, object]) -> str:
    context = click.Context(COMMANDS[name])
    context.params = values
    with pytest.raises(InputError) as caught:
        check_outputs(context)
    return str(caught.value)


@pytest.mark.parametrize(("name", "one", "other"), list(pairs(with_inputs=False)))
def test_two_outputs_are_two_files(tmp_path: Path, name: str, one: click.Parameter, other: click.Parameter) -> None:
    path = tmp_path / "same"
    first, second = (each.opts[0] for each in (one, other))
    values = {str(one.name): path, str(other.name): path.parent / "." / "same", "target": "msccl-xml"}
    assert problem(name, values) == f"{second} {path}: is also the output {first}; name another file"


@pytest.mark.parametrize(("name", "one", "other"), list(pairs(with_inputs=True)))
def test_an_output_is_no_input(tmp_path: Path, name: str, one: click.Parameter, other: click.Parameter) -> None:
    (path := tmp_path / "file").write_text("")
    (link := tmp_path / "link").symlink_to(path)
    value: object = str(link) if isinstance(one.type, FileOrText) else link
    values = {str(one.name): (value,) if one.nargs == -1 or one.multiple else value, str(other.name): path}
    role = "the input" if isinstance(one, click.Argument) else f"the input {one.opts[0]}"
    assert problem(name, values) == f"{other.opts[0]} {path}: is also {role}; name another file"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_file_says_whether_it_is_written(name: str) -> None:
    """A new command that declares an output as a plain file name would not be checked."""
    for each in COMMANDS[name].params:
        text = getattr(each, "help", None) or ""
        is_written = re.search(r"\b(write|draw|file to write|folder to write|keeps)\b", text, re.IGNORECASE)
        if isinstance(each.type, FileName) and is_written:
            assert isinstance(each.type, OutputFile), each.name
        if isinstance(each.type, ChartFile | PictureFile):
            assert ".svg" in text


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a schedule, a network, and a table of times."""
    monkeypatch.chdir(tmp_path)
    assert run_command("generate", "ring:nodes=4", "-o", "s.json").status == 0
    assert run_command("topology", "ring:nodes=4", "-o", "hosts.json").status == 0
    Path("box.json").write_bytes(Path("hosts.json").read_bytes())
    Path("t.csv").write_text("size,time_us\n1000000,100\n2000000,200\n")
    Path("t.txt").write_text("0,1\n1,0\n")
    Path("groups.json").write_text('{"groups": [{"ranks": [0, 1]}]}')
    Path("out").mkdir()
    return tmp_path


INTO_THE_INPUT = [
    ("simulate s.json --csv s.json", "--csv s.json: is also the input"),
    ("export s.json --to mscclpp-json -o s.json", "-o s.json: is also the input"),
    ("generate hosts.json -o hosts.json", "-o hosts.json: is also the input"),
    ("generate hosts.json -o ./out/../hosts.json", "-o out/../hosts.json: is also the input"),
    ("topology hosts.json -o hosts.json", "-o hosts.json: is also the input"),
    ("topology cluster:box=box.json,boxes=2 -o box.json", "-o box.json: is also the input"),
    ("expand ring:nodes=4 --by product=hosts.json -o hosts.json", "-o hosts.json: is also the input --by"),
    ("generate ring:nodes=4 --groups groups.json -o groups.json", "-o groups.json: is also the input --groups"),
    ("fit t.csv --schedule ring:nodes=4 -o t.csv", "-o t.csv: is also the input"),
    ("fit t.csv --schedule s.json -o s.json", "-o s.json: is also the input --schedule"),
    ("compare ring:nodes=4 --against s.json --html s.json", "--html s.json: is also the input --against"),
    ("import t.txt --nvlink 25 -o t.txt", "-o t.txt: is also the input"),
    ("view s.json --beside hosts.json -o hosts.json", "-o hosts.json: is also the input --beside"),
]
INTO_ONE_OUTPUT = [
    ("export s.json --to mscclpp-json -o a.json --snippet a.json", "-o a.json: is also the output --snippet"),
    (
        "find-topology --nodes 12 --degree 4 --topology-output n.json --schedule-output n.json",
        "--schedule-output n.json: is also the output --topology-output",
    ),
    ("simulate s.json --csv l.csv --links l.csv", "--links l.csv: is also the output --csv"),
    ("simulate s.json --gantt g.png --plot g.png", "--gantt g.png: is also the output --plot"),
    ("broadcast-series ring:nodes=5 --source 0 --picture q.svg -o q.svg", "is also the output --picture"),
]


INTO_A_FOLDER = [
    (
        "generate ring:nodes=4 --groups 0,1;2,3 --members out -o out/group-1.json",
        "-o out/group-1.json: is a file of the output --members",
    ),
    (
        "what-if ring:nodes=4 --fail links -o out --checkpoint out/done",
        "--checkpoint out/done: is a file of the output -o",
    ),
]


@pytest.mark.parametrize(("line", "message"), INTO_THE_INPUT + INTO_ONE_OUTPUT + INTO_A_FOLDER)
def test_no_file_is_lost(files: Path, line: str, message: str) -> None:
    before = {path: path.read_bytes() for path in files.iterdir() if path.is_file()}
    error = run_command(*line.split()).error_line()
    assert message in error
    assert error.endswith("; name another file")
    assert {path: path.read_bytes() for path in files.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("generate ring:nodes=4 -o hosts.json/", "hosts.json/: is a folder; name a file in it"),
        ("generate ring:nodes=4 -o newdir/", "newdir/: is a folder; name a file in it"),
        ("export s.json --to chakra -o traces/", "traces/: is a folder; name a file in it"),
        ("export s.json --to mscclpp-json --snippet out -o a.json", "out: is a folder; name a file in it"),
        ("simulate s.json --csv a.csv --plot no/b.svg", "no/b.svg: cannot be written: the folder {}/no does not exist"),
        (
            "find-topology --nodes 12 --degree 4 --topology-output y.json --schedule-output no/x.json",
            "no/x.json: cannot be written: the folder {}/no does not exist",
        ),
        (
            "generate ring:nodes=4 --groups 0,1;2,3 --members mem -o no/x.json",
            "no/x.json: cannot be written: the folder {}/no does not exist",
        ),
        ("what-if ring:nodes=4 --fail links -o t.txt", "t.txt: is a file; name a folder"),
        ("what-if ring:nodes=4 --fail links -o a/b", "a/b: cannot be written: the folder {}/a does not exist"),
        ("generate ring:nodes=4 --groups 0,1;2,3 --members t.txt", "t.txt: is a file; name a folder"),
        ("export s.json --to astra-sim -o t.txt", "t.txt: is a file; name a folder"),
        ("tune ring:nodes=4 -o t.txt", "t.txt: is a file; name a folder"),
    ],
)
def test_nothing_is_written_if_one_output_cannot_be(files: Path, line: str, message: str) -> None:
    before = sorted(files.rglob("*"))
    assert run_command(*line.split()).error_line() == message.format(files.resolve())
    assert sorted(files.rglob("*")) == before


@pytest.mark.parametrize(
    ("line", "ending", "named"),
    [
        ("compare ring:nodes=4 --html x.pdf", ".pdf", ".html or .htm"),
        ("generate ring:nodes=4 -o x.xml", ".xml", ".json"),
        ("generate ring:nodes=4 -o x.xml.gz", ".xml", ".json"),
        ("topology ring:nodes=4 -o x.svg", ".svg", ".json or .graphml or .txt or .yml or .yaml"),
        ("export s.json --to msccl-xml -o x.json", ".json", ".xml"),
        ("simulate s.json --csv x.svg", ".svg", ".csv"),
    ],
)
@pytest.mark.usefixtures("files")
def test_the_ending_of_another_kind_of_file_is_refused(line: str, ending: str, named: str) -> None:
    name = line.rsplit(maxsplit=1)[-1]
    expected = f"{name}: is not written as {ending}; name a file that ends in {named}"
    assert run_command(*line.split()).error_line() == expected


@pytest.mark.usefixtures("files")
def test_devices_and_standard_output_may_be_named_twice() -> None:
    assert run_command("simulate", "s.json", "--csv", "/dev/null", "--links", "/dev/null").status == 0
    assert run_command("simulate", "s.json", "--csv", "-", "--links", "-").status == 0
    assert run_command("simulate", "-", "--csv", "-").status == 1  # empty standard input, not the same name


@pytest.mark.parametrize("name", ["schedule", "s.dat", "S.JSON", "s.json.gz"])
@pytest.mark.usefixtures("files")
def test_other_names_are_taken(name: str) -> None:
    assert run_command("generate", "ring:nodes=4", "-o", name).status == 0
    assert Path(name).is_file()


@pytest.mark.usefixtures("files")
def test_a_bundle_may_be_next_to_its_members() -> None:
    words = ("generate", "ring:nodes=4", "--groups", "0,1;2,3", "--members", "out", "-o", "out/bundle.json")
    assert run_command(*words).status == 0
    assert sorted(path.name for path in Path("out").iterdir()) == ["bundle.json", "group-0.json", "group-1.json"]


@pytest.mark.usefixtures("files")
def test_a_folder_may_end_with_a_slash() -> None:
    assert run_command("export", "s.json", "--to", "astra-sim", "-o", "sim/").status == 0
    assert Path("sim/system.json").is_file()


def test_standard_output_is_no_folder() -> None:
    message = run_command("what-if", "ring:nodes=4", "--fail", "links", "-o", "-").error_line(status=2)
    assert "the output is a folder, which standard output cannot take; name a folder" in message
