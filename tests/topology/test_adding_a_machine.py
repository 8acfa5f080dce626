"""Add a machine by one file. It is built by its text, listed, completed, and answered for by `optimum`."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from dropped import dropped_in
from forestcoll import builders, load_topology, optimum
from forestcoll.cli.main import forestcoll
from forestcoll.topology.registry import _REGISTRY
from refusal import refusal

FILE = '''
"""Workbenches: GPUs on one PCIe switch."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder("paper-workbench", summary="GPUs on a PCIe switch", source="a test")
@dataclass(frozen=True)
class Workbench(Recipe):
    """GPUs on one switch."""

    gpus: int = integer(4, "GPUs", minimum=2, is_size=True)
    pcie: Fraction = link_bandwidth(32, "GB/s each way of a GPU")

    bandwidth_unit = "GB/s"

    def size(self) -> Size:
        return Size(self.gpus + 1, 2 * self.gpus)

    def fill(self, network: TopologyBuilder) -> None:
        network.add_switch("pcie")
        for number in range(self.gpus):
            network.add_duplex(network.add_compute(f"gpu{number}"), "pcie", self.pcie)
'''


@pytest.fixture(autouse=True)
def _dropped_in(tmp_path: Path) -> Iterator[None]:
    with dropped_in(_REGISTRY, "paper_workbench", FILE, tmp_path):
        yield


def test_it_is_built_and_answered_for() -> None:
    bench = load_topology("paper-workbench:pcie=16")
    assert (bench.name, len(bench.compute)) == ("paper-workbench:gpus=4,pcie=16", 4)
    assert optimum(bench).algbw == Fraction(64, 3)  # a GPU receives 3/4 of the data over its link


def test_it_is_listed_and_completed() -> None:
    assert "paper-workbench" in [each.name for each in builders()]
    items = ShellComplete(forestcoll, {}, "forestcoll", "_C").get_completions(["optimum"], "paper")
    assert [(item.value, item.help) for item in items if item.help] == [("paper-workbench", "GPUs on a PCIe switch")]


def test_a_wrong_name_or_parameter_is_refused_with_what_is_near() -> None:
    assert "did you mean 'paper-workbench'?" in refusal(lambda: load_topology("paper-workbnech"))
    assert "did you mean 'pcie'?" in refusal(lambda: load_topology("paper-workbench:pcei=16"))
    assert "gpus is '1'; expected an integer from 2" in refusal(lambda: load_topology("paper-workbench:gpus=1"))
