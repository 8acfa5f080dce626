"""Asks an NCCL library for its tuning table of a job: the program of a process of its own, without GPU and driver.

The wheels of NVIDIA keep the names of all functions of `libnccl.so.2`. So NCCL's own reader of topology files, its
search for graphs and its cost model can be called by address, in this order: read the file, make the system, compute
its paths, search rings, trees and NVLS, compute the table. What stands in `struct ncclComm` at which place differs by
version; the offsets are those that `gdb` prints of the debug information of the wheels, as in
`print (long)&((struct ncclComm*)0)->nRanks`.

If hosts differ, each kind is searched. The table is made of the fewest channels and the lowest speeds of all, on which
the ranks of a communicator agree (NCCL 2.30, `init.cc`; not compared with a job).

The process reads a request as JSON from standard input, and writes the answer as JSON to standard output. A library
that does not have these offsets may crash, which ends this process only (`installed`).
"""

import ctypes
import json
import mmap
import os
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

_OFFSETS = {
    22809: {
        "rank": 1066192, "nRanks": 1066196, "nNodes": 1066376, "cpuVendor": 1066368, "cpuArch": 1066364,
        "minCompCap": 1066212, "maxCompCap": 1066216, "maxTreePattern": 1066152, "topo": 26280, "nChannels": 1066496,
        "bandwidths": 1068540, "latencies": 1068120, "maxThreads": 1068960, "threadThresholds": 1067952,
    },
    23007: {
        "rank": 1181424, "nRanks": 1181428, "nNodes": 1181608, "cpuVendor": 1181600, "cpuArch": 1181596,
        "minCompCap": 1181444, "maxCompCap": 1181448, "maxTreePattern": 1181384, "topo": 26792, "nChannels": 1181728,
        "bandwidths": 1183788, "latencies": 1183368, "maxThreads": 1184208, "threadThresholds": 1183200,
    },
    23203: {
        "rank": 1181416, "nRanks": 1181420, "nNodes": 1181612, "cpuVendor": 1181604, "cpuArch": 1181600,
        "minCompCap": 1181436, "maxCompCap": 1181440, "maxTreePattern": 1181376, "topo": 26792, "nChannels": 1181736,
        "bandwidths": 1184468, "latencies": 1184048, "maxThreads": 1185056, "threadThresholds": 1184888,
        "graphs": 26936, "enabled": 1183228, "localRanks": 1181620, "maxLocalRanks": 1181624, "minLocalRanks": 1181628,
        "rankToNode": 1181632, "nodeRanks": 1181656, "isOneRPN": 1185428, "nvlsSupport": 1185512,
        "intraRanks": 1185276,
    },
}  # fmt: skip
"""For each version, the offsets of members of `struct ncclComm`, in bytes."""

_COMM = 1_300_000
"""More than the size of `struct ncclComm`."""
_XML_NODE = {22809: 10008, 23007: 14104, 23203: 14104}
_XML_NODES = 1024
GRAPH_BYTES = {22809: 148536, 23007: 164920, 23203: 164920}
_SYSTEM_INTER = {22809: 32629320, 23007: 60626024, 23203: 60626024}
_HEAD = struct.Struct("<7i3f4i")
"""The head of `struct ncclTopoGraph`: id, pattern, crossNic, collNet, minChannels, maxChannels, nChannels, ..."""
_SYMBOL = struct.Struct("<IBBHQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")

RING, BALANCED_TREE, _TREE, _NVLS, _COLLNET_DIRECT = 4, 1, 3, 5, 6
"""Patterns of graphs."""

