"""Compare the outputs, tables and programs in the documents with the actual results.

`FORESTCOLL_WRITE_GOLDEN=1 pytest tests/cli/test_documents.py` writes the outputs again; read the difference.
"""

import os
import re
import runpy
import shlex
import sys
from fractions import Fraction
from pathlib import Path
from unittest import mock

import pytest
from cli_run import completed, json_of, run_command

from forestcoll.schedule.files import read_schedule
from forestcoll.verification import verify

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README, COMPARE, CLUSTER = ROOT / "README.md", DOCS / "compare.md", DOCS / "your-cluster.md"
FIRST = DOCS / "tutorials" / "first-optimum.md"
FLOWS, GROUPS, PIECES, WHAT_IF = (DOCS / f"{name}.md" for name in ("all-to-all", "groups", "pieces", "what-if"))
RUNS = {README: 2, GROUPS: 4, COMPARE: 2, WHAT_IF: 4, CLUSTER: 2, FLOWS: 2, PIECES: 2} | {
    DOCS / f"{name}.md": count
    for name, count in {
        "finder": 1,
        "steps": 1,
        "measured": 2,
        "nccl-logs": 1,
        "nccl": 2,
        "training": 1,
        "probing": 1,
        "tuning": 2,
        "tutorials/choosing-a-network": 3,
        "tutorials/first-optimum": 5,
        "how-to/a-link-failed": 2,
        "how-to/a-nic-failed": 4,
        "how-to/order-of-hosts": 2,
        "how-to/topology-file-for-a-vm": 0,  # its commands are run by test_nccl_files.py
        "how-to/which-nccl-algo": 3,
        "how-to/check-a-schedule": 1,
        "how-to/your-own-algorithm": 0,
        "how-to/export-for-mscclpp": 0,  # its commands have no output, or write the time that they took
        "how-to/run-a-found-network": 0,  # the same
        "how-to/is-this-bandwidth-normal": 2,
        "how-to/part-of-the-gpus": 1,
        "how-to/nccl-rules-by-size": 1,
        "how-to/which-upgrade-pays": 1,
    }.items()
}
"""The pages that show commands with all of their output, and how many."""
FOUND = ("--nodes", "12", "--degree", "4")
RECORDED = ROOT / "tests" / "topology" / "importers" / "recorded" / "shared-nics.json"


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(), flags=re.DOTALL | re.MULTILINE)


def shown_runs(path: Path) -> list[tuple[str, str]]:
    """Return the commands whose output a document shows, with this output."""
    return re.findall(
        r"<!-- run: forestcoll (.*?) -->\n```\n.*?^(?!\$)(.*?)```", path.read_text(), re.DOTALL | re.MULTILINE
    )


@pytest.mark.parametrize(("words", "expected"), sorted({run for page in RUNS for run in shown_runs(page)}))
def test_documents_show_the_actual_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hosts.json").write_text(blocks(FIRST, "json")[0])
    Path("half.json").write_text(blocks(GROUPS, "json")[0])
    for name in ("nccl-tests.log", "nccl-job.log"):
        Path(name).write_text((ROOT / "examples" / name).read_text())
    Path("demand.csv").write_text(blocks(FLOWS, "csv")[0])
    Path("demand.json").write_text(blocks(PIECES, "json")[0])
    Path("topo.txt").write_text(blocks(CLUSTER, "text")[0])
    Path("measured.json").write_text(RECORDED.read_text())
    Path("graph.xml").write_text(blocks(COMPARE, "xml")[0])
    if "host.json," in words:
        assert run_command("import", "topo.txt", "--nvlink", "25", "-o", "host.json").status == 0
    if "schedule.json" in words:
        assert run_command("generate", "dgx-a100:boxes=2", "-o", "schedule.json").status == 0
    if "steps.json" in words and "design" not in words:
        found = run_command("design", *FOUND, "--collective", "allgather", "-o", "steps.json")
        assert found.status == 0
    if "pieces.json" in words:
        made = run_command("generate", "dgx-a100:boxes=2", "--demand", "demand.json", "-o", "pieces.json")
        assert made.status == 0
    run = run_command(*shlex.split(words))
    if os.environ.get("FORESTCOLL_WRITE_GOLDEN"):
        _write_output(words, expected, run.out)
        expected = run.out
    assert (run.status, run.out, run.err) == (0, expected, "")


