"""Names from a file cannot send control characters: not to a pipe, not to a terminal, and not into XML."""

import csv
import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cli_run import GRAPH, Run, edge, run_command

from forestcoll.cli.main import _COMMANDS

HOSTILE = "\x1b]0;title\x07\x1b[35m\x00\x08\r\nFORGED \x7f\x9b31m\u2028\u202e\ufffe\ud800$\\bad{$[/x]"
"""ESC, BEL, NUL, BS, CR, LF, DEL, C1, a line separator, a change of direction, two that XML forbids, and markups."""

OWN = re.compile(r"\x1b\[(?:[0-9;]*m|[12]?K|1A|\?25[lh])")
"""The colours and the bars of rich, with which no text of `HOSTILE` agrees but `\x1b[35m`."""

LOG = Path(__file__).parents[2] / "examples" / "nccl-tests.log"
ROOT = f"0{HOSTILE}"


def network(nodes: int = 4, unit: str = "GB/s", bandwidth: int = 10) -> str:
    """Return a ring whose ids, boxes and name, and perhaps its unit, have control characters."""
    ids = [f"{number}{HOSTILE}" for number in range(nodes)]
    graph = GRAPH | {"name": f"ring{HOSTILE}", "bandwidth_unit": unit}
    listed = [{"id": each, "box": f"{number // 2}{HOSTILE}"} for number, each in enumerate(ids)]
    first, *others = zip(ids, [*ids[1:], ids[0]], strict=True)
    edges = [edge(*first, bandwidth), *(edge(*each) for each in others)]
    return json.dumps({"directed": False, "graph": graph, "nodes": listed, "edges": edges})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with networks, schedules and a program, all with control characters in their names."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "names.json").write_text(network(bandwidth=7))
    (folder / "even.json").write_text(network())
    (folder / "unit.json").write_text(network(unit=f"GB{HOSTILE}"))
    (folder / "sixteen.json").write_text(network(16))
    (folder / "times.csv").write_text("size,algbw\n1M,3.17\n16M,6\n128M,7\n1G,8\n")
    names = folder / "names.json"
    commands: list[list[object]] = [
        ["generate", names, "-o", folder / "trees.json"],
        ["generate", names, "--method", "bfb", "-o", folder / "steps.json"],
        ["generate", names, "--collective", "all-to-all", "-o", folder / "flows.json"],
        ["generate", names, "--layout", "tp=2,dp=2", "-o", folder / "bundle.json"],
        ["one-port", names, "--source", ROOT, "-o", folder / "series.json"],
        ["export", folder / "trees.json", "--to", "msccl-xml", "-o", folder / "program.xml"],
    ]
    assert [run_command(*words).status for words in commands] == [0] * len(commands)
    return folder


def assert_printable(run: Run) -> None:
    """Check that the output has no control character but line breaks and the program's own colours."""
    for text in (run.out, run.err):
        assert "\x1b[35m" not in text
        lines = OWN.sub("", text).replace("\r", "\n" if "\x1b[2K" in text else "\r").split("\n")
        assert [ascii(line) for line in lines if not line.isprintable()] == []
        assert not any(line.lstrip().startswith("FORGED") for line in lines)


