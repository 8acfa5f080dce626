"""Ask released versions of NCCL on this CPU what they make of our topology files and graph files.

For each machine with no, one and two failed parts: NCCL parses the topology file, the graph file that is made of that
file is loaded and dumped with the same channels, NICs and speed, and NCCL's own rings are no faster than the best ones,
counted with its speeds. Prints docs/tables/nccl-rings.csv for each version. The wheels (about 200 MB each) are
downloaded to a cache outside of the checkout, once.

    python tools/nccl_judge.py --cache ~/.cache/forestcoll/nccl 2.28.9 2.30.7
"""

import argparse
import csv
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from forestcoll import Topology, load_topology
from forestcoll.base.errors import plural
from forestcoll.base.exact import as_float
from forestcoll.nccl.choice.host import numbered
from forestcoll.nccl.choice.stored import VERSIONS
from forestcoll.nccl.graph.channels import Channels
from forestcoll.nccl.graph.file import Graph, read_graphs
from forestcoll.nccl.graph.hosts import HostGraph, host_graphs
from forestcoll.nccl.topology_file import texts_of
from forestcoll.topology.changes import changed_network
from forestcoll.topology.importers.reading import import_sources
from forestcoll.topology.importers.source import Source

CACHE = Path.home() / ".cache" / "forestcoll" / "nccl"
LIBRARY = "nvidia/nccl/lib/libnccl.so.2"
NVLINK = {"hgx-a100-4": 25, "dgx-1": 25}
SWITCHED = ("dgx-2", "dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200")
WITH_NICS = ("dgx-1", "dgx-2", "hgx-a100-4", "dgx-a100", "dgx-h100", "dgx-b200", "aws-p5", "gb200-nvl72")


@dataclass(frozen=True)
class Case:
    """A host, what it has lost, and our files for it.

    Attributes:
        machine: its builder.
        damage: what it has lost, in words.
        hosts: how many such hosts there are.
        topology: its topology file.
        graph: the rings for it.
        chains: the rings and chains for an allreduce; None if chains carry no more than rings.
    """

    machine: str
    damage: str
    hosts: int
    topology: str
    graph: HostGraph
    chains: HostGraph | None

    @property
    def rings(self) -> Channels:
        """The rings."""
        return cast("Channels", self.graph.rings)


def downloaded(version: str, cache: Path) -> Path:
    """Return the library of a version; its wheel is downloaded if it is not in the cache."""
    found = cache / version / LIBRARY
    if not found.is_file():
        wheels = cache / "wheels"
        options = ("--quiet", "--no-deps", "--only-binary", ":all:", "-d", str(wheels), f"nvidia-nccl-cu13=={version}")
        subprocess.run([sys.executable, "-m", "pip", "download", *options], check=True)
        with zipfile.ZipFile(next(wheels.glob(f"*-{version}-*.whl"))) as wheel:
            wheel.extract(LIBRARY, cache / version)
    return found


def cases() -> Iterator[Case]:
    """Yield all hosts with no, one and two failed parts."""
    for machine, one in NVLINK.items():
        network = load_topology(f"{machine}:boxes=1")
        links = sorted({(min(each.source, each.target), max(each.source, each.target)) for each in network.links})
        firsts = links if machine == "dgx-1" else links[:1]
        double = next(link for link in links if network.bandwidths[link] > one)
        lost = [(), *((link,) for link in firsts), *combinations(links[:3], 2), (links[0], links[-1]), (double, double)]
        for each in lost:
            yield case(machine, "NVLink", network, [(link, one) for link in each])
    for machine in SWITCHED:
        network = load_topology(f"{machine}:boxes=1")
        one = 50 if machine == "dgx-b200" else 25
        switch = network.switches[0]
        for gpus in ((), (0,), (0, 3)):
            yield case(machine, "NVLink", network, [((gpu, switch), one) for gpu in gpus])
    for machine in WITH_NICS:
        network = load_topology(f"{machine}:boxes=2" + (",gpus=4" if machine == "gb200-nvl72" else ""))
        for count in range(3):
            yield without_nics(machine, network, count)

    for machine, text in pcie_boxes():
        yield of_text(machine, "none", 1, text)