def _write_output(words: str, shown: str, out: str) -> None:
    for page in RUNS:
        before, marker, after = page.read_text().partition(f"<!-- run: forestcoll {words} -->\n")
        if marker:
            page.write_text(before + marker + after.replace(shown, out, 1))


def test_runs_are_shown() -> None:
    assert {path: len(shown_runs(path)) for path in RUNS} == RUNS
    assert {*DOCS.glob("tutorials/*.md"), *DOCS.glob("how-to/*.md")} <= RUNS.keys()


def shown_gains() -> list[tuple[str, str, list[float]]]:
    """Return the rows of the table of gains by relays: spec, ranks, and four figures."""
    rows = re.findall(r"^\| `(.*?)`.*? \| `(.*?)` \| (.*?) \| (.*?) \|$", GROUPS.read_text(), re.MULTILINE)
    return [(spec, ranks, [float(each) for each in f"{one}, {other}".split(", ")]) for spec, ranks, one, other in rows]


def test_the_table_of_gains_by_relays_is_correct() -> None:
    assert len(shown_gains()) == 6
    for spec, ranks, figures in shown_gains():
        found = []
        for collective in ("allgather", "allreduce"):
            relays = json_of("optimum", spec, "--ranks", ranks, "--collective", collective)["relays"]
            found += [float(Fraction(relays[key])) for key in ("algbw_without", "algbw")]
        assert found == [pytest.approx(figure, abs=0.06) for figure in figures], spec


PYTHON = (
    "python.md",
    "tasks.md",
    "all-to-all.md",
    "groups.md",
    "pieces.md",
    "bounds.md",
    "steps.md",
    "one-port.md",
    "runtimes.md",
    "programs.md",
    "what-if.md",
    "pictures.md",
    "tutorials/choosing-a-network.md",
    "how-to/your-own-algorithm.md",
)