_FUNCTIONS = {
    "read": "_Z22ncclTopoGetXmlFromFilePKcP7ncclXmli",
    "make": "_Z24ncclTopoGetSystemFromXmlP7ncclXmlPP14ncclTopoSystemm",
    "paths": "_Z20ncclTopoComputePathsP14ncclTopoSystemP8ncclComm",
    "prepare": "_Z18ncclTopoSearchInitP14ncclTopoSystem",
    "search": "_Z15ncclTopoComputeP14ncclTopoSystemP13ncclTopoGraph",
    "dump": "_Z18ncclTopoDumpGraphsP14ncclTopoSystemiPP13ncclTopoGraph",
    "constants": "_Z26ncclTopoInitTunerConstantsP8ncclComm",
    "tune": "_Z17ncclTopoTuneModelP8ncclCommiiPP13ncclTopoGraph",
    "constants 2.32": "_Z26ncclTuningCostModelPreInitP8ncclComm",
    "tune 2.32": "_Z23ncclTuningCostModelInitP8ncclComm",
    "thresholds 2.32": "_Z29ncclTuningSetThreadThresholdsP8ncclComm",
}
_CELLS = 21
"""The number of pairs of an algorithm and a protocol; there are five collectives."""


class AskingError(Exception):
    """The library cannot be asked; the message says why."""


