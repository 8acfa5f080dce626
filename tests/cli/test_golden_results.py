"""One result of each kind, as text, as JSON and, where there is one, as a page: the files of tests/golden/results.

`FORESTCOLL_WRITE_GOLDEN=1 pytest tests/cli/test_golden_results.py` writes the files again; read the difference.
"""

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_run import run_command

from recording.masks import masked

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "results"
LOGS = sorted((ROOT / "examples").glob("*.log"))

MADE_FIRST = (
    "generate ring:nodes=4 --collective allreduce -o ring.json",
    "generate torus:dims=3x3 --method bfb -o steps.json",
    "generate ring:nodes=4 --collective all-to-all -o flows.json",
    "generate dgx-a100:boxes=2,gpus=2 --layout tp=2,dp=2 -o bundle.json",
    "one-port ring:nodes=5 --source 0 -o series.json",
    "export ring.json --to msccl-xml -o program.xml",
    "topology ring:nodes=4 -o network.graphml",
)
"""Commands whose files the results below are about."""

RESULTS = {
    "optimum-all": "optimum torus:dims=3x3 --all --root 0",
    "optimum-all-boxes": "optimum dgx-a100:boxes=2 --all",
    "optimum-all-hypercube": "optimum hypercube:dim=3 --all",
    "optimum-all-mesh": "optimum mesh:dims=3 --all",
    "optimum-all-mi250": "optimum mi250:boxes=2,gpus=8 --all",
    "optimum-all-weights": "optimum mi250:boxes=2,gpus=4 --all",
    "optimum-all-nvls": "optimum dgx-h100:boxes=1,nvls=true --all",
    "optimum-all-ring": "optimum ring:nodes=3 --all",
    "one-port-series": "one-port torus:dims=3x3 --source 0 --ports one",
    "one-port-series-half-duplex": "one-port ring:nodes=6 --source 0 --ports half",
    "verify-program": "verify program.xml --dialect microsoft",
    "compare": "compare dgx-a100:boxes=2,gpus=2 --collective allreduce",
    "compare-algorithms": "compare dgx-a100:boxes=2 --sizes 1M,1G --baselines nccl-ring,nccl-tree,two-level,bruck",
    "compare-all-to-all": "compare dgx-1:boxes=2 --collective all-to-all --sizes 1M,1G",
    "design-expansion": "design ring:nodes=5 --by degree=2 --by breadth-first",
    "explain": "explain dgx-a100:boxes=2 --measured nccl-tests.log",
    "explain-job": "explain --measured nccl-job.log",
    "export": "export ring.json --to msccl-xml -o exported.xml",
    "design": "design --nodes 8 --degree 3",
    "design-all-to-all": "design --nodes 32 --degree 4 --size 1MB --collective all-to-all",
    "design-job": "design --nodes 8 --degree 2 --profile tp-and-dp.json",
    "design-published": "design --nodes 64 --degree 4 --only published --size 1MB",
    "design-sizes": "design --nodes 5..12 --degree 4 --only bidirectional --size 1MB",
    "fit": "fit nccl-tests.log --schedule dgx-a100:boxes=2 --algorithm nccl-ring",
    "fit-alpha-beta": "fit nccl-tests.log --schedule dgx-a100:boxes=2 --algorithm nccl-ring --model alpha-beta",
    "generate-flows": "generate ring:nodes=4 --collective all-to-all -o made.json",
    "generate-groups": "generate dgx-a100:boxes=2,gpus=2 --layout tp=2,dp=2 -o made.json",
    "generate-steps": "generate torus:dims=3x3 --method bfb -o made.json",
    "generate-trees": "generate dgx-a100:boxes=2,gpus=2 -o made.json",
    "import": "import network.graphml -o imported.json",
    "optimum": "optimum dgx-a100:boxes=2,gpus=2",
    "optimum-20-trees": "optimum dgx-a100:boxes=2 --max-trees 20",
    "optimum-12-trees": "optimum dgx-a100:boxes=2 --max-trees 12",
    "optimum-boxes": "optimum dgx-a100:boxes=4",
    "optimum-allreduce": "optimum dgx-a100:boxes=2,gpus=2 --collective allreduce",
    "optimum-allreduce-2-trees": "optimum dgx-a100:boxes=2 --collective allreduce --max-trees 2",
    "optimum-groups": "optimum dgx-a100:boxes=2,gpus=2 --layout tp=2,dp=2 --all",
    "one-port-message": "one-port ring:nodes=5 --source 0 --size 256MiB",
    "simulate": "simulate ring.json --sizes 1MiB..16MiB",
    "topology": "topology dgx-a100:boxes=2,gpus=2",
    "train-time": "train-time switch-base-256 ring:nodes=4",
    "train-time-torus": "train-time switch-base-256 torus:dims=4x4,bandwidth=25/8",
    "tune": "tune ring:nodes=3 --sizes 64K..256K",
    "verify-flows": "verify flows.json",
    "verify-groups": "verify bundle.json",
    "verify-series": "verify series.json",
    "verify-steps": "verify steps.json",
    "verify-trees": "verify ring.json",
    "what-if-failures": "what-if dgx-a100:boxes=2,gpus=2 --fail links",
    "what-if-upgrades": "what-if ring:nodes=4 --upgrade",
}
"""The command that prints each kind of result."""

PAGES = {
    "compare": "compare ring:nodes=3 --baselines direct --html page.html",
    "view-network": "view dgx-a100:boxes=2,gpus=2 -o page.html",
    "view-schedule": "view ring.json -o page.html",
    "view-steps": "view steps.json -o page.html",
}
"""The command that writes each kind of page."""

EMBEDDED = re.compile(r"(<(style|script)[^>]*>)(?!\s*\{).*?(</\2>)", re.DOTALL)
"""Styles and programs, which are files of the package; data stays."""


@pytest.fixture(scope="module", autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Work in a folder with the files that the commands read."""
    folder = tmp_path_factory.mktemp("results")
    for each in (*LOGS, ROOT / "examples" / "profiles" / "tp-and-dp.json"):
        shutil.copy(each, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("forestcoll.cli.terminal_progress.LONG_SECONDS", 1e9)
        for command in MADE_FIRST:
            assert run_command(*shlex.split(command)).status == 0, command
        yield


def compare(name: str, content: str) -> None:
    """Compare with a golden file, or write it."""
    path, found = GOLDEN / name, masked(content)
    if "FORESTCOLL_WRITE_GOLDEN" in os.environ:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(found)
    assert found.decode() == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RESULTS)
def test_text_and_json(name: str) -> None:
    command = RESULTS[name]
    for ending, more in ((".txt", ""), (".json", " --json")):
        run = run_command(*shlex.split(command + more))
        assert run.status == 0, command + more
        compare(name + ending, (f"$ forestcoll {command}\n" if ending == ".txt" else "") + run.out)


@pytest.mark.parametrize("name", PAGES)
def test_pages(name: str) -> None:
    run = run_command(*shlex.split(PAGES[name]))
    assert run.status == 0
    compare(f"{name}.html", EMBEDDED.sub(r"\1\3", Path("page.html").read_text(encoding="utf-8")))


def test_no_golden_file_is_left_over() -> None:
    names = {f"{name}{ending}" for name in RESULTS for ending in (".txt", ".json")} | {f"{name}.html" for name in PAGES}
    assert {path.name for path in GOLDEN.iterdir()} == names
