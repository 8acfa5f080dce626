"""The real NCCL as a judge of our topology and graph files; skipped without the libraries of `make nccl`."""

from pathlib import Path

import pytest

import nccl_judge
from forestcoll.nccl.lint import lint
from forestcoll.topology.importers.hosts.link_speeds import PCIE_WORDS, pcie_rate, pcie_speed
from forestcoll.topology.importers.source import Source

pytestmark = pytest.mark.nccl


def test_nccl_reads_our_files_as_they_are_meant_and_finds_no_faster_rings(real_nccl: Path) -> None:
    found = list(nccl_judge.cases())
    assert len(found) >= 40
    assert sum(each.chains is not None for each in found) >= 5
    for each, said in zip(found, nccl_judge.asked(found, real_nccl), strict=True):
        assert nccl_judge.fault(each, said) is None, each


def test_nccl_knows_exactly_the_words_for_speeds_that_the_lint_knows(real_nccl: Path) -> None:
    words = [*PCIE_WORDS, "2.5 GT/s PCIe", "16 GT/s PCIe", "16.0 GT/s", "5.0 GT/s", "64 GT/s", "Unknown", " 16 GT/s"]
    questions = []
    for each in words:
        slots = "".join(
            f'<pci busid="0000:0{gpu}:00.0" class="0x030200" link_speed="{each}" link_width="16">'
            f'<gpu dev="{gpu}" sm="90" gdr="1"/></pci>'
            for gpu in (1, 2)
        )
        bridge = '<pci busid="0000:0a:00.0" class="0x060400" link_speed="64.0 GT/s PCIe" link_width="16">'
        cpu = '<cpu numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">'
        text = f'<system version="1">{cpu}{bridge}{slots}</pci></cpu></system>'
        questions.append({"topology": text, "hosts": 1, "graph": None, "chains": False})
    for each, answer, question in zip(words, nccl_judge.answers(questions, real_nccl), questions, strict=True):
        assert nccl_judge.total(answer) == pcie_speed(pcie_rate(each, "nccl"), 16, "nccl"), each
        said = any("link_speed" in finding.text for finding in lint(Source("t", str(question["topology"]), "t")))
        assert said == (pcie_rate(each, "nccl") is None), each
