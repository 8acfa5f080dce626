"""NCCL's tables of our machines, which `tools/nccl_tables.py` has asked of real libraries: `tables.jsonl.gz`.

A line has the table of one kind of host and number of hosts, with all versions that make it. The key is the hash of the
topology file that NCCL was given (`host`). An entry is a latency in microseconds, a bandwidth in GB/s, and the bytes of
a channel.
"""

import gzip
import json
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files

from forestcoll.demand.collective import Collective
from forestcoll.nccl.choice.host import HostFiles
from forestcoll.nccl.choice.table import ALGORITHMS, COLLECTIVES, PROTOCOLS, Entry, Key, Table

VERSIONS = ("2.28.9", "2.30.7", "2.32.3")
"""The versions whose tables are stored, the newest last."""

FILE = "tables.jsonl.gz"
"""The name of the file in this folder."""


def key_of(host: HostFiles) -> str:
    """Return the key of a kind of host."""
    return sha256(f"{''.join(host.texts)}{host.nvls}".encode()).hexdigest()[:12]


def stored(host: HostFiles, hosts: int, version: str) -> Table | None:
    """Return the stored table of a job on such hosts; None if there is none.

    Args:
        host: the host.
        hosts: the number of hosts.
        version: one of `VERSIONS`.
    """
    for line in _lines().get(f'{{"key": "{key_of(host)}", "hosts": {hosts},', ()):
        found = json.loads(line)
        if version in found["versions"]:
            source = f"NCCL {version} (stored table)"
            read = {key: Entry(*values) for name, values in found["entries"].items() for key in _keys(name)}
            entries = {key: read[key] for key in sorted(read, key=_place)}
            return Table(version, source, host.capability, hosts, host.gpus * hosts, found["channels"], entries)
    return None


@cache
def _lines() -> Mapping[str, list[str]]:
    """Return the lines by their beginning: the key and the number of hosts."""
    found = defaultdict(list)
    text = gzip.decompress(files(__package__).joinpath(FILE).read_bytes()).decode()
    for line in text.splitlines():
        found[line[: line.index(' "versions"')]].append(line)
    return found


def _keys(name: str) -> list[Key]:
    collectives, algorithm, protocol = name.split()
    return [Key(Collective(each), algorithm, protocol) for each in collectives.split("+")]


def _place(key: Key) -> tuple[int, int, int]:
    """Return the place of a key in NCCL's own table."""
    return COLLECTIVES.index(key[0]), ALGORITHMS.index(key[1]), PROTOCOLS.index(key[2])
