"""Add a format of networks by one file. It is found by its content, read by name with an option, and listed."""

import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from dropped import dropped_in
from forestcoll.cli.main import forestcoll
from forestcoll.topology.importers.importer import by_content, importers
from forestcoll.topology.importers.reading import import_topology
from forestcoll.topology.registry import build_topology, load_topology
from forestcoll.topology.writers.formats import write_network
from refusal import refusal

FILE = '''
"""Necklaces: the word necklace, and beads in a circle."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from forestcoll.base.parameters import flag
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.options import missing_speed
from forestcoll.topology.importers.source import Source


@importers.add("paper-necklace", summary="beads on a necklace", tried=35)
@dataclass(frozen=True)
class Necklace(Importer):
    """Reads beads on a necklace."""

    link_bandwidth: Fraction | None = option("link_bandwidth")
    is_open: bool = flag("whether the first bead and the last one are not joined")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the first word is necklace."""
        return text.startswith("necklace")

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the network; a bead is a compute node."""
        if self.link_bandwidth is None:
            raise missing_speed(source.where, "what a string carries", "--link-bandwidth")
        notes.assume("a string is full duplex")
        builder = TopologyBuilder(source.stem, where=source.where)
        beads = source.text.split()[1:]
        for bead in beads:
            builder.add_compute(bead)
        for one, other in pairwise(beads if self.is_open else beads + beads[:1]):
            builder.add_duplex(one, other, self.link_bandwidth)
        return builder
'''


@pytest.fixture(autouse=True)
def _dropped_in(tmp_path: Path) -> Iterator[None]:
    with dropped_in(importers, "paper_necklace", FILE, tmp_path):
        yield


@pytest.fixture
def beads(tmp_path: Path) -> Path:
    path = tmp_path / "beads.txt"
    path.write_text("necklace a b c d\n")
    return path


def test_it_is_found_by_its_content(beads: Path) -> None:
    found = import_topology(beads, link_bandwidth="200Gb/s")
    assert (found.format, found.assumed) == ("paper-necklace", ("a string is full duplex",))
    assert found.bandwidths == {Fraction(25): 8}
    line = refusal(load_topology, beads)
    assert f"run 'forestcoll import {beads} --link-bandwidth GBPS -o network.json'" in line


def test_it_is_read_by_its_name_with_options(beads: Path) -> None:
    text = "paper-necklace:link_bandwidth=25,is_open=true"
    found = import_topology(beads, importer=text)
    assert found.bandwidths == {Fraction(25): 6}
    assert found == import_topology(beads, importer="paper-necklace", link_bandwidth=25, is_open=True)
    assert found == import_topology(beads, importer=importers.read(text))
    rounded = import_topology(beads, importer=f"{text},rounding=1")
    assert rounded.bandwidths == {Fraction(20): 6}
    assert "it looks like beads on a necklace" in refusal(import_topology, beads, importer="nccl-xml")


def test_it_is_listed_and_completed() -> None:
    names = [spec.name for spec in by_content()]
    place = names.index("paper-necklace")
    assert names[place - 1 : place + 2] == ["nvidia-smi-nvlink", "paper-necklace", "amd-smi"]
    items = ShellComplete(forestcoll, {}, "forestcoll", "_C").get_completions(["import", "f", "--format"], "paper")
    assert [(item.value, item.help) for item in items] == [("paper-necklace", "beads on a necklace")]


def test_a_wrong_name_or_option_is_refused_with_what_is_near(beads: Path) -> None:
    said = refusal(import_topology, beads, importer="paper-neckless")
    assert "'paper-neckless': no such format; did you mean 'paper-necklace'?" in said
    said = refusal(import_topology, beads, importer="paper-necklace:is_opn=true")
    assert said.startswith("paper-necklace: there is no parameter 'is_opn'; did you mean 'is_open'?")
    said = refusal(import_topology, beads, is_opn=True)
    assert said.startswith("there is no option 'is_opn'; did you mean 'is_open'?")
    said = refusal(import_topology, beads, link_bandwidth=25, nvlink=25)
    assert "--nvlink has no effect on format paper-necklace, only on nccl-xml, " in said


IMPORTED = """
import sys
from forestcoll.topology.importers.reading import import_topology
from forestcoll.topology.registry import load_topology
load_topology(sys.argv[1])
import_topology(sys.argv[1], rounding=2)
import_topology(sys.argv[1], importer="forestcoll")
import_topology(sys.argv[2], importer="gml")
print(*sorted(name for name in sys.modules if name.partition(".importers.")[2].count(".")))
"""


def test_a_file_of_this_project_or_a_name_imports_no_other_importer(tmp_path: Path) -> None:
    write_network(build_topology("ring:nodes=3"), tmp_path / "ring.json")
    gml = "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 bandwidth 5 ] ]"
    (tmp_path / "two.gml").write_text(gml)
    words = [sys.executable, "-c", IMPORTED, str(tmp_path / "ring.json"), str(tmp_path / "two.gml")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603
    assert [name.rpartition(".")[2] for name in done.stdout.split()] == ["forestcoll", "gml", "names", "plain"]
