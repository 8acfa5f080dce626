"""Listings that tools of InfiniBand, Slurm and hwloc write of simulated systems mean what the description means."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest
from software import package_of

from import_tools import import_text, problem

pytestmark = pytest.mark.judges

LEAVES, UPLINKS, HOSTS = 3, 2, 4
SDR = Fraction(1)
"""GB/s of a link of ibsim, four lanes of SDR."""


def net_file() -> str:
    """A fabric for ibsim: leaf switches with hosts, and two links from each to one spine."""
    spine = [f'[{number}] "leaf{(number - 1) // UPLINKS}"[{20 + (number - 1) % UPLINKS}]' for number in range(1, 7)]
    lines = ['Switch 36 "spine"', *spine]
    for leaf in range(LEAVES):
        lines += ["", f'Switch 36 "leaf{leaf}"']
        lines += [f'[{port}] "h{leaf * HOSTS + port - 1}"[1]' for port in range(1, HOSTS + 1)]
        lines += [f'[{20 + number}] "spine"[{leaf * UPLINKS + number + 1}]' for number in range(UPLINKS)]
    for host in range(LEAVES * HOSTS):
        lines += ["", f'Hca 2 "h{host}"', f'[1] "leaf{host // HOSTS}"[{host % HOSTS + 1}]']
    return "\n".join(lines) + "\n"


@contextmanager
def running(command: list[str], folder: Path, seconds: float, **variables: str) -> Iterator[None]:
    """Run a server for a while, which is given time to start."""
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=os.environ | variables)
    try:
        time.sleep(seconds)
        assert process.poll() is None, (folder / "server.log").read_text()
        yield
    finally:
        process.terminate()
        process.wait(20)


def output(command: list[str], folder: Path, **variables: str) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False, env=os.environ | variables
    )
    assert done.stdout, done.stderr
    return done.stdout


def test_ibnetdiscover_and_iblinkinfo_list_the_fabric_that_ibsim_simulates(tmp_path: Path) -> None:
    found = package_of(
        {
            "ibsim": "ibsim-utils",
            "ibnetdiscover": "infiniband-diags",
            "iblinkinfo": "infiniband-diags",
            "opensm": "opensm",
        }
    )
    library = next(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"), None)
    if library is None:
        pytest.skip("libumad2sim.so is missing; apt-get install libumad2sim0")
    (tmp_path / "net").write_text(net_file())
    client = {"LD_PRELOAD": str(library), "SIM_HOST": "h0"}
    with running([found["ibsim"], "-s", "-n", "net"], tmp_path, 2):
        listed = output([found["ibnetdiscover"]], tmp_path, **client)
        down = output([found["iblinkinfo"]], tmp_path, **client)
        output([found["opensm"], "-o", "-f", str(tmp_path / "opensm.log")], tmp_path, **client)
        infos = [output([found["iblinkinfo"], *more], tmp_path, **client) for more in ([], ["--line"])]
    expected = import_text(net_file(), link_bandwidth=1)
    assert expected.bandwidths == {SDR: 2 * LEAVES * HOSTS, UPLINKS * SDR: 2 * LEAVES}
    for text, name in [(listed, "ibnetdiscover"), *((each, "iblinkinfo") for each in infos)]:
        imported = import_text(text)
        assert imported.format == name
        assert imported.bandwidths == expected.bandwidths
        assert len(imported.topology.compute) == LEAVES * HOSTS
        assert len(imported.topology.nodes) == len(expected.topology.nodes)
    assert "no link is active, and 36 ports are in the state Initialize; start a subnet manager" in problem(down)


TOPOLOGY_CONF = """SwitchName=leaf0 Nodes=n[0-3]
SwitchName=leaf1 Nodes=n[4-7]
SwitchName=spine Switches=leaf[0-1]
"""


def slurm_conf(folder: Path, name: str) -> str:
    settings = {
        "ClusterName": "judge",
        "SlurmctldHost": f"{name}(127.0.0.1)",
        "SlurmUser": "root",
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={folder}/munge.socket",
        "StateSaveLocation": folder,
        "SlurmctldPidFile": folder / "slurmctld.pid",
        "SlurmctldPort": 16817,
        "SlurmdSpoolDir": folder,
        "ProctrackType": "proctrack/pgid",
        "SelectType": "select/linear",
        "TopologyPlugin": "topology/tree",
    }
    nodes = "NodeName=n[0-7] NodeAddr=127.0.0.1 CPUs=1\nPartitionName=p Nodes=ALL Default=YES State=UP\n"
    return "".join(f"{key}={value}\n" for key, value in settings.items()) + nodes


def test_scontrol_prints_the_topology_that_slurm_was_given(tmp_path: Path) -> None:
    found = package_of({"munged": "munge", "slurmctld": "slurmctld", "scontrol": "slurm-client"})
    if os.geteuid():
        pytest.skip("slurmctld and munged need root here")
    (tmp_path / "topology.conf").write_text(TOPOLOGY_CONF)
    (tmp_path / "slurm.conf").write_text(slurm_conf(tmp_path, os.uname().nodename.partition(".")[0]))
    (tmp_path / "key").write_bytes(os.urandom(1024))
    (tmp_path / "key").chmod(0o400)
    places = {
        "key-file": "key",
        "socket": "munge.socket",
        "log-file": "m.log",
        "pid-file": "m.pid",
        "seed-file": "seed",
    }
    munged = [found["munged"], "--foreground", "--force"]
    munged += [f"--{option}={tmp_path / name}" for option, name in places.items()]
    conf = str(tmp_path / "slurm.conf")
    with running(munged, tmp_path, 1), running([found["slurmctld"], "-D", "-f", conf], tmp_path, 4):
        printed = output([found["scontrol"], "show", "topology"], tmp_path, SLURM_CONF=conf)
    ours, theirs = import_text(TOPOLOGY_CONF, link_bandwidth=25), import_text(printed, link_bandwidth=25)
    assert theirs.format == "slurm"
    assert theirs.topology.links == ours.topology.links
    assert theirs.topology.nodes == ours.topology.nodes


def test_lstopo_without_a_matrix_of_gpus_is_refused_with_what_to_run_instead(tmp_path: Path) -> None:
    found = package_of({"lstopo-no-graphics": "hwloc-nox"})
    for given in ([], ["-i", "numa:2 l3:1 core:4 pu:1"]):
        text = output([found["lstopo-no-graphics"], *given, "--of", "xml"], tmp_path)
        assert "has no matrix of NVLink or xGMI bandwidths" in problem(text)
