"""Asks an installed NCCL library, in a process of its own with a time limit, for its tuning table of a job."""

import importlib.util
import json
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path
from typing import Any

from forestcoll.base.errors import InputError
from forestcoll.nccl.choice.host import HostFiles
from forestcoll.nccl.choice.table import ALGORITHMS, COLLECTIVES, PROTOCOLS, Entry, Key, Table

NAME = "libnccl.so.2"
_SECONDS = 60
"""How long a library may take. It takes about one second, and 15 for two hosts of 72 GPUs."""


def installed() -> Path | None:
    """Return the library that is installed beside this package, as torch brings it, or in the system; else None."""
    found = importlib.util.find_spec("nvidia")
    for folder in (found.submodule_search_locations or ()) if found else ():
        if (path := Path(folder, "nccl", "lib", NAME)).is_file():
            return path
    name = find_library("nccl")
    return Path(name) if name == NAME else None


def ask(library: Path, host: HostFiles, hosts: int) -> Table:
    """Return the table that a library makes of a job on hosts of these kinds.

    Raises:
        InputError: the library cannot be loaded, is of an unknown version, refuses the machine, crashes, or takes too
            long.
    """
    ranks = host.gpus * hosts
    request = {
        "library": str(library.absolute() if library.exists() else library),  # without a folder, dlopen searches others
        "topologies": host.texts,
        "hosts": hosts,
        "local": host.gpus,
        "capability": host.capability,
        "is_amd": host.is_amd,
        "nvls": host.nvls,
    }
    found = _answer(library, request)
    entries = {
        Key(collective, algorithm, protocol): Entry(
            found["latencies"][place], found["bandwidths"][place], found["channel_bytes"][place % len(_PAIRS)]
        )
        for place, (collective, (algorithm, protocol)) in enumerate(
            (collective, pair) for collective in COLLECTIVES for pair in _PAIRS
        )
        if found["bandwidths"][place] > 0
    }
    version, graphs = found["version"], tuple(found["graphs"])
    source = f"NCCL {version} ({library})"
    return Table(version, source, host.capability, hosts, ranks, found["channels"], entries, graphs)


_PAIRS = tuple((algorithm, protocol) for algorithm in ALGORITHMS for protocol in PROTOCOLS)


def _answer(library: Path, request: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-P", "-m", "forestcoll.nccl.choice.asking"]
    try:
        done = subprocess.run(  # noqa: S603 (fixed words)
            command, input=json.dumps(request), capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"{library}: gave no answer within {_SECONDS} s") from None
    if done.returncode or not done.stdout:
        raise InputError(f"{library}: ended with status {done.returncode} when it was asked about the machine")
    found: dict[str, Any] = json.loads(done.stdout)
    if "error" in found:
        text = found["error"].removeprefix(f"{request['library']}: ")
        raise InputError(f"{library}: {text}")
    return found
