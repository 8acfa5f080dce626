"""No text keeps an importer busy: each pattern takes time that grows with the length of the text."""

import contextlib
import os
import time
from collections.abc import Callable

import pytest

from forestcoll.base.errors import InputError
from forestcoll.topology.importers.formats import FORMATS, format_of, import_sources
from forestcoll.topology.importers.options import ImportOptions
from forestcoll.topology.importers.source import Source
from networks import ALL_EXAMPLES

LENGTH = 2**17 if ALL_EXAMPLES in os.environ else 2**16
PIECES = [
    "\n", " ", "=", "<", "<system", "<!--", "</system><system ", '"', "[", "(", "{", "- ", "1", "a", "#", "\t", ",",
    "GPU0 ", "GPU0 X ", "GPU 0: ", "Link 0: ", "NV12", "Switch 1 ", 'Switch\t1 "S-1" ', "node [ ", "graph [ ", "[1]",
    "SwitchName=", "topology: ", "devices:\n", "XGMI ", "Bandwidth Matrix (GB/s) ", "0 1 1Gbps 0 0\n", "0,1,", "a b\n",
    "GPU[0] : (Topology) Numa Node: ", "LINK TYPE TABLE\n", "\x1b[", "NIC0 : ", "Device: 0, a", "<a>", "&a;", "a:\n ",
]  # fmt: skip
LIMIT = 3
TEXTS = {piece: piece * (LENGTH // len(piece)) for piece in PIECES}
if ALL_EXAMPLES in os.environ:
    TEXTS |= {f"{piece}, in lines": (piece.strip("\n") * (2**14 // len(piece)) + "x\n") * 4 for piece in PIECES}


def slow(run: Callable[[str], object]) -> dict[str, float]:
    """The texts on which a function takes more seconds than the limit."""
    found = {}
    for piece, text in TEXTS.items():
        began = time.process_time()
        with contextlib.suppress(InputError):
            run(text)
        found[piece] = time.process_time() - began
    return {piece: seconds for piece, seconds in found.items() if seconds > LIMIT}


def test_the_format_of_a_long_text_is_found_soon() -> None:
    assert slow(format_of) == {}


@pytest.mark.parametrize("name", [form.name for form in FORMATS])
def test_a_long_text_is_refused_soon(name: str) -> None:
    def read(text: str) -> object:
        return import_sources([Source("host0.txt", text, "host0")], ImportOptions(), format_name=name)

    assert slow(read) == {}
