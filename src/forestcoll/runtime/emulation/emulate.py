"""Runs a command on an emulated network: one process a rank, each in the namespace of its compute node."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from forestcoll.base.errors import InputError, shown
from forestcoll.base.progress import SILENT, Progress
from forestcoll.runtime.emulation.network import MAIN, Batch, EmulatedNetwork
from forestcoll.runtime.emulation.ranks import RankProcesses, Start, Timer
from forestcoll.runtime.emulation.rates import LinkChange, change_of, changed, emulated
from forestcoll.runtime.emulation.requirements import check_machine
from forestcoll.runtime.emulation.sandbox import run_in_sandbox
from forestcoll.runtime.emulation.system import mount_over
from forestcoll.runtime.environment import HOST, INTERFACE, LINKS, PACING, SEATS, TOPOLOGY
from forestcoll.topology import Topology, write_topology
from forestcoll.topology.model import TopologyLike
from forestcoll.topology.registry import load_topology

_MOST_BITS = 5 * 10**9
"""The bits a second that a small machine can carry; beyond that the processor is the limit."""

_STORE_PORT = 29500
_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""Open MPI refuses to start as root without these, and emulations need root."""

_CONGESTION_CONTROL = ("cubic", "reno")
"""The first that every namespace may use is taken: others, such as bbr, guess the rate of a shaped link badly."""

_SETTINGS = {
    "net.ipv4.ip_forward": "1",
    "net.ipv4.conf.all.rp_filter": "0",
    "net.ipv4.conf.default.rp_filter": "0",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv6.conf.all.disable_ipv6": "1",
    "net.ipv6.conf.default.disable_ipv6": "1",
}

_LEAST_SMOOTH = 10
"""In Mb/s: on slower links, a packet takes so long that TCP may send it twice."""


@dataclass(frozen=True)
class Emulation:
    """What runs on which network.

    Attributes:
        network: the emulated network.
        command: the command of each rank.
        changes: of links, while the ranks run.
        grace: how many seconds ranks may go on after one has failed.
        launcher: a program that starts the ranks, such as `mpirun -n 8`; nothing if they are started directly.
    """

    network: EmulatedNetwork
    command: tuple[str, ...]
    changes: tuple[LinkChange, ...]
    grace: float
    launcher: tuple[str, ...]

    @property
    def size(self) -> int:
        """The number of ranks."""
        return len(self.network.topology.compute)

    def environment(self, rank: int, topology_file: Path) -> dict[str, str]:
        """Return the environment variables of a rank that the emulation sets."""
        here, count = _place_in_box(self.network.topology, rank)
        return {
            TOPOLOGY: str(topology_file),
            LINKS: json.dumps(self.network.links_of(rank)),
            INTERFACE: self.network.main_address(rank),
            PACING: "1",
            HOST: _host(self.network.topology, rank),
            "RANK": str(rank),
            "WORLD_SIZE": str(self.size),
            "LOCAL_RANK": str(here),
            "LOCAL_WORLD_SIZE": str(count),
            "MASTER_ADDR": self.network.main_address(0),
            "MASTER_PORT": str(_STORE_PORT),
            "GLOO_SOCKET_IFNAME": MAIN,
            "NCCL_SOCKET_IFNAME": MAIN,
            "TP_SOCKET_IFNAME": MAIN,
            "FI_TCP_IFACE": MAIN,
        }

    def words(self, rank: int) -> tuple[str, ...]:
        """Return the command line that runs the command in the namespace of a rank."""
        return ("ip", "netns", "exec", f"rank{rank}", *self.command)


def emulate(emulation: Emulation, progress: Progress = SILENT) -> int:
    """Run the command of an emulation once for each rank, and wait for all ranks.

    Each rank is in a network namespace of its own, whose links have the rates of the topology. It gets the environment
    variables of torchrun (`RANK`, `WORLD_SIZE`, `MASTER_ADDR`, …) and those of forestcoll (`FORESTCOLL_TOPOLOGY`, …).
    All namespaces and processes end with this function or with its process.

    Args:
        emulation: the network, the command and its settings, from `planned`.
        progress: gets remarks.

    Returns:
        0 if all ranks returned 0, else the status of the first that failed; 128 + N for signal N.

    Raises:
        InputError: the machine cannot emulate networks; the message names what is missing.

    Example:
        `emulate(planned("ring:nodes=4", ["forestcoll", "bench"], scale="100Mbit=1"))`
    """
    check_machine()
    warn(emulation.network, progress)
    return run_in_sandbox(lambda folder: _run(emulation, folder))


