"""The folder of a simulation with ASTRA-sim: traces of a collective, a workload that calls it once, and all settings.

The sources are, in astra-sim/astra-sim, `CollectiveImplLookup.cc` and `Sys.cc` (system file), `Workload.cc` (workload),
`CmdLineParser.cc` (options), and `examples/` (the file of the memory). The collectives are those for which the system
file has a key; ASTRA-sim replaces a broadcast of a workload by a fixed time, and refuses a reduce.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from forestcoll.base.errors import InputError
from forestcoll.base.files import write_bytes
from forestcoll.base.folders import check_folder, replaced_folder
from forestcoll.programs.formats.chakra.writing import call, trace_path
from forestcoll.programs.model import Task
from forestcoll.topology import Topology
from forestcoll.topology.writers import analytical_yaml, ns3_text

COLLECTIVES = MappingProxyType(
    {
        Task.ALLREDUCE: ("all-reduce", 0),
        Task.ALLGATHER: ("all-gather", 2),
        Task.ALL_TO_ALL: ("all-to-all", 6),
        Task.REDUCE_SCATTER: ("reduce-scatter", 7),
    }
)
"""For each collective, the key of the system file and the number in the schema of Chakra (`CollectiveCommType`)."""

NETWORK = "network.yml"
"""The file of the network for the analytical model."""

_OWN = re.compile(r"(collective|workload)\.\d+\.et|(system|memory|logical)\.json|network\.(yml|txt)|run\.sh")
"""The names of all files that such a folder may have."""

_RUN = """\
#!/bin/sh
# Simulates the collective with ASTRA-sim's analytical model. ASTRA_SIM is the program
# AstraSim_Analytical_Congestion_Aware, which build/astra_analytical/build.sh of ASTRA-sim builds.
set -e
program=$(command -v "${ASTRA_SIM:-AstraSim_Analytical_Congestion_Aware}")
cd "$(dirname "$0")"
exec "$program" --workload-configuration=workload --system-configuration=system.json \\
    --remote-memory-configuration=memory.json --network-configuration=network.yml "$@"
"""


def files_of(topology: Topology, task: Task, traces: Sequence[bytes], size: int) -> Mapping[str, bytes]:
    """Return the content of each file of the folder, by its name.

    The network is `network.yml` for the analytical model, if that can express it, and else `network.txt` for ns-3.

    Args:
        topology: the network; each compute node is a rank, in the order of the nodes.
        task: the collective.
        traces: the content of the trace of each rank.
        size: the total data M, in bytes.

    Raises:
        InputError: ASTRA-sim has no key for the collective, some compute nodes have no rank, or no network file of
            ASTRA-sim can express the network.
    """
    if task not in COLLECTIVES:
        raise InputError(
            f"{topology.name}: ASTRA-sim has no key for a custom {task.value}; it has keys for "
            f"{', '.join(COLLECTIVES)}. Export chakra to write only the traces"
        )
    if len(traces) != len(topology.compute):
        raise InputError(
            f"{topology.name}: ASTRA-sim simulates all {len(topology.compute)} compute nodes, and {len(traces)} have a "
            "rank; make a schedule of all"
        )
    key, number = COLLECTIVES[task]
    system = {
        "scheduling-policy": "FIFO",
        "preferred-dataset-splits": 1,
        "local-mem-bw": 50,
        f"{key}-implementation-custom": ["collective"],
    }
    files = {"system.json": _json(system), "memory.json": _json({"memory-type": "NO_MEMORY_EXPANSION"})}
    workload = call(task.value, number, size)
    for rank, trace in enumerate(traces):
        files[trace_path(Path("collective"), rank).name] = trace
        files[trace_path(Path("workload"), rank).name] = workload
    return MappingProxyType(files | _network(topology))


def _network(topology: Topology) -> dict[str, bytes]:
    try:
        return {NETWORK: analytical_yaml.text_of(topology).encode(), "run.sh": _RUN.encode()}
    except InputError:
        logical = {"logical-dims": [str(len(topology.compute))]}
        return {"network.txt": ns3_text.text_of(topology).encode(), "logical.json": _json(logical)}


def _json(value: Mapping[str, object]) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def write_folder(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the files to a folder, completely or not at all. An older simulation in the folder is replaced.

    Raises:
        InputError: the folder has other files, or cannot be written.
    """
    check_astra_sim_folder(folder)
    with replaced_folder(folder) as made:
        for name, content in files.items():
            write_bytes(made / name, [content])


def check_astra_sim_folder(folder: Path) -> None:
    """Check that the files for ASTRA-sim can be written to `folder`, before a long computation.

    Raises:
        InputError: it is no folder, has other files, or cannot be written.
    """
    check_folder(folder, _own_names, "a simulation by ASTRA-sim")


def _own_names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if _OWN.fullmatch(path.name)}