class Library:
    """A loaded library, whose internal functions can be called.

    Args:
        path: the file.

    Raises:
        AskingError: its offsets are not known, or it has no symbols.
        OSError: it cannot be loaded.
    """

    def __init__(self, path: str) -> None:
        for name in [name for name in os.environ if name.startswith("NCCL_")]:
            del os.environ[name]
        os.environ["NCCL_IGNORE_DISABLED_P2P"] = "2"  # without it, the driver is asked whether GPUs reach each other
        os.environ["NCCL_CONF_FILE"] = os.devnull
        library = ctypes.CDLL(path)
        number = ctypes.c_int()
        library.ncclGetVersion(ctypes.byref(number))
        self.number = number.value
        self.version = f"{number.value // 10000}.{number.value // 100 % 100}.{number.value % 100}"
        if self.number not in _OFFSETS:
            known = ", ".join(f"{each // 10000}.{each // 100 % 100}.{each % 100}" for each in _OFFSETS)
            raise AskingError(f"is NCCL {self.version}; only {known} can be asked")
        symbols = _symbols(path if "/" in path else _loaded(path))
        start = ctypes.cast(library.ncclGetVersion, ctypes.c_void_p).value or 0
        self._base = start - symbols["ncclGetVersion"]
        self._symbols = symbols

    def call(self, name: str, *arguments: object) -> None:
        """Call the function of a step.

        Raises:
            AskingError: there is no such function, or it refuses its arguments.
        """
        address = self._symbols.get(_FUNCTIONS[name])
        if address is None:
            raise AskingError(f"has no function {_FUNCTIONS[name]}; it was stripped")
        result = ctypes.CFUNCTYPE(ctypes.c_int)(self._base + address)(*arguments)
        if result:
            raise AskingError(f"refuses the machine (step '{name}', ncclResult_t {result})")

    def system(self, topology: str, *, is_one_of_several: bool) -> ctypes.c_void_p:
        """Return what NCCL makes of the topology file of a host, which has a `rank` on each GPU."""
        xml = ctypes.create_string_buffer(8 + _XML_NODES * _XML_NODE[self.number])
        struct.pack_into("<2i", xml, 0, 0, _XML_NODES)
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(topology)
            file.flush()
            self.call("read", ctypes.c_char_p(file.name.encode()), xml, ctypes.c_int(1))
        system = ctypes.c_void_p()
        self.call("make", xml, ctypes.byref(system), ctypes.c_uint64(0))
        ctypes.c_int.from_address((system.value or 0) + _SYSTEM_INTER[self.number]).value = int(is_one_of_several)
        self.call("paths", system, None)
        self.call("prepare", system)
        return system

    def dumped(self, system: ctypes.c_void_p, graphs: list[Any]) -> str:
        """Return the graph file that NCCL dumps of graphs."""
        with tempfile.TemporaryDirectory() as folder:
            os.environ["NCCL_GRAPH_DUMP_FILE"] = file = f"{folder}/graph.xml"
            pointers = (ctypes.c_void_p * len(graphs))(*map(ctypes.addressof, graphs))
            self.call("dump", system, ctypes.c_int(len(graphs)), pointers)
            return Path(file).read_text()

    def graph(self, system: ctypes.c_void_p, kind: tuple[int, int], least: int, most: int) -> Any:
        """Return a graph of `kind`, its id and pattern, with `least` to `most` channels; an empty one if most is 0."""
        graph = ctypes.create_string_buffer(GRAPH_BYTES[self.number])
        struct.pack_into("<6i", graph, 0, *kind, 0, 0, min(least, most), most)
        if most:
            self.call("search", system, graph)
        return graph


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the table that a library makes of a job.

    Args:
        request: `library`, the path; `topologies`, the topology file of each kind of host, with a `rank` on each GPU;
            `hosts` and `local`, the numbers of hosts and of GPUs in each; `capability`, the compute capability times
            10; `is_amd`, whether the CPUs are AMD's; `nvls`.

    Returns:
        `version`, `channels`, `graphs`, the graph file that NCCL dumps of the rings and trees of each kind of host, and
        lists in NCCL's order: `latencies` and `bandwidths` (0 where NCCL has switched it off) of 105 entries,
        `channel_bytes` of 21 pairs of algorithm and protocol.

    Raises:
        AskingError: the library is of another version, or refuses the machine.
    """
    library = Library(request["library"])
    hosts, local, capability = request["hosts"], request["local"], request["capability"]
    systems = [library.system(each, is_one_of_several=hosts > 1) for each in request["topologies"]]
    rings = [library.graph(each, (0, RING), 1, 32) for each in systems]
    counts = [_channels(each) for each in rings]
    trees = [library.graph(each, (1, BALANCED_TREE), n, n) for each, n in zip(systems, counts, strict=True)]
    dumps = [library.dumped(*each) for each in zip(systems, map(list, zip(rings, trees, strict=True)), strict=True)]
    most = 64 if request["nvls"] else 0
    ring, tree, heads = map(_merged, (rings, trees, [library.graph(each, (3, _NVLS), 1, most) for each in systems]))
    chain = library.graph(systems[0], (2, _TREE), 0, 0)
    direct = library.graph(systems[0], (4, _COLLNET_DIRECT), 0, 0)
    used = min(_channels(ring), _channels(tree))
    for graph in (ring, tree):
        struct.pack_into("<i", graph, 24, used)
    comm = ctypes.create_string_buffer(_COMM)
    offsets = _OFFSETS[library.number]
    _set(comm, offsets, rank=0, nRanks=hosts * local, nNodes=hosts, cpuVendor=2 if request["is_amd"] else 1, cpuArch=1)
    _set(comm, offsets, minCompCap=capability, maxCompCap=capability, nChannels=used)
    _set(comm, offsets, maxTreePattern=_HEAD.unpack_from(tree)[1])
    struct.pack_into("<Q", comm, offsets["topo"], systems[0].value)
    graphs = [tree, ring, direct, chain, heads, heads, tree]
    channels = min(2 * used, 64)
    if "graphs" in offsets:
        _tune_in_context(library, comm, graphs, request, channels)
    else:
        library.call("constants", comm)
        pointers = (ctypes.c_void_p * len(graphs))(*map(ctypes.addressof, graphs))
        library.call("tune", comm, ctypes.c_int(capability), ctypes.c_int(capability), pointers)
    return {"version": library.version, "channels": channels, "graphs": dumps, **_table(comm, offsets)}


def _channels(graph: Any) -> int:
    return int(_HEAD.unpack_from(graph)[6])


def _merged(graphs: list[Any]) -> Any:
    """Return the graph on which hosts with different graphs agree."""
    heads = zip(*map(_HEAD.unpack_from, graphs), strict=True)
    # id, pattern, crossNic, collNet, minChannels, maxChannels, nChannels, two speeds, latency, two types, same, hops
    merge = (min, min, max, min, min, min, min, min, min, max, max, max, min, max)
    _HEAD.pack_into(graphs[0], 0, *(each(values) for each, values in zip(merge, heads, strict=True)))
    return graphs[0]


def _set(comm: Any, offsets: dict[str, int], **values: int) -> None:
    for name, value in values.items():
        struct.pack_into("<i", comm, offsets[name], value)


def _tune_in_context(library: Library, comm: Any, graphs: list[Any], request: dict[str, Any], channels: int) -> None:
    """Compute the table with 2.32, which reads graphs and ranks of hosts from the communicator."""
    offsets, hosts, local = _OFFSETS[library.number], request["hosts"], request["local"]
    _set(comm, offsets, nChannels=channels, localRanks=local, maxLocalRanks=local, minLocalRanks=local, intraRanks=1)
    _set(comm, offsets, nvlsSupport=int(request["nvls"]))
    comm[offsets["isOneRPN"]] = int(local == 1)
    host_of = (ctypes.c_int * (hosts * local))(*(rank // local for rank in range(hosts * local)))
    ranks_of = ctypes.create_string_buffer(struct.pack("<iiQ", local, 0, 0) * hosts, 16 * hosts)
    struct.pack_into("<Q", comm, offsets["rankToNode"], ctypes.addressof(host_of))
    struct.pack_into("<Q", comm, offsets["nodeRanks"], ctypes.addressof(ranks_of))
    size = GRAPH_BYTES[library.number]
    for place, graph in enumerate(graphs):
        ctypes.memmove(ctypes.addressof(comm) + offsets["graphs"] + place * size, graph, size)
    for name in ("constants 2.32", "tune 2.32", "thresholds 2.32"):
        library.call(name, comm)


def _table(comm: Any, offsets: dict[str, int]) -> dict[str, Any]:
    latencies, bandwidths = (struct.unpack_from("<105f", comm, offsets[each]) for each in ("latencies", "bandwidths"))
    if "enabled" in offsets:  # a matrix [41][5]; the first 21 rows are pairs of an algorithm and a protocol
        is_on = struct.unpack_from("<205i", comm, offsets["enabled"])
        pairs = enumerate(bandwidths)
        bandwidths = tuple(each if is_on[place % _CELLS * 5 + place // _CELLS] else 0.0 for place, each in pairs)
    threads = struct.unpack_from(f"<{_CELLS}i", comm, offsets["maxThreads"])
    thresholds = struct.unpack_from(f"<{_CELLS}q", comm, offsets["threadThresholds"])
    return {
        "latencies": latencies,
        "bandwidths": tuple(max(each, 0.0) for each in bandwidths),
        "channel_bytes": [one * other for one, other in zip(threads, thresholds, strict=True)],
    }


def _loaded(name: str) -> str:
    """Return the path of a library that the system has found."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return next(path for line in lines if Path(path := line.rpartition(" ")[2]).name.startswith(name))


