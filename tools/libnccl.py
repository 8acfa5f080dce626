"""Asks a released libnccl, on a CPU and without a driver, what it makes of topology and graph files.

The wheels of NVIDIA keep their symbols, so the functions of the graph search can be called by address. One process asks
one library, because NCCL reads its environment once: `python libnccl.py LIBRARY < questions.json > answers.json`.
A question is `{"topology": XML, "hosts": 1 or more, "graph": XML or null, "chains": true for chains, else rings}`, an
answer `{"speed", "orders", "nics", "dump"}` or `{"error"}`.
"""

import ctypes
import json
import os
import re
import struct
import sys
import tempfile
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

MAX_NODES, MAX_CHANNELS = 1024, 32
RING, BALANCED_TREE = 4, 1


class Layout(NamedTuple):
    """Sizes in bytes of a version, by its debug information (gdb: `print sizeof(struct ncclXmlNode)`)."""

    xml_node: int
    graph: int
    nics: int
    is_one_of_several: int


LAYOUTS = {
    "2.28": Layout(10008, 148536, 147512, 32629320),
    "2.30": Layout(14104, 164920, 163896, 60626024),
    "2.32": Layout(14104, 164920, 163896, 60626024),
}
READ = "_Z22ncclTopoGetXmlFromFilePKcP7ncclXmli"
MAKE = "_Z24ncclTopoGetSystemFromXmlP7ncclXmlPP14ncclTopoSystemm"
PATHS = "_Z20ncclTopoComputePathsP14ncclTopoSystemP8ncclComm"
PREPARE = "_Z18ncclTopoSearchInitP14ncclTopoSystem"
SEARCH = "_Z15ncclTopoComputeP14ncclTopoSystemP13ncclTopoGraph"
DUMP = "_Z18ncclTopoDumpGraphsP14ncclTopoSystemiPP13ncclTopoGraph"


def symbols(path: Path) -> dict[str, int]:
    """Return the values of the symbols of a library; none if it was stripped."""
    elf = path.read_bytes()
    (start,), (number,) = struct.unpack_from("<Q", elf, 40), struct.unpack_from("<H", elf, 60)
    sections = list(struct.iter_unpack("<IIQQQQIIQQ", elf[start : start + 64 * number]))
    table = next((section for section in sections if section[1] == 2), None)
    if table is None:
        return {}
    names = elf[sections[table[6]][4] : sections[table[6]][4] + sections[table[6]][5]]
    wanted = {READ, MAKE, PATHS, PREPARE, SEARCH, DUMP, "ncclGetVersion"}
    found = {}
    for place, _, _, _, value, _ in struct.iter_unpack("<IBBHQQ", elf[table[4] : table[4] + table[5]]):
        name = names[place : names.index(b"\0", place)].decode()
        if name in wanted:
            found[name] = value
    return found


class Library:
    """A loaded library."""

    def __init__(self, path: Path) -> None:
        self.folder = Path(tempfile.mkdtemp())
        for name in [name for name in os.environ if name.startswith("NCCL_")]:
            del os.environ[name]
        os.environ |= {
            "NCCL_IGNORE_DISABLED_P2P": "2",
            "NCCL_DEBUG": "INFO",
            "NCCL_DEBUG_FILE": str(self.folder / "log"),
            "NCCL_DEBUG_SUBSYS": "INIT,ENV,GRAPH",
        }
        self.loaded = ctypes.CDLL(str(path))
        version = ctypes.c_int()
        self.loaded.ncclGetVersion(ctypes.byref(version))
        self.version = f"{version.value // 10000}.{version.value // 100 % 100}"
        self.layout = LAYOUTS[self.version]
        self.symbols = symbols(path)
        address = ctypes.cast(self.loaded.ncclGetVersion, ctypes.c_void_p).value or 0
        self.base = address - self.symbols["ncclGetVersion"]

    def call(self, name: str, *arguments: object) -> None:
        """Call an internal function. Raises `RuntimeError` with the last warning if it refuses."""
        if ctypes.CFUNCTYPE(ctypes.c_int)(self.base + self.symbols[name])(*arguments):
            log = (self.folder / "log").read_text(errors="replace")
            raise RuntimeError(
                ([line.partition("WARN ")[2] for line in log.splitlines() if "WARN " in line] or [name])[-1]
            )

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the rings that are searched, or those of a graph file, and what is dumped of them."""
        gpus = len(re.findall("<gpu ", question["topology"]))
        machine = self._machine(question["topology"], is_one_of_several=question["hosts"] > 1)
        os.environ.pop("NCCL_GRAPH_FILE", None)
        if question["graph"]:
            (self.folder / "graph.xml").write_text(question["graph"])
            os.environ["NCCL_GRAPH_FILE"] = str(self.folder / "graph.xml")
        dump = self.folder / "dump.xml"
        dump.unlink(missing_ok=True)
        os.environ["NCCL_GRAPH_DUMP_FILE"] = str(dump)
        graph = ctypes.create_string_buffer(self.layout.graph)
        kind = (1, BALANCED_TREE) if question["chains"] else (0, RING)
        struct.pack_into("<6i", graph, 0, *kind, 0, 0, 1, MAX_CHANNELS)
        self.call(SEARCH, machine, graph)
        self.call(DUMP, machine, ctypes.c_int(1), (ctypes.c_void_p * 1)(ctypes.addressof(graph)))
        channels, inside, between = struct.unpack_from("<i2f", graph, 24)
        orders = struct.unpack_from(f"<{channels * gpus}i", graph, 56)
        nics = struct.unpack_from(f"<{2 * channels}q", graph, self.layout.nics) if question["hosts"] > 1 else ()
        return {
            "speed": between if question["hosts"] > 1 else inside,
            "orders": [orders[place : place + gpus] for place in range(0, len(orders), gpus)],
            "nics": [nics[place : place + 2] for place in range(0, len(nics), 2)],
            "dump": dump.read_text(),
        }

    def _machine(self, text: str, *, is_one_of_several: bool) -> ctypes.c_void_p:
        ranks, rails = count(), count()  # a job adds these attributes itself
        text = re.sub("<gpu ", lambda _: f'<gpu rank="{next(ranks)}" ', text)
        if self.version == "2.32":
            text = re.sub("<net ", lambda _: f'<net rail="{next(rails)}" plane="0" ', text)
        (self.folder / "topology.xml").write_text(text)
        xml = ctypes.create_string_buffer(8 + MAX_NODES * self.layout.xml_node)
        struct.pack_into("<2i", xml, 0, 0, MAX_NODES)
        self.call(READ, ctypes.c_char_p(str(self.folder / "topology.xml").encode()), xml, ctypes.c_int(1))
        machine = ctypes.c_void_p()
        self.call(MAKE, xml, ctypes.byref(machine), ctypes.c_uint64(0))
        if is_one_of_several:
            ctypes.c_int.from_address((machine.value or 0) + self.layout.is_one_of_several).value = 1
        self.call(PATHS, machine, None)
        self.call(PREPARE, machine)
        return machine


def main() -> None:
    """Answer the questions on standard input."""
    library = Library(Path(sys.argv[1]))
    answers = []
    for question in json.load(sys.stdin):
        try:
            answers.append(library.answer(question))
        except RuntimeError as error:
            answers.append({"error": str(error)})
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
