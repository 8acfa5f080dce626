"""Ask NCCL for its tuning tables of our machines, and store the tables; no GPU is needed.

The libraries are those of `make nccl`. They are proprietary: they are downloaded to a cache, and never stored here.
"""

import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np

import nccl_judge
from forestcoll.algorithms.generate import problem_of
from forestcoll.nccl.choice import stored
from forestcoll.nccl.choice.host import HostFiles, host_files
from forestcoll.nccl.choice.installed import ask
from forestcoll.nccl.choice.table import Entry, Table

HOSTS = (*range(1, 17), 24, 32, 48, 64, 96, 128)
"""The numbers of hosts whose tables are stored."""

MACHINES = {
    "dgx-1": HOSTS,
    "dgx-2": HOSTS,
    "dgx-a100": HOSTS,
    "dgx-a100:pcie=true": HOSTS[1:],
    "hgx-a100-4": HOSTS,
    "dgx-h100": HOSTS,
    "dgx-h100:nvls=true": HOSTS,
    "dgx-b200": HOSTS,
    "dgx-b200:nvls=true": HOSTS,
}
"""The networks, and their numbers of hosts. A DGX H200 has the tables of a DGX H100."""

FILE = Path(__file__).parents[1] / "src" / "forestcoll" / "nccl" / "choice" / stored.FILE


def lines_of(machine: str, hosts: int, libraries: list[Path]) -> list[str]:
    """Return the lines of one machine, one for all versions with equal tables."""
    spec = f"{machine}{',' if ':' in machine else ':'}boxes={hosts}"
    host, _ = host_files(problem_of(spec, "allgather"))
    tables = [ask(library, host, hosts) for library in libraries]
    kinds: dict[tuple[object, ...], list[Table]] = {}
    for table in tables:
        kinds.setdefault((table.channels, *table.entries.items()), []).append(table)
    return [line_of(machine, host, kind) for kind in kinds.values()]


def line_of(machine: str, host: HostFiles, tables: Iterable[Table]) -> str:
    """Return the line of the file for tables of one machine that differ in their versions only."""
    first, *others = tables
    places: dict[tuple[str, str, Entry], list[str]] = defaultdict(list)
    for (collective, algorithm, protocol), entry in first.entries.items():
        places[algorithm, protocol, entry].append(collective.value)
    document = {
        "key": stored.key_of(host),
        "hosts": first.hosts,
        "versions": [first.version, *(each.version for each in others)],
        "machine": machine,
        "capability": host.capability,
        "cpu": "amd" if host.is_amd else "intel",
        "channels": first.channels,
        "entries": {
            f"{'+'.join(names)} {algorithm} {protocol}": [_short(entry.latency_us), _short(entry.bandwidth), entry[2]]
            for (algorithm, protocol, entry), names in places.items()
        },
    }
    return json.dumps(document)


def _short(value: float) -> float:
    """Return the shortest decimal number that is the same with 32 bits."""
    return float(str(np.float32(value)))


def main() -> None:
    """Ask, and write the file."""
    libraries = [nccl_judge.downloaded(version, nccl_judge.CACHE) for version in stored.VERSIONS]
    lines = []
    for machine, numbers in MACHINES.items():
        for hosts in numbers:
            lines += lines_of(machine, hosts, libraries)
        print(f"{machine}: {len(lines)} lines", file=sys.stderr)
    text = "".join(f"{line}\n" for line in lines)
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