def _symbols(path: str) -> dict[str, int]:
    """Return the values of all functions of a 64-bit ELF file."""
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        (start,), (count,) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<H", data, 60)
        sections = list(_SECTION.iter_unpack(data[start : start + count * _SECTION.size]))
        table = next((each for each in sections if each[1] == 2), None)  # SHT_SYMTAB
        if table is None:
            raise AskingError("has no table of symbols; it was stripped")
        texts = sections[table[6]]
        names = data[texts[4] : texts[4] + texts[5]]
        symbols = list(_SYMBOL.iter_unpack(data[table[4] : table[4] + table[5]]))
    wanted = {"ncclGetVersion", *_FUNCTIONS.values()}
    found = {}
    for at, _, _, _, value, size in symbols:
        if size and (name := names[at : names.index(b"\0", at)].decode()) in wanted:
            found[name] = value
    return found


def main() -> None:
    """Answer the request on standard input. What the library prints goes to standard error."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        found = answer(json.load(sys.stdin))
    except OSError as error:
        found = {"error": f"{error}; give the path of a libnccl.so.2, or a version such as 2.30"}
    except (AskingError, AttributeError) as error:
        found = {"error": str(error)}
    json.dump(found, out)
    out.close()
    os._exit(0)  # libraries of CUDA may crash while they are unloaded


if __name__ == "__main__":
    main()
