"""Every importer on mutated and on long inputs: whatever a file holds, it soon is a network or one line of error."""

import contextlib
import os
import random
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from test_amd_smi import MI300X
from test_fabrics import IBSIM, RINGS, TREE, YAML_BLOCKS, fabric, iblinkinfo, torus
from test_graphs import NATIVE, ZOO, gml, graphml, node_link, with_values
from test_hwloc_xml import dgx2, power
from test_matrices import peer_test
from test_measurements import cluster, computed, own_nics, switched
from test_nccl_xml import dgx_a100, mi300x, two_hives
from test_nvidia_smi import CUBE_MESH, DGX_A100, status
from test_simulators import FABRIC, INFRAGRAPH, LEAVES, SPECTRUM, taccl, yaml

from forestcoll.base.errors import InputError
from forestcoll.base.exact import json_text
from forestcoll.topology import topology_to_document
from forestcoll.topology.importers.importer import importer_of, importers
from forestcoll.topology.importers.measurements.document import measurements_text
from forestcoll.topology.importers.reading import import_sources
from forestcoll.topology.importers.source import Source
from forestcoll.topology.registry import build_topology
from networks import ALL_EXAMPLES

JSON_OF_AMD = '[{"gpu": 0, "bdf": "a", "links": [{"gpu": 1, "link_type": "XGMI", "num_hops": 1, "weight": 15}]}]'
OWN = json_text(topology_to_document(build_topology("ring:nodes=4,bandwidth=25/3")), indent=1)
INPUTS = {
    "forestcoll": [OWN],
    "nccl-xml": [dgx_a100(), mi300x(), two_hives()],
    "nvidia-smi-topo": [DGX_A100, CUBE_MESH],
    "nvidia-smi-nvlink": [status(4, 12)],
    "amd-smi": [MI300X, JSON_OF_AMD],
    "hwloc-xml": [dgx2(), power()],
    "measurements": [measurements_text(computed(cluster(2, 3), switched(3, 300, own_nics)))],
    "p2p-bandwidth": [peer_test(4, 272.5)],
    "ibnetdiscover": [fabric()],
    "iblinkinfo": [iblinkinfo()],
    "ibsim": [IBSIM],
    "sndlib": [NATIVE],
    "graphml": [graphml(with_values("capacity", 5))],
    "gml": [ZOO, gml(with_values("capacity", 5))],
    "infragraph": [INFRAGRAPH],
    "htsim": [LEAVES],
    "slurm": [TREE, RINGS, YAML_BLOCKS, torus("2x2x2", "n[1-8]")],
    "taccl": [taccl()],
    "astra-sim-ns3": [FABRIC, SPECTRUM],
    "astra-sim-analytical": [yaml("Ring, Switch", "4, 2", "50, 25", "500, 500")],
    "node-link": [node_link(with_values("capacity", 5))],
    "matrix": [",a,b,c\na,0,1,2\nb,1,0,2\nc,2,2,0\n"],
    "edge-list": ["a b 25\nb c {'capacity': 25}\n"],
    "adjacency-list": ["a b c\nb a\nc a\n"],
}
SPEEDS: dict[str, Any] = dict.fromkeys(("nvlink", "xgmi", "pcie", "nic", "link_bandwidth"), Fraction(25))
PIECES = [
    "", " ", "\n", "\t", "0", "-1", "9" * 30, "1e999", "nan", "1/0", "x", '"', "'", "<", ">", "&a;", "[", "]", "{", "}",
    ":", ",", "\x00", "\x1b[4m", "\ud7ff", "é", "GPU0", "NV12", "X", "null", "true", "[[[[", "]]>", "<!--", "*a", "&a ",
]  # fmt: skip
MUTATIONS = 600 if ALL_EXAMPLES in os.environ else 120
"""The mutations of all inputs of a format together."""

