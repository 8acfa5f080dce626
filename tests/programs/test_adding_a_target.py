"""Add a target by one file: `export` writes it, `--to` reads its options, and a wrong key is refused with a hint."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dropped import dropped_in
from forestcoll import export, generate
from forestcoll.cli import main
from forestcoll.programs.targets.target import targets
from refusal import refusal

FILE = '''
"""Messages: a table of the messages of a program."""

from dataclasses import dataclass

from forestcoll.base.parameters import flag
from forestcoll.base.progress import Progress
from forestcoll.programs.lowering import Lowering, Options
from forestcoll.programs.targets.target import Export, Target, targets


@targets.add("messages-csv", summary="a table of messages")
@dataclass(frozen=True)
class MessagesCsv(Target):
    """A table with a row for each channel."""

    endings = (".csv",)
    checked = "not checked"

    header: bool = flag("whether the first row has names", default=True)

    def exported(self, lowering: Lowering, options: Options, progress: Progress) -> Export:  # noqa: ARG002
        rows = [f"{each.source},{each.target}" for each in lowering.program.channels]
        return Export(self, lowering, "\\n".join([*(["source,target"] if self.header else []), *rows, ""]))
'''


@pytest.fixture(autouse=True)
def _dropped_in(tmp_path: Path) -> Iterator[None]:
    with dropped_in(targets, "messages_csv", FILE, tmp_path):
        yield


def test_the_new_target_is_exported(tmp_path: Path) -> None:
    done = export(generate("ring:nodes=3"), "messages-csv:header=false,channels=2")
    assert set(done.text.splitlines()) == {f"{one},{other}" for one in range(3) for other in range(3) if one != other}
    assert str(done.target) == "messages-csv:channels=2,header=false"
    done.write(tmp_path / "m.csv")
    assert (tmp_path / "m.csv").read_text() == done.text


def test_the_command_line_reads_the_new_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*words: str) -> str:
        """Return what a command prints, in one line."""
        monkeypatch.setattr(sys, "argv", ["forestcoll", "export", *words])
        with contextlib.suppress(SystemExit):
            main()
        return " ".join("".join(capsys.readouterr()).split())

    csv, file = ("ring:nodes=3", "--to", "messages-csv"), tmp_path / "m.csv"
    assert "checked not checked" in said(*csv, "-o", str(file))
    assert file.read_text().startswith("source,target\n")
    assert "messages-csv (a table of messages)" in said("--help")
    wrong = said("ring:nodes=3", "--to", "messages-csv:heder=true")
    assert "messages-csv: there is no parameter 'heder'; did you mean 'header'?" in wrong
    assert "--dialect is for msccl-xml; leave it out with the format messages-csv" in said(*csv, "--dialect", "rccl")
    assert "name a file that ends in .csv" in said(*csv, "-o", str(tmp_path / "m.xml"))


def test_an_unknown_target_or_a_wrong_value_is_refused() -> None:
    schedule = generate("ring:nodes=3")
    assert "did you mean 'messages-csv'?" in refusal(export, schedule, "message-csv")
    assert refusal(export, schedule, "goal:bytes=0") == (
        "goal: bytes is '0'; expected a size of 1 byte or more such as 64K, 2.5MiB or 1GB"
    )
    assert refusal(export, schedule, "msccl-xml:dialect=nccl").endswith("expected one of microsoft, azure, rccl")
    assert refusal(export, schedule, 3).startswith("target is 3; expected a text such as msccl-xml")