@pytest.mark.parametrize("document", [README, *(ROOT / "docs" / name for name in PYTHON)])
def test_the_python_of_a_document_runs_and_prints_what_it_shows(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = "\n".join(blocks(document, "python"))
    assert program
    exec(compile(program, str(document), "exec"), {})  # noqa: S102 (our own example)
    if document.name == "choosing-a-network.md":
        assert capsys.readouterr().out == blocks(document, "text")[0]


def test_the_files_of_a_failover_set_have_the_names_of_the_document(tmp_path: Path) -> None:
    (shown,) = re.findall(
        r"^\{\"format\": \"forestcoll.failover/1\".*?^```$", WHAT_IF.read_text(), re.DOTALL | re.MULTILINE
    )
    command = ("what-if", "dgx-a100:boxes=2", "--fail", "nics", "-o", str(tmp_path / "set"))
    assert run_command(*command).status == 0
    names = re.findall(r'"file": "(.*?)"', shown)
    assert len(names) == 2
    assert {path.name for path in (tmp_path / "set").iterdir()} >= set(names)


DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_the_site_has_every_document() -> None:
    site = (ROOT / "mkdocs.yml").read_text()
    for path in DOCS.rglob("*.md"):
        assert re.search(rf"[ \[]{re.escape(path.relative_to(DOCS).as_posix())}\b", site), path


def test_the_example_of_an_own_network_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "schedule.json"
    with mock.patch.object(sys, "argv", ["own_network.py", str(path)]):
        runpy.run_path(str(ROOT / "examples" / "own_network.py"), run_name="__main__")
    assert capsys.readouterr().out.startswith("optimum: 25 GB/s with 1 tree per root\n")
    assert verify(read_schedule(path)).optimal


def test_the_example_that_compares_machines_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "compare.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:3] == ["dgx-a100:boxes=2", "16", "1040/3"]
    assert len(lines) == 8


def script(name: str, *options: object) -> str:
    run = completed([sys.executable, str(ROOT / name), *map(str, options)])
    assert (run.status, run.err) == (0, "")
    return run.out


@pytest.mark.slow  # ten seconds
def test_the_benchmark_of_sizes_runs() -> None:
    printed = script("benchmarks/sizes.py", "--quick")
    assert printed.count("| yes |") == 3
    assert "| NO |" not in printed


@pytest.mark.slow  # 20 seconds
def test_the_benchmark_of_scale_runs() -> None:
    printed = script("benchmarks/scale.py", "--quick")
    assert printed.count("| yes, yes |") == 16
    assert "over the limit" not in printed


def test_the_benchmark_of_one_port_runs() -> None:
    assert script("benchmarks/one_port.py", "--quick").count(" tree(s) | ") == 2


def test_the_benchmark_of_packets_with_one_port_runs() -> None:
    assert "| best plan | 1." in script("benchmarks/one_port_packets.py", "--platforms", 1)


def test_the_benchmark_of_survival_runs() -> None:
    printed = script("benchmarks/survival.py", "--networks", "torus:dims=3x3/links")
    assert "| torus:dims=3x3 | links | 4.5 | 4.5 | 3.375 | 2.5 | 3.375 | 0 | 3.375 |" in printed


def test_the_check_of_the_allreduce_hypothesis_runs() -> None:
    printed = script("evidence/allreduce_hypothesis.py", "--networks", 4, "--largest", 5)
    assert printed.count("| 4 |") == 8
    assert " 1 on " in printed


def test_the_soak_test_runs(tmp_path: Path) -> None:
    printed = script("soak/soak.py", "--minutes", 0.02, "--largest", 16, "--folder", tmp_path)
    assert "failures       0\n" in printed
    assert not list(tmp_path.iterdir())


def cells(row: str) -> int:
    """Return the number of cells of a row of a table; a bar in code does not end a cell."""
    return len(re.split(r"(?<!\\)\|", re.sub(r"`[^`]*`", "", row.strip().strip("|"))))


MADE = {"api.md", "commands.md", "machines.md", "methods.md", "rooms.md", "rules.md", "targets.md"}
"""The pages that `make docs` makes; documents of docs/ lead to them."""


def _is_there(target: str, folder: Path) -> bool:
    """Return whether a link leads to a file, to a page that is made, or has the form of an address."""
    if "://" in target:
        return re.fullmatch(r"https://[\w.-]+\.[a-z]{2,}(/\S*)?", target) is not None
    path = (folder / target).resolve()
    return path.exists() or (path.parent == DOCS and path.name in MADE) or path.parent == DOCS / "api"


def test_every_link_has_a_target_and_all_rows_of_a_table_have_equally_many_cells() -> None:
    for document in DOCUMENTS:
        text = document.read_text()
        targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
        missing = [each for each in targets if not _is_there(each, document.parent)]
        assert not missing, document
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
        for table in re.findall(r"(?:^\|.*\n?)+", prose, re.MULTILINE):
            assert len({cells(row) for row in table.splitlines()}) == 1, (document, table)


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_file_that_a_page_about_the_code_names_is_there(document: str) -> None:
    named = set(re.findall(r"`([\w./-]+(?:/|\.(?:py|pyi|h|toml|csv|md)))`", (ROOT / document).read_text()))
    folders = ("src", "native", "tests", "benchmarks", "evidence", "soak", "tools", "docs")
    paths = [*ROOT.glob("*"), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]
    there = "\n".join(f"/{path.relative_to(ROOT).as_posix()}/" for path in paths)
    missing = {name for name in named if f"/{name.rstrip('/')}/" not in there}
    assert missing <= {"programs/formats/FORMAT/from_program.py"}
    assert len(named) > 10
