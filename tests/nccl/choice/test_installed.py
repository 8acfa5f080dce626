"""Libraries of NCCL that are asked: the real ones of `make nccl`, and files that are none."""

import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll import compare, load_topology
from forestcoll.algorithms.baseline import AS_CHOSEN, BEST_SETTING
from forestcoll.algorithms.generate import problem_of
from forestcoll.nccl.choice.host import HostFiles, host_files
from forestcoll.nccl.choice.installed import ask, installed
from forestcoll.nccl.choice.sources import nccl_table
from forestcoll.nccl.choice.stored import stored
from forestcoll.nccl.settings import own_schedule
from refusal import refusal

HOST, HOSTS = host_files(problem_of("dgx-h100:boxes=2", "allgather"))


def built(folder: Path, code: str) -> Path:
    """Return a library with a function `ncclGetVersion`."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    source, path = folder / "fake.c", folder / "libnccl.so.2"
    source.write_text(f"int ncclGetVersion(int *version) {{ {code} return 0; }}")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", path, source], check=True)  # noqa: S603 (fixed words)
    return path


@pytest.mark.nccl
@pytest.mark.parametrize("spec", ["dgx-h100:boxes=4,nvls=true", "dgx-a100:boxes=1", "dgx-1:boxes=2", "dgx-b200"])
def test_stored_tables_are_those_of_the_library(real_nccl: Path, spec: str) -> None:
    host, hosts = host_files(problem_of(spec, "allgather"))
    asked = ask(real_nccl, host, hosts)
    kept = stored(host, hosts, asked.version)
    assert kept is not None
    assert (kept.channels, list(kept.entries)) == (asked.channels, list(asked.entries))
    for key, entry in asked.entries.items():
        assert kept.entries[key] == pytest.approx(entry, rel=1e-7)
        for power in range(3, 33):
            assert kept.microseconds(key, 2**power) == asked.microseconds(key, 2**power)


@pytest.mark.nccl
def test_hosts_that_differ_use_as_many_channels_as_the_worst(real_nccl: Path) -> None:
    network = problem_of("dgx-h100:boxes=4", "allgather").topology.without("b0/gpu0--ib")
    host, hosts = host_files(problem_of(network, "allgather"))
    hurt = ask(real_nccl, HostFiles(host.texts[:1], nvls=False), hosts)
    assert (len(host.texts), hurt.channels) == (2, 14)
    assert ask(real_nccl, host, hosts).channels == 14


@pytest.mark.nccl
def test_our_graph_file_is_a_better_setting_on_a_damaged_host(real_nccl: Path) -> None:
    mesh = load_topology("hgx-a100-4:boxes=1").degraded("b0/gpu0--b0/gpu1", to="75")
    found = compare(mesh, "allreduce", sizes=[2**30], baselines=[AS_CHOSEN, BEST_SETTING], nccl=real_nccl)
    own, best = found.row(AS_CHOSEN), found.row(BEST_SETTING)
    assert (own.algbw, best.algbw) == (
        Fraction(150),
        Fraction(575, 3),
    )  # 12 rings of one speed, and all chains that fit
    assert best.settings[0].endswith("NCCL_GRAPH_FILE of export --to nccl-graph")
    assert best.reason.endswith("the bound is reached for large data")


@pytest.mark.nccl
@pytest.mark.parametrize("spec", ["dgx-h100:boxes=2", "dgx-a100:boxes=1", "dgx-1:boxes=1", "aws-p5:boxes=2"])
def test_the_graph_that_nccl_finds_on_a_whole_machine_is_the_best_one(real_nccl: Path, spec: str) -> None:
    problem = problem_of(spec, "allgather")
    table = nccl_table(problem, real_nccl)
    assert len(table.graphs) == 1
    own, best = (own_schedule(problem, "RING", each).schedule.algbw for each in (table, None))
    assert own == best


def test_a_library_of_another_version_is_refused(tmp_path: Path) -> None:
    path = built(tmp_path, "*version = 21803;")
    message = refusal(lambda: ask(path, HOST, HOSTS))
    assert message == f"{path}: is NCCL 2.18.3; only 2.28.9, 2.30.7, 2.32.3 can be asked"


def test_a_library_without_the_functions_is_refused(tmp_path: Path) -> None:
    path = built(tmp_path, "*version = 22809;")
    assert "has no function" in refusal(lambda: ask(path, HOST, HOSTS))


def test_a_library_that_crashes_ends_its_own_process_only(tmp_path: Path) -> None:
    path = built(tmp_path, "__builtin_trap();")
    assert "ended with status -" in refusal(lambda: ask(path, HOST, HOSTS))


def test_a_library_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.nccl.choice.installed._SECONDS", 0.5)
    path = built(tmp_path, "for (volatile int always = 1; always;) {}")
    assert refusal(lambda: ask(path, HOST, HOSTS)) == f"{path}: gave no answer within 0.5 s"


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    missing = tmp_path / "libnccl.so.2"
    fix = "; give the path of a libnccl.so.2, or a version such as 2.30"
    assert refusal(lambda: ask(missing, HOST, HOSTS)).endswith(
        f"cannot open shared object file: No such file or directory{fix}"
    )


def test_a_file_in_the_folder_itself_needs_no_folder_before_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text("no library\n")
    monkeypatch.chdir(tmp_path)
    assert refusal(lambda: ask(Path("notes.txt"), HOST, HOSTS)).startswith("notes.txt: file too short; give the path")


def test_the_library_that_torch_brings_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "nvidia" / "nccl" / "lib"
    folder.mkdir(parents=True)
    (folder / "libnccl.so.2").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert installed() == folder / "libnccl.so.2"