def pcie_boxes() -> Iterator[tuple[str, str]]:
    """Yield topology files of two sockets without NVLink between them, as they are imported."""

    def gpu(number: int, links: str = "") -> str:
        slot = f'<pci busid="0000:0{number + 1}:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">'
        return f'{slot}<gpu dev="{number}" sm="80" gdr="1">{links}</gpu></pci>'

    def switch(number: int, *gpus: str) -> str:
        slot = f'<pci busid="0000:5{number}:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">'
        return f"{slot}{''.join(gpus)}</pci>"

    def system(kind: str, *sockets: str) -> str:
        head = f'affinity="ff" arch="x86_64" {kind}'
        cpus = (f'<cpu numaid="{number}" {head}>{each}</cpu>' for number, each in enumerate(sockets))
        return f'<system version="1">{"".join(cpus)}</system>'

    intel = 'vendor="GenuineIntel" familyid="6" modelid="143"'
    amd = 'vendor="AuthenticAMD" familyid="143" modelid="49"'
    pairs = [f'<nvlink target="0000:0{(number ^ 1) + 1}:00.0" count="4" tclass="0x030200"/>' for number in range(4)]
    yield "PCIe, 2 Intel, 2 switches", system(intel, switch(0, gpu(0), gpu(1)), switch(1, gpu(2), gpu(3)))
    yield "PCIe, 2 AMD, 8 GPUs", system(amd, *("".join(map(gpu, range(first, first + 4))) for first in (0, 4)))
    yield "PCIe, 1 AMD, 2 switches", system(amd, switch(0, gpu(0), gpu(1)) + switch(1, gpu(2), gpu(3)))
    linked = [gpu(number, pairs[number]) for number in range(4)]
    yield "NVLink pairs, 2 Intel", system(intel, linked[0] + linked[1], linked[2] + linked[3])


def case(machine: str, parts: str, network: Topology, lost: list[tuple[tuple[int, int], int]]) -> Case:
    """Return a host of its own without some NVLinks, each given by its ends and by what it carries."""
    bandwidths = dict[tuple[int, int], Fraction]()
    for (source, target), one in lost:
        for way in ((source, target), (target, source)):
            bandwidths[way] = bandwidths.get(way, network.bandwidths[way]) - one
    names = ["-".join(str(network.nodes[end].id).removeprefix("b0/") for end in ends) for ends, _ in lost]
    words = f"{plural(len(lost), parts)}: {', '.join(names)}" if lost else "none"
    return made(machine, words, 1, network.with_bandwidths(bandwidths))


def without_nics(machine: str, network: Topology, count: int) -> Case:
    """Return one of two hosts, each without its first NICs."""
    fabric = network.nodes[network.find("ib") or network.find("fabric") or len(network.nodes) - 1].id
    lost = [each for each in network.sources[network.find(fabric) or 0] if "b0/" in str(network.nodes[each].id)][:count]
    names = [str(network.nodes[each].id) for each in lost]
    gone = [f"{name.replace('b0/', box)}--{fabric}" for name in names for box in ("b0/", "b1/")]
    words = f"{plural(count, 'NIC')}: {', '.join(name.removeprefix('b0/') for name in names)}" if lost else "none"
    return made(machine, words, 2, changed_network(network, gone) if gone else network)


def made(machine: str, damage: str, hosts: int, network: Topology) -> Case:
    """Return the case of a network."""
    [text] = texts_of(network).values()
    return of_text(machine, damage, hosts, text)