def planned(  # noqa: PLR0913 (one parameter an option)
    topology: TopologyLike,
    command: Sequence[str],
    *,
    scale: str | None = None,
    degrade: Sequence[str] = (),
    grace: float = 30.0,
    launcher: str = "",
) -> Emulation:
    """Return what `emulate` runs, after a check of all arguments.

    Args:
        topology: a spec, a file, a networkx graph or a `Topology`.
        command: the program and its arguments.
        scale: `EMULATED=REAL`, such as `500Mbit=300GB/s`; None for links as fast as the real ones.
        degrade: changes of links while the ranks run, `A--B=RATE@T` each.
        grace: how many seconds the other ranks may go on after a rank has failed.
        launcher: a command line that starts the ranks, such as `mpirun -n 8`; without one they are started directly.

    Raises:
        InputError: an argument is bad.
    """
    if not command:
        raise InputError("emulate: there is no command; write one after --, such as -- forestcoll bench")
    words = shlex.split(launcher)
    started = [_found(command[0]), *command[1:]]
    launching = [_found(words[0]), *words[1:]] if words else []
    if not 0 <= grace <= 86400:
        raise InputError(f"emulate: grace is {grace:g}; give seconds from 0 to 86400")
    network = emulated(load_topology(topology), scale)
    changes = tuple(change_of(network, text) for text in degrade)
    return Emulation(EmulatedNetwork(network), tuple(started), changes, grace, tuple(launching))


def _found(program: str) -> str:
    """Return the path of a program on PATH, or of one that is installed in the same environment as this package."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    found = shutil.which(program, path=path)
    if found is None:
        raise InputError(f"emulate: there is no program {shown(program)}; give a program on PATH or its path")
    return found


def warn(network: EmulatedNetwork, progress: Progress) -> None:
    """Remark what makes an emulation differ from its topology."""
    total = network.most_traffic
    if total > _MOST_BITS:
        progress.remark(
            f"all ranks together can send {total / 1e9:.3g} Gbit/s; above about {_MOST_BITS / 1e9:g} Gbit/s the "
            "processor may be the limit, so use --scale for slower links"
        )
    slow = sum(link.bandwidth < _LEAST_SMOOTH for link in network.topology.links)
    if slow:
        progress.remark(
            f"{slow} links are slower than {_LEAST_SMOOTH} Mbit/s; TCP may send packets twice there, so use --scale "
            "for faster links"
        )
    if network.topology.able_switches:
        progress.remark("emulated switches do not copy or add up data, although the topology says that they can")


def _place_in_box(topology: Topology, rank: int) -> tuple[int, int]:
    """Return the number of a rank in its box and the number of ranks there; without boxes, all ranks are in one."""
    boxes = [topology.nodes[node].attributes.get("box") for node in topology.compute]
    return boxes[:rank].count(boxes[rank]), boxes.count(boxes[rank])


def _host(topology: Topology, rank: int) -> str:
    """Return the name of the host of a rank: its box; without boxes, all ranks are on one host."""
    box = topology.nodes[topology.compute[rank]].attributes.get("box")
    if box is None:
        return "host"
    return f"host{box}" if isinstance(box, int) else str(box)


def _run(emulation: Emulation, folder: Path) -> int:
    """Make the network, then run the ranks; the first process of a sandbox does this."""
    _build(emulation.network)
    _name_ranks(emulation, folder / "hosts")
    topology_file = folder / "topology.json"
    write_topology(emulation.network.topology, topology_file)
    timers = [
        Timer(change.after, partial(_apply, emulation, number + 1, topology_file))
        for number, change in enumerate(_in_order(emulation.changes))
    ]
    starts = _launched(emulation, folder, topology_file) if emulation.launcher else _direct(emulation, topology_file)
    return RankProcesses(starts, timers, emulation.grace).run()


def _name_ranks(emulation: Emulation, file: Path) -> None:
    """Let host names `rank0`, … lead to the main addresses: no name server can be reached in the namespaces.

    The names of IPv4 addresses mapped to IPv6 are for torch's store, which asks for them.
    """
    hosts = Path("/etc/hosts")
    if not hosts.exists():
        return
    lines = [hosts.read_text()]
    for rank in range(emulation.size):
        address = emulation.network.main_address(rank)
        lines.append(f"{address} rank{rank}\n::ffff:{address} mapped-rank{rank}")
    file.write_text("\n".join([*lines, ""]))
    mount_over(str(file), str(hosts))


def _in_order(changes: Sequence[LinkChange]) -> list[LinkChange]:
    return sorted(changes, key=lambda change: change.after)


def _direct(emulation: Emulation, topology_file: Path) -> list[Start]:
    return [
        Start(f"rank {rank}", emulation.words(rank), _merged(emulation.environment(rank, topology_file)))
        for rank in range(emulation.size)
    ]


def _launched(emulation: Emulation, folder: Path, topology_file: Path) -> list[Start]:
    """Return the start of the launcher; it starts `emulation.seat`, which finds out its rank and goes on from there."""
    seats = folder / "seats.json"
    listed = [
        {"words": emulation.words(rank), "environment": emulation.environment(rank, topology_file)}
        for rank in range(emulation.size)
    ]
    seats.write_text(json.dumps(listed))
    words = [*emulation.launcher, sys.executable, "-m", "forestcoll.runtime.emulation.seat"]
    return [Start(Path(words[0]).name, words, _ROOT | dict(os.environ) | {SEATS: str(seats)})]


def _merged(environment: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment with that of a rank; processes share the cores, so each has one thread."""
    return {"OMP_NUM_THREADS": "1"} | dict(os.environ) | dict(environment)


