"""Asks a released libnccl, on a CPU and without a driver, what it makes of topology and graph files.

One process asks one library, because NCCL reads its environment once: `python libnccl.py LIBRARY < questions.json`.
A question is `{"topology": XML, "hosts": 1 or more, "graph": XML or null, "chains": true for chains, else rings}`; GPUs
of the topology file have a `rank`. An answer is `{"speed", "orders", "nics", "dump"}` or `{"error"}`.
"""

import ctypes
import json
import os
import re
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

from forestcoll.nccl.choice.asking import BALANCED_TREE, GRAPH_BYTES, RING, AskingError, Library

MAX_CHANNELS = 32
_NICS = 16 * 64
"""The bytes at the end of a graph that hold the NICs of 64 channels."""


class Judge(Library):
    """A library that says why it refuses a file."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._temporary = tempfile.TemporaryDirectory()  # goes with this object
        self.folder = Path(self._temporary.name)
        self.log = self.folder / "log"
        os.environ |= {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": str(self.log), "NCCL_DEBUG_SUBSYS": "INIT,ENV,GRAPH"}

    def call(self, name: str, *arguments: object) -> None:
        """Call the function of a step. Raises `AskingError` with NCCL's last warning if it refuses."""
        try:
            super().call(name, *arguments)
        except AskingError:
            lines = self.log.read_text(errors="replace").splitlines() if self.log.is_file() else []
            warnings = [line.partition("WARN ")[2] for line in lines if "WARN " in line]
            if warnings:
                raise AskingError(warnings[-1]) from None
            raise

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the rings that are searched, or those of a graph file, and what is dumped of them."""
        gpus, is_one_of_several = len(re.findall("<gpu ", question["topology"])), question["hosts"] > 1
        system = self.system(question["topology"], is_one_of_several=is_one_of_several)
        os.environ.pop("NCCL_GRAPH_FILE", None)
        if question["graph"]:
            (self.folder / "graph.xml").write_text(question["graph"])
            os.environ["NCCL_GRAPH_FILE"] = str(self.folder / "graph.xml")
        dump = self.folder / "dump.xml"
        dump.unlink(missing_ok=True)
        os.environ["NCCL_GRAPH_DUMP_FILE"] = str(dump)
        graph = self.graph(system, (1, BALANCED_TREE) if question["chains"] else (0, RING), 1, MAX_CHANNELS)
        self.call("dump", system, ctypes.c_int(1), (ctypes.c_void_p * 1)(ctypes.addressof(graph)))
        channels, inside, between = struct.unpack_from("<i2f", graph, 24)
        orders = struct.unpack_from(f"<{channels * gpus}i", graph, 56)
        at = GRAPH_BYTES[self.number] - _NICS
        nics = struct.unpack_from(f"<{2 * channels}q", graph, at) if is_one_of_several else ()
        return {
            "speed": between if is_one_of_several else inside,
            "orders": [orders[place : place + gpus] for place in range(0, len(orders), gpus)],
            "nics": [nics[place : place + 2] for place in range(0, len(nics), 2)],
            "dump": dump.read_text(),
        }


def main() -> None:
    """Answer the questions on standard input."""
    judge = Judge(sys.argv[1])
    answers = []
    for question in json.load(sys.stdin):
        try:
            answers.append(judge.answer(question))
        except AskingError as error:
            answers.append({"error": str(error)})
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
