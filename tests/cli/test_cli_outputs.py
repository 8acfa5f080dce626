"""All outputs of a command line are checked together before any work, so no file is lost or half of them written."""

import re
from itertools import combinations
from pathlib import Path

import click
import pytest
from cli_run import COMMANDS, run_command

from forestcoll.cli.file_types import FileName, FileOrText, FilesByKind, OutputFile, PictureFile
from forestcoll.cli.outputs import check_outputs
from refusal import refusal


def problem(name: str, values: dict[str, object]) -> str:
    context = click.Context(COMMANDS[name])
    context.params = values
    return refusal(check_outputs, context)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_output_is_no_input_and_no_other_output(tmp_path: Path, name: str) -> None:
    (path := tmp_path / "file").write_text("")
    (link := tmp_path / "link").symlink_to(path)
    files = [each for each in COMMANDS[name].params if isinstance(each.type, FileName | FileOrText)]
    outputs = [each for each in files if isinstance(each.type, OutputFile)]
    for one, other in combinations(outputs, 2):
        values = {str(one.name): path, str(other.name): path.parent / "." / "file", "target": "msccl-xml"}
        expected = f"{other.opts[0]} {path}: is also the output {one.opts[0]}; name another file"
        assert problem(name, values) == expected
    for one, other in ((one, other) for one in files if one not in outputs for other in outputs):
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
        if isinstance(each.type, FilesByKind) and "-o" in each.opts:
            assert all(isinstance(kind, OutputFile) for kind in each.type.kinds.values()), each.name
        if isinstance(each.type, PictureFile):
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
    ("simulate s.json -o s.json", "-o s.json: is also the input"),
    ("export s.json --to mscclpp-json -o s.json", "-o s.json: is also the input"),
    ("generate hosts.json -o hosts.json", "-o hosts.json: is also the input"),
    ("generate hosts.json -o ./out/../hosts.json", "-o out/../hosts.json: is also the input"),
    ("topology hosts.json -o hosts.json", "-o hosts.json: is also the input"),
    ("topology cluster:box=box.json,boxes=2 -o box.json", "-o box.json: is also the input"),
    ("design ring:nodes=4 --by product=hosts.json -o hosts.json", "-o hosts.json: is also the input --by"),
    ("generate ring:nodes=4 --groups groups.json -o groups.json", "-o groups.json: is also the input --groups"),
    ("fit t.csv --schedule ring:nodes=4 -o t.csv", "-o t.csv: is also the input"),
    ("fit t.csv --schedule s.json -o s.json", "-o s.json: is also the input --schedule"),
    ("compare ring:nodes=4 --against s.json --html s.json", "--html s.json: is also the input --against"),
    ("import t.txt --nvlink 25 -o t.txt", "-o t.txt: is also the input"),
    ("view s.json hosts.json -o hosts.json", "-o hosts.json: is also the input"),
]
INTO_ONE_OUTPUT = [
    ("export s.json --to mscclpp-json -o a.json -o snippet=a.json", "-o snippet=a.json: is also the output -o"),
    ("design --nodes 8 --degree 4 -o topology=n -o n", "-o n: is also the output -o topology"),
    ("simulate s.json -o l.csv -o links=l.csv", "-o links=l.csv: is also the output -o"),
    ("simulate s.json -o gantt=g.png -o plot=g.png", "-o plot=g.png: is also the output -o gantt"),
    ("one-port ring:nodes=5 --source 0 -o picture=q.svg -o q.svg", "-o q.svg: is also the output -o picture"),
]