def _build(network: EmulatedNetwork) -> None:
    _issue(network.creation())
    for name in network.namespaces:
        _apply_settings(name)
    _issue(network.wiring())
    for batch in (*network.switching(), *network.forwarding(), *network.addressing(), *network.shaping()):
        _issue(batch)


def _apply(emulation: Emulation, done: int, topology_file: Path) -> None:
    """Make the latest of `done` changes, and replace the topology file."""
    changes = _in_order(emulation.changes)[:done]
    for batch in emulation.network.change(changes[-1]):
        _issue(batch)
    write_topology(changed(emulation.network.topology, changes), topology_file)


def _issue(batch: Batch) -> None:
    if not batch.lines:
        return
    text = "\n".join(batch.lines) + "\n"
    done = subprocess.run(batch.words, input=text, capture_output=True, text=True, check=False)  # noqa: S603 (iproute2)
    if done.returncode != 0:
        said = " ".join(done.stderr.split())[:200]
        raise InputError(f"emulate: {' '.join(batch.words)} failed: {said}; does this machine have the kernel for it?")


def _apply_settings(namespace: str) -> None:
    """Give a namespace that has no links yet its settings."""
    lines = "".join(f"[ ! -e {_path(name)} ] || echo {value} > {_path(name)}\n" for name, value in _settings().items())
    words = ["ip", "netns", "exec", namespace, "sh", "-e"]
    done = subprocess.run(words, input=lines, capture_output=True, text=True, check=False)  # noqa: S603 (fixed words)
    if done.returncode != 0:
        raise InputError(
            f"emulate: the settings of namespace {namespace} failed: {' '.join(done.stderr.split())[:200]}"
        )


def _settings() -> dict[str, str]:
    """Return the settings and their values; those that this kernel does not have are left out when they are applied."""
    allowed = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split()
    control = next((name for name in _CONGESTION_CONTROL if name in allowed), None)
    return _SETTINGS | ({} if control is None else {"net.ipv4.tcp_congestion_control": control})


def _path(name: str) -> str:
    return f"/proc/sys/{name.replace('.', '/')}"