SCHEDULES = ("trees.json", "steps.json", "flows.json", "bundle.json", "series.json")
WORKS = [
    ["optimum", "names.json", "--all"],
    ["optimum", "names.json", "--collective", "gather", "--root", ROOT],
    ["one-port", "names.json", "--source", ROOT, "--ports", "one", "-o", "picture=out/period.svg"],
    ["verify", "program.xml"],
    ["compare", "names.json", "--baselines", "nccl-ring", "--html", "out/report.html"],
    ["compare", "names.json", "--collective", "allreduce", "--baselines", "nccl-ring,nccl-tree", "--sizes", "1M"],
    ["design", "even.json", "--by", "line-graph"],
    ["explain", "sixteen.json", "--measured", str(LOG)],
    ["export", "trees.json", "--to", "msccl-xml", "-o", "-"],
    ["export", "trees.json", "--to", "goal", "--bytes", "1MiB", "-o", "-"],
    ["export", "flows.json", "--to", "mscclpp-json", "-o", "-"],
    ["design", "--nodes", "8", "--degree", "4", "even.json"],
    ["fit", "times.csv", "--schedule", "trees.json"],
    *(["generate", "names.json", *more] for more in ([], ["-o", "-"], ["--json"], ["--method", "bfb"])),
    ["import", "names.json", "-o", "out/imported.json"],
    ["optimum", "names.json", "--max-trees", "2"],
    ["optimum", "names.json", "--collective", "broadcast", "--root", ROOT],
    ["optimum", "names.json", "--collective", "all-to-all"],
    ["optimum", "names.json", "--groups", "0,1;2,3"],
    ["optimum", "names.json", "--layout", "tp=2,dp=2", "--all"],
    ["one-port", "names.json", "--source", ROOT, "--size", "1MiB"],
    ["rank-order", "names.json"],
    *(["simulate", each, "-o", "links=-"] for each in SCHEDULES),
    ["simulate", "trees.json", "--sizes", "1M,2M", "-o", "plot=out/plot.svg", "-o", "gantt=out/gantt.svg"],
    ["topology", "names.json"],
    ["topology", "names.json", "-o", "out/network.graphml"],
    ["train-time", "gpt2-small", "names.json", "-o", "out/timeline.svg"],
    ["tune", "names.json", "--sizes", "64K", "-o", "out/tuned"],
    *(["verify", each] for each in SCHEDULES),
    ["view", "names.json", "-o", "out/network.svg"],
    ["view", "trees.json", "-o", "out/trees.svg"],
    ["view", "unit.json", "-o", "out/unit.html"],
    ["what-if", "names.json", "--fail", "links"],
    ["what-if", "names.json", "--upgrade"],
    *([each, "unit.json"] for each in ("compare", "generate", "optimum", "topology")),
    ["what-if", "unit.json", "--fail", "boxes"],
]
MAY_FAIL = [
    ["bench", "--topology", "names.json"],
    ["emulate", "names.json", "--scale", "100Mbit=1", "--", "true"],
    ["fit", "times.csv", "--schedule", "unit.json"],
    ["one-port", "unit.json", "--source", ROOT, "--size", "1MiB"],
    ["rank-order", "names.json", "-o", "-"],
    ["simulate", "unit.json"],
    ["train-time", "gpt2-small", "unit.json"],
    ["tune", "unit.json"],
]


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the made files, in which the command runs."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    for name, value in {"TERM": "xterm-256color", "NO_COLOR": "", "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def test_every_command_that_reads_a_file_is_tried() -> None:
    assert {words[0] for words in (*WORKS, *MAY_FAIL)} == set(_COMMANDS) - {"probe"}


def draws(words: list[str]) -> bool:
    """Whether a command takes long for a file, whose content is the same wherever the page is shown."""
    return words[0] == "tune" or any(word.startswith(("plot=", "picture=", "--picture", "--html")) for word in words)


@pytest.mark.parametrize(
    ("words", "terminal"),
    [(words, terminal) for words in WORKS for terminal in (False, True) if terminal or not draws(words)],
    ids=lambda words: ascii(" ".join(words[:4]))[:50] if isinstance(words, list) else "terminal" if words else "pipe",
)
def test_no_command_prints_a_control_character(folder: Path, words: list[str], *, terminal: bool) -> None:
    run = run_command(*words, terminal=terminal)
    assert run.status in {0, None}
    assert_printable(run)
    assert "Warning" not in run.err
    for path in folder.glob("out/**/*"):
        if path.suffix in {".svg", ".graphml"}:
            ElementTree.parse(path)  # noqa: S314 (our own file)
        if path.suffix == ".html":
            assert all(line.isprintable() for line in path.read_text().split("\n"))


@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
@pytest.mark.parametrize("words", MAY_FAIL, ids=lambda words: words[0])
@pytest.mark.usefixtures("folder")
def test_no_error_has_a_control_character(words: list[str], *, terminal: bool) -> None:
    run = run_command(*words, terminal=terminal)
    assert run.err
    assert_printable(run)


@pytest.mark.usefixtures("folder")
def test_json_keeps_the_exact_ids() -> None:
    document = run_command("topology", "names.json").document()
    nodes = document["nodes"]
    assert [node["id"] for node in nodes] == [f"{number}{HOSTILE}" for number in range(4)]


def test_cells_that_look_like_formulas_are_quoted_as_text(tmp_path: Path) -> None:
    ids = ['=HYPERLINK("http://example.invalid")', "+1+1", "@SUM(1)", "-2", "\t=1", "a,b"]
    graph = GRAPH | {"bandwidth_unit": "GB/s"}
    edges = [edge(one, other) for one, other in zip(ids, [*ids[1:], ids[0]], strict=True)]
    source = {"directed": False, "graph": graph, "nodes": [{"id": each} for each in ids], "edges": edges}
    (tmp_path / "network.json").write_text(json.dumps(source))
    assert run_command("generate", tmp_path / "network.json", "-o", tmp_path / "s.json").status == 0
    assert run_command("simulate", tmp_path / "s.json", "-o", f"links={tmp_path / 'links.csv'}").status == 0
    text = (tmp_path / "links.csv").read_text()
    cells = {cell for row in list(csv.reader(text.splitlines()))[1:] for cell in row[:2]}
    assert cells == {"'" + ids[0], "'+1+1", "'@SUM(1)", "'-2", "?=1", "a,b"}
    assert not any(line.startswith(("=", "+", "-", "@")) for line in text.splitlines())
    assert '"\'+1+1"' in text