INTO_A_FOLDER = [
    ("generate ring:nodes=4 --groups 0,1;2,3 -o members=out -o out/group-1.json", "is a file of the output -o members"),
]
NO = ": cannot be written: the folder {}/no does not exist"
NO_OUTPUT = [
    ("generate ring:nodes=4 -o hosts.json/", "hosts.json/: is a folder; name a file in it"),
    ("generate ring:nodes=4 -o newdir/", "newdir/: is a folder; name a file in it"),
    ("topology ring:nodes=4 -o out", "out: is a folder; name a file in it"),
    ("topology ring:nodes=4 -o no/x.json", "no/x.json: cannot be written: the folder {}/no does not exist"),
    ("export s.json --to chakra -o traces/", "traces/: is a folder; name a file in it"),
    ("export s.json --to mscclpp-json -o snippet=out -o a.json", "out: is a folder; name a file in it"),
    ("simulate s.json -o a.csv -o plot=no/b.svg", "no/b.svg: cannot be written: the folder {}/no does not exist"),
    ("design --nodes 8 --degree 4 -o topology=y.json -o no/x.json", f"no/x.json{NO}"),
    ("generate ring:nodes=4 --groups 0,1;2,3 -o members=mem -o no/x.json", f"no/x.json{NO}"),
    ("what-if ring:nodes=4 --fail links -o t.txt", "t.txt: is a file; name a folder"),
    ("what-if ring:nodes=4 --fail links -o a/b", "a/b: cannot be written: the folder {}/a does not exist"),
    ("generate ring:nodes=4 --groups 0,1;2,3 -o members=t.txt", "t.txt: is a file; name a folder"),
    ("export s.json --to astra-sim -o t.txt", "t.txt: is a file; name a folder"),
    ("tune ring:nodes=4 -o t.txt", "t.txt: is a file; name a folder"),
    ("compare ring:nodes=4 --html x.pdf", "x.pdf: is not written as .pdf; name a file that ends in .html or .htm"),
    ("generate ring:nodes=4 -o x.xml", "x.xml: is not written as .xml; name a file that ends in .json"),
    ("generate ring:nodes=4 -o x.txt", "x.txt: is not written as .txt; name a file that ends in .json"),
    ("export s.json --to goal -o x.txt", "x.txt: is not written as .txt; name a file that ends in .goal"),
    ("generate ring:nodes=4 -o x.xml.gz", "x.xml.gz: is not written as .xml; name a file that ends in .json"),
    (
        "topology ring:nodes=4 -o x.svg",
        "x.svg: is not written as .svg; name a file that ends in .json or .graphml or .txt or .yml or .yaml",
    ),
    ("export s.json --to msccl-xml -o x.json", "x.json: is not written as .json; name a file that ends in .xml"),
    ("simulate s.json -o x.svg", "x.svg: is not written as .svg; name a file that ends in .csv"),
]


@pytest.mark.parametrize(("line", "message"), INTO_THE_INPUT + INTO_ONE_OUTPUT + INTO_A_FOLDER + NO_OUTPUT)
def test_outputs_that_cannot_be_written_are_refused_before_any_is(files: Path, line: str, message: str) -> None:
    before = {path: path.is_file() and path.read_bytes() for path in files.rglob("*")}
    error = run_command(*line.split()).error_line()
    if message.endswith((" file in it", " folder", "exist")) or "is not written as" in message:
        assert error == message.format(files.resolve())
    else:
        assert message in error
        assert error.endswith("; name another file")
    assert {path: path.is_file() and path.read_bytes() for path in files.rglob("*")} == before


@pytest.mark.usefixtures("files")
def test_devices_and_standard_output_may_be_named_twice() -> None:
    assert run_command("simulate", "s.json", "-o", "/dev/null", "-o", "links=/dev/null").status == 0
    assert run_command("simulate", "s.json", "-o", "-", "-o", "links=-").status == 0
    assert run_command("simulate", "-", "-o", "-").status == 1  # empty standard input, not the same name


@pytest.mark.usefixtures("files")
def test_a_bundle_may_be_next_to_its_members() -> None:
    words = ("generate", "ring:nodes=4", "--groups", "0,1;2,3", "-o", "members=out", "-o", "out/bundle.json")
    assert run_command(*words).status == 0
    assert sorted(path.name for path in Path("out").iterdir()) == ["bundle.json", "group-0.json", "group-1.json"]


@pytest.mark.usefixtures("files")
def test_a_folder_may_end_with_a_slash() -> None:
    assert run_command("export", "s.json", "--to", "astra-sim", "-o", "sim/").status == 0
    assert Path("sim/system.json").is_file()
