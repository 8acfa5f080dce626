"""Add machines by one file: a network, and boxes of GPUs. Each is built, listed, completed and answered for."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from dropped import dropped_in
from forestcoll import builders, load_topology, optimum
from forestcoll.cli.main import forestcoll
from forestcoll.topology.registry import _REGISTRY, Size, recipe_of
from refusal import refusal

FILE = '''
"""Workbenches: GPUs on one PCIe switch, and boxes of four GPUs on a ring of NVLinks with a NIC each."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.machines._boxes import DirectBoxes
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder("paper-workbench", summary="GPUs on a PCIe switch", source="a test")
@dataclass(frozen=True)
class Workbench(Recipe):
    """GPUs on one switch."""

    gpus: int = integer(4, "GPUs", minimum=2, is_size=True)
    pcie_bandwidth: Fraction = link_bandwidth(32, "GB/s each way of a GPU")

    def size(self) -> Size:
        return Size(self.gpus, 2 * self.gpus)  # compute nodes, and one-way links

    def fill(self, network: TopologyBuilder) -> None:
        network.add_switch("pcie")
        for number in range(self.gpus):
            network.add_duplex(network.add_compute(f"gpu{number}"), "pcie", self.pcie_bandwidth)


@topology_builder("paper-rings", summary="boxes of 4 GPUs on a ring, a NIC for each", source="a test")
@dataclass(frozen=True)
class Rings(DirectBoxes):
    """Boxes of four GPUs."""

    boxes: int = integer(1, "boxes", is_size=True)
    gpus: int = integer(4, "GPUs of each box", maximum=4)
    nvlink_bandwidth: Fraction = link_bandwidth(100, "GB/s each way between neighbours")
    nic_bandwidth: Fraction = link_bandwidth(25, "GB/s each way of a NIC")

    def pairs(self) -> dict[tuple[int, int], Fraction]:
        joined = [*pairwise(range(self.gpus)), *([(0, 3)] if self.gpus == 4 else [])]
        return dict.fromkeys(joined, self.nvlink_bandwidth)
'''


@pytest.fixture(autouse=True)
def _dropped_in(tmp_path: Path) -> Iterator[None]:
    with dropped_in(_REGISTRY, "paper_workbench", FILE, tmp_path):
        yield


def test_it_is_built_and_answered_for() -> None:
    bench = load_topology("paper-workbench:pcie_bandwidth=16")
    assert (bench.name, len(bench.compute)) == ("paper-workbench:gpus=4,pcie_bandwidth=16", 4)
    assert optimum(bench).algbw == Fraction(64, 3)  # a GPU receives 3/4 of the data over its link
    assert optimum("paper-rings").algbw == Fraction(800, 3)  # 3/4 over two links
    assert optimum("paper-rings:boxes=2").algbw == 200  # half of it over four NICs


def test_its_size_is_that_of_the_network() -> None:
    for spec in ("paper-workbench", "paper-rings:boxes=3", "paper-rings:boxes=2,gpus=3"):
        network = load_topology(spec)
        assert recipe_of(spec)[1].size() == Size(len(network.compute), len(network.links))


def test_it_is_listed_and_completed() -> None:
    assert {"paper-rings", "paper-workbench"} <= {each.name for each in builders()}
    items = ShellComplete(forestcoll, {}, "forestcoll", "_C").get_completions(["optimum"], "paper-w")
    assert [(item.value, item.help) for item in items if item.help] == [("paper-workbench", "GPUs on a PCIe switch")]


def test_a_wrong_name_or_parameter_is_refused_with_what_is_near() -> None:
    assert "did you mean 'paper-workbench'?" in refusal(lambda: load_topology("paper-workbnech"))
    assert "did you mean 'pcie_bandwidth'?" in refusal(lambda: load_topology("paper-workbench:pcei_bandwidth=16"))
    assert "gpus is '1'; expected an integer from 2" in refusal(lambda: load_topology("paper-workbench:gpus=1"))
