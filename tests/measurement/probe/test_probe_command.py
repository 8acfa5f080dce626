"""`forestcoll probe`: its launchers, and how it fails; tests/torch_backend/test_torch_probe.py runs it."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from forestcoll.measurement.probe import ProbeRequest, probe
from forestcoll.runtime.emulation.requirements import missing
from forestcoll.topology.importers.reading import import_topology
from started import alone, completed, free_port, in_threads, mpirun, refusal, words

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
SMALL = ("--sizes", "64K", "--repeat", "1")


@needs_torch
@pytest.mark.slow  # half a minute
def test_torchrun_launches(tmp_path: Path) -> None:
    port, output = free_port(), tmp_path / "measured.json"
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(port)]
    done = completed([*launcher, "-m", "forestcoll", "probe", "-o", str(output), *SMALL])
    assert done.returncode == 0, done.stderr
    assert "2 ranks on 1 host" in done.stdout
    assert f"Next: forestcoll import {output} -o network.json" in done.stdout
    assert len(import_topology(output).topology.compute) == 2


def test_mpirun_launches(tmp_path: Path) -> None:
    output = tmp_path / "measured.json"
    done = completed([mpirun(), "-n", "3", *words("-o", output, *SMALL, "--json", command="probe")])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["backend"] == "mpi"
    assert len(import_topology(output).topology.compute) == 3


@pytest.mark.parametrize(
    ("arguments", "size", "status", "message"),
    [
        ((), 0, 2, "Missing option '-o'"),
        (("-o", "m.json", "--repeat", "0"), 0, 2, "'--repeat'"),
        (("-o", "m.json", "--sizes", "x"), 0, 2, "'--sizes'"),
        (("-o", "m.json", "--backend", "ucx"), 0, 2, "'--backend'"),
        (("-o", "m.json"), 0, 1, "probe: this process has no rank; start it by a launcher: torchrun"),
        (("-o", "m.json"), 1, 1, "probe: there is one process; start two or more"),
        (("-o", "no-such-folder/m.json"), 1, 1, "no-such-folder does not exist"),
        (("-o", "."), 1, 1, ".: is a folder"),
    ],
)
def test_wrong_usage_is_refused(  # noqa: PLR0917 (a row of the table)
    arguments: tuple[str, ...],
    size: int,
    status: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    found, err = refusal(capsys, "probe", *arguments, variables=alone(size) if size else {})
    assert (found, err.count("\n")) == (status, 1)
    assert message in err
    assert not list(tmp_path.iterdir())


def test_a_fault_of_rank_0_ends_all_ranks() -> None:
    first, other = in_threads(2, lambda launch: probe(launch, ProbeRequest(backend="mpi")), "probe")
    assert "--backend mpi needs mpirun and mpi4py" in str(first)
    assert isinstance(other, SystemExit)


@needs_torch
@pytest.mark.slow
@pytest.mark.skipif(missing() is not None, reason=f"no emulation here: {missing()}")
def test_shaped_links_are_found(tmp_path: Path) -> None:
    """Two hosts of two ranks: 400 Mb/s inside of a host, and 100 Mb/s that both ranks share to the outside."""
    from forestcoll.algorithms.generate import optimum
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
    done = completed([*emulate, *words("-o", output, "--sizes", "1M", command="probe")])
    assert done.returncode == 0, done.stderr
    assert [each["name"] for each in json.loads(output.read_text())["hosts"]] == ["node0", "node1"]
    found = import_topology(output)
    assert (
        "all ranks of a host share one link to the outside: together, they are slower than their sum" in found.assumed
    )
    real, measured = optimum(tmp_path / "shaped.json"), optimum(found.topology)
    assert measured.algbw * 8000 == real.algbw  # GB/s and Mb/s
