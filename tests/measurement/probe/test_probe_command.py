"""`forestcoll probe` between processes on loopback: its file, its JSON, its launchers, and how it fails."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forestcoll.runtime.emulation.requirements import missing
from forestcoll.topology.importers.formats import import_topology
from started import LIMIT, Ended, environment, free_port, run_ranks, words

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
SMALL = ("--sizes", "64K", "--repeat", "1", "--timeout", "60")


def probe(size: int, *arguments: object, launched: int | None = None, **more: str) -> Ended:
    return run_ranks("probe", size, *arguments, launched=launched, **more)


@needs_torch
def test_ranks_write_one_file_that_can_be_imported(tmp_path: Path) -> None:
    ended = probe(3, "-o", tmp_path / "measured.json", *SMALL, "--json", FORESTCOLL_HOST="node7")
    document = ended.document()
    assert "forestcoll: measuring pairs of ranks of a host\n" in ended.err[0]
    assert "measuring" not in ended.err[1]
    assert (document["hosts"], document["ranks"], document["backend"]) == (1, 3, "gloo")
    rows = document["measurements"]
    assert isinstance(rows, list)
    assert [(row["kind"], row["count"]) for row in rows] == [("pair", 6), ("one-to-all", 3), ("all-to-one", 3)]
    written = json.loads((tmp_path / "measured.json").read_text())
    assert written["format"] == "forestcoll.measurements/1"
    assert written["hosts"] == [{"name": "node7", "ranks": [0, 1, 2]}]
    assert [len(each["flows"]) for each in written["measurements"]] == [1] * 6 + [2] * 6
    assert all(flow[3] > 0 for each in written["measurements"] for flow in each["flows"])
    assert [latency[:2] for latency in written["latencies"]] == [[0, 1]]
    imported = import_topology(tmp_path / "measured.json")
    assert (imported.format, len(imported.topology.compute)) == ("measurements", 3)
    assert list(tmp_path.iterdir()) == [tmp_path / "measured.json"]


@needs_torch
@pytest.mark.slow  # half a minute
def test_torchrun_launches(tmp_path: Path) -> None:
    port, output = free_port(), tmp_path / "measured.json"
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(port)]
    done = subprocess.run(  # noqa: S603 (our own command)
        [*launcher, "-m", "forestcoll", "probe", "-o", str(output), *SMALL],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "2 ranks on 1 host" in done.stdout
    assert f"Next: forestcoll import {output} -o network.json" in done.stdout
    assert len(import_topology(output).topology.compute) == 2


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed")
def test_mpirun_launches(tmp_path: Path) -> None:
    mpirun = shutil.which("mpirun") or shutil.which("mpirun", path=str(Path(sys.executable).parent))
    if mpirun is None:
        pytest.skip("mpirun is not installed")
    output = tmp_path / "measured.json"
    done = subprocess.run(  # noqa: S603 (our own command)
        [mpirun, "-n", "3", *words("-o", output, *SMALL, "--json", command="probe")],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["backend"] == "mpi"
    assert len(import_topology(output).topology.compute) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "no-such-folder/measured.json"), "no-such-folder does not exist"),
        pytest.param(("-o", "."), ".: is a folder", marks=pytest.mark.slow),
        (("-o", "measured.json", "--backend", "mpi"), "--backend mpi needs mpirun and mpi4py"),
    ],
)
def test_a_fault_of_rank_0_ends_all_ranks(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = probe(2, *arguments, "--timeout", "30")
    assert ended.statuses == [1, 1]
    assert ended.out == ["", ""]
    assert message in ended.err[0]
    assert ended.err[1] == ""
    assert not list(tmp_path.iterdir())


@needs_torch
def test_a_missing_rank_ends_all_others_and_nothing_is_written(tmp_path: Path) -> None:
    ended = probe(3, "-o", tmp_path / "measured.json", "--backend", "gloo", "--timeout", "3", launched=2)
    assert ended.statuses == [1, 1]
    assert any("rank 2 did not answer rank 0 within 3 s" in text for text in ended.err)
    assert not any("Traceback" in text for text in ended.err)
    assert not list(tmp_path.iterdir())


def test_one_process_is_refused(tmp_path: Path) -> None:
    ended = probe(1, "-o", tmp_path / "measured.json", "--timeout", "5")
    assert ended.statuses == [1]
    assert "probe: there is one process; start two or more" in ended.err[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Missing option '-o'"),
        (("-o", "m.json", "--repeat", "0"), "'--repeat'"),
        (("-o", "m.json", "--sizes", "x"), "'--sizes'"),
        (("-o", "m.json", "--backend", "ucx"), "'--backend'"),
    ],
)
def test_wrong_usage_is_refused(arguments: tuple[str, ...], message: str) -> None:
    done = subprocess.run(  # noqa: S603 (our own command)
        words(*arguments, command="probe"),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 2
    assert message in done.stderr


def test_a_process_without_a_launcher_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S603 (our own command)
        words("-o", tmp_path / "m.json", command="probe"),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 1
    assert "probe: this process has no rank; start it by a launcher: torchrun" in done.stderr
    assert done.stderr.count("\n") == 1


@needs_torch
@pytest.mark.slow
@pytest.mark.skipif(missing() is not None, reason=f"no emulation here: {missing()}")
def test_shaped_links_are_found(tmp_path: Path) -> None:
    """Two hosts of two ranks: 400 Mb/s inside of a host, and 100 Mb/s that both ranks share to the outside."""
    from forestcoll.solver.optimum import optimum
    from forestcoll.topology import TopologyBuilder, write_topology

    builder = TopologyBuilder("shaped", bandwidth_unit="Mb/s")
    fabric = builder.add_switch("fabric")
    for host in range(2):
        nic = builder.add_switch(f"nic{host}", box=f"node{host}", device="nic")
        switch = builder.add_switch(f"switch{host}", box=f"node{host}")
        builder.add_duplex(nic, fabric, 100)
        for gpu in range(2):
            node = builder.add_compute(f"{host}/{gpu}", box=f"node{host}")
            builder.add_duplex(node, switch, 400)
            builder.add_duplex(node, nic, 100)
    write_topology(builder.build(), tmp_path / "shaped.json")
    output = tmp_path / "measured.json"
    emulate = [sys.executable, "-m", "forestcoll", "emulate", str(tmp_path / "shaped.json"), "--"]
    done = subprocess.run(  # noqa: S603 (our own command)
        [*emulate, *words("-o", output, "--sizes", "1M", "--timeout", "60", command="probe")],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [each["name"] for each in json.loads(output.read_text())["hosts"]] == ["node0", "node1"]
    found = import_topology(output)
    assert (
        "all ranks of a host share one link to the outside: together, they are slower than their sum" in found.assumed
    )
    real, measured = optimum(tmp_path / "shaped.json"), optimum(found.topology)
    assert measured.algbw * 8000 == real.algbw  # GB/s and Mb/s