def of_text(machine: str, damage: str, hosts: int, text: str) -> Case:
    """Return the case of a topology file; the rings are those of its network, with NCCL's speeds."""
    sources = [Source.of(text.encode(), Path(f"host{number}.xml")) for number in range(hosts)]
    collective = "allreduce" if hosts == 1 else "allgather"
    network = import_sources(sources, speeds="nccl").topology
    [graph], [both] = host_graphs(network), host_graphs(network, collective)
    return Case(machine, damage, hosts, text, graph, both if both.chains else None)


def asked(found: list[Case], path: Path) -> list[list[dict[str, Any]]]:
    """Return for each case what a library searches, what it loads of our rings and, if there are any, of our chains."""
    questions = []
    for each in found:
        common = {"topology": each.topology, "hosts": each.hosts, "chains": False}
        chains = [] if each.chains is None else [common | {"graph": each.chains.text, "chains": True}]
        questions.append([common | {"graph": None}, common | {"graph": each.graph.text}, *chains])
    said = iter(answers([question for each in questions for question in each], path))
    return [[next(said) for _ in each] for each in questions]


def answers(questions: list[dict[str, Any]], path: Path) -> list[dict[str, Any]]:
    """Return the answers of a library in the form of `libnccl.py`; topology files get the numbers of a job."""
    command = [sys.executable, str(Path(__file__).with_name("libnccl.py")), str(path)]
    with TemporaryDirectory() as folder:
        text = json.dumps([each | {"topology": numbered(each["topology"])} for each in questions])
        run = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=folder)
    found: list[dict[str, Any]] = json.loads(run.stdout)
    return found


def fault(each: Case, said: list[dict[str, Any]]) -> str | None:
    """Return what is wrong with our files or our optimum, or None."""
    if errors := [answer["error"] for answer in said if "error" in answer]:
        return f"refused: {errors[0]}"
    given = [(each.graph.file.rings, read_graphs(Source("g", said[1]["dump"], "g")).rings)]
    if each.chains is not None:
        given.append((each.chains.file.trees, read_graphs(Source("g", said[2]["dump"], "g")).trees))
    if any(_channels(ours) != _channels(dumped) for ours, dumped in given):
        return "the dump has other channels"
    if total(said[0]) > best(each) * 1.0001:
        return f"NCCL's own rings carry {total(said[0]):g}, and ours {best(each):g}"
    return None


def _channels(graph: Graph | None) -> object:
    return None if graph is None else (graph.channels, f"{as_float(graph.speed):.3g}")


def total(answer: dict[str, Any]) -> float:
    """Return what rings carry together, counted with NCCL's speeds."""
    return float(answer["speed"] * len(answer["orders"]))


def best(each: Case) -> float:
    """Return what our rings carry together."""
    return as_float(each.rings.total)


def row(each: Case, own: dict[str, Any]) -> tuple[str, ...]:
    """Return a row of the table."""
    rings, speed = each.rings, as_float(each.rings.speed)
    return (
        each.machine + (" x 2" if each.hosts > 1 else ""),
        each.damage,
        f"{len(own['orders'])} x {own['speed']:.4g} = {total(own):.4g}",
        f"{len(rings.orders)} x {speed:.4g} = {best(each):.4g}",
        f"{best(each) / total(own) - 1:+.1%}" if best(each) > 1.0001 * total(own) else "none",
    )


def main() -> None:
    """Print the table of each version, and exit with 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", default=VERSIONS, help="versions of the wheel nvidia-nccl-cu13")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where the wheels are kept")
    given = parser.parse_args()
    found, wrong = list(cases()), 0
    for version in given.versions:
        print(f"NCCL {version}: {len(found)} hosts; GB/s of all rings together, as NCCL counts them\n")
        table = csv.writer(sys.stdout, lineterminator="\n")
        table.writerow(("host", "lost", "NCCL's search", "best rings", "gain"))
        for each, said in zip(found, asked(found, downloaded(version, given.cache)), strict=True):
            problem = fault(each, said)
            wrong += problem is not None
            wrong_row = (each.machine, each.damage, f"WRONG: {problem}")
            table.writerow(row(each, said[0]) if problem is None else wrong_row)
        print()
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