LENGTH = 2**17 if ALL_EXAMPLES in os.environ else 2**14
REPEATED = [
    "\n", " ", "=", "<", "<system", "<!--", "</system><system ", '"', "[", "(", "{", "- ", "1", "a", "#", "\t", ",",
    "GPU0 ", "GPU0 X ", "GPU 0: ", "Link 0: ", "NV12", "Switch 1 ", 'Switch\t1 "S-1" ', "node [ ", "graph [ ", "[1]",
    "SwitchName=", "topology: ", "devices:\n", "XGMI ", "Bandwidth Matrix (GB/s) ", "0 1 1Gbps 0 0\n", "0,1,", "a b\n",
    "GPU[0] : (Topology) Numa Node: ", "LINK TYPE TABLE\n", "\x1b[", "NIC0 : ", "Device: 0, a", "<a>", "&a;", "a:\n ",
]  # fmt: skip
LIMIT = 3 * LENGTH / 2**16
"""Seconds. A time that grows with the length of the text is far below it, and one with its square far above it."""


def test_every_format_has_inputs_and_each_is_found_by_its_content() -> None:
    assert set(INPUTS) == {spec.name for spec in importers.all()}, "INPUTS has one or more files of each format"
    for name, texts in INPUTS.items():
        for text in texts:
            spec = importer_of(text)
            assert spec is not None
            assert spec.name == name


def mutations(name: str, text: str, rng: random.Random) -> Iterator[str]:
    """Yield texts that differ from this one in one to three places, or end too early."""
    for _ in range(MUTATIONS // len(INPUTS[name])):
        changed = text
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(changed) + 1)
            end = min(len(changed), place + rng.choice([0, 0, 1, 1, 5, 40]))
            kind = rng.random()
            if kind < 0.6:
                changed = changed[:place] + rng.choice(PIECES) + changed[end:]
            elif kind < 0.75:
                changed = changed[:place]
            elif kind < 0.9:
                changed = changed[:end] + changed[place:]
            else:
                changed = changed[:place] + changed[place:end][::-1] + changed[end:]
        yield changed


def attempt(texts: list[str], name: str | None) -> None:
    sources = [Source.of(text.encode("utf-8", "replace"), Path(f"host{n}.txt")) for n, text in enumerate(texts)]
    try:
        import_sources(sources, name, **SPEEDS)
    except InputError as error:
        message = str(error)
    else:
        message = ""
    assert "\n" not in message
    assert len(message) < 1000


@pytest.mark.parametrize("name", INPUTS)
def test_only_input_errors_come_out(name: str) -> None:
    rng = random.Random(f"importers {name}")  # noqa: S311 (a test with a fixed seed)
    several = importers.named(name).facts.get("several")
    for text in INPUTS[name]:
        for changed in mutations(name, text, rng):
            attempt([changed], name)
            attempt([changed], None)
            if several and rng.random() < 0.2:
                attempt([text, changed], name)


@pytest.mark.parametrize("name", INPUTS)
def test_the_files_of_other_formats_give_one_line(name: str) -> None:
    for texts in INPUTS.values():
        for text in [*texts, "", "\n", "\x00", "{}", "[]", "<a/>", "0", "null"]:
            attempt([text], name)


def slow(run: Callable[[str], object]) -> dict[str, float]:
    """The repeated pieces on which a function takes more seconds than the limit."""
    texts = {piece: piece * (LENGTH // len(piece)) for piece in REPEATED}
    if ALL_EXAMPLES in os.environ:
        texts |= {f"{piece}, in lines": (piece.strip("\n") * (2**14 // len(piece)) + "x\n") * 4 for piece in REPEATED}
    found = {}
    for piece, text in texts.items():
        began = time.process_time()
        with contextlib.suppress(InputError):
            run(text)
        found[piece] = time.process_time() - began
    return {piece: seconds for piece, seconds in found.items() if seconds > LIMIT}


def test_the_format_of_a_long_text_is_found_soon() -> None:
    assert slow(importer_of) == {}


@pytest.mark.parametrize("name", INPUTS)
def test_a_long_text_is_refused_soon(name: str) -> None:
    def read(text: str) -> object:
        return import_sources([Source("host0.txt", text, "host0")], name)

    assert slow(read) == {}
