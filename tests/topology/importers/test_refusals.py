"""Options of imports, rounding among them, and files that are refused in one line, or early because of a limit."""

import gzip
import json
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_fabrics import TREE
from test_graphs import NATIVE
from test_hwloc_xml import dgx2
from test_simulators import INFRAGRAPH

from forestcoll.base.exact import rounded
from forestcoll.topology import write_topology
from forestcoll.topology.importers import yaml_values
from forestcoll.topology.importers.graphs import plain
from forestcoll.topology.importers.hosts import amd_tables, hwloc_xml
from forestcoll.topology.importers.importer import importers
from forestcoll.topology.importers.matrices import matrix
from forestcoll.topology.importers.options import FIELDS
from forestcoll.topology.importers.reading import import_sources, import_topology
from forestcoll.topology.importers.simulators import infragraph
from forestcoll.topology.importers.source import Source
from import_tools import import_text, problem
from networks import examples, linked
from refusal import refusal

DIGITS = ("0", "61", "-1", "1.5", "much", "10000000000000", "\u0663")
SMI = "\tGPU0\tGPU1\nGPU0\t X \tNV12\nGPU1\tNV12\t X \n"


def test_an_option_or_format_with_a_wrong_value_is_named() -> None:
    above = "expected a number greater than 0 of at most 60 digits, such as 25, 25/3 or 400Gb/s"
    for form, option, value, said in [
        ("nccl-xml", "speeds", "fast", "'fast'; expected one of nominal, nccl"),
        ("matrix", "matrix", "ring", "'ring'; expected one of ports, complete"),
        ("nccl-xml", "nvlink", Fraction(0), f"0; {above}"),
        ("gml", "link_bandwidth", Fraction(-1, 2), f"-1/2; {above}"),
        *(("gml", "rounding", each, f"{each!r}; expected an integer from 1 to 60") for each in DIGITS),
        *(("measurements", "rounding", each, f"{each!r}; expected speeds, none, or an integer") for each in DIGITS),
    ]:
        message = f"{form}: {option} is {said}"
        assert refusal(importers.named(form).make, **{option: value}).startswith(message)
        assert refusal(import_text, SMI, form=form, **{option: value}).startswith(message)
        assert refusal(importers.read, f"{form}:{option}={value}").startswith(f"{form}: {option} is ")
    said = refusal(import_text, "a b 1\n", form="nccl-xm")
    assert "'nccl-xm': no such format; did you mean 'nccl-xml'" in said
    said = refusal(import_text, SMI, form="nccl-xml:nvlnk=25")
    assert "nccl-xml: there is no parameter 'nvlnk'; did you mean 'nvlink'" in said
    assert "there is no option 'nvlnk'; did you mean 'nvlink'" in refusal(import_text, SMI, nvlnk=25)
    assert "importer is 3; expected a text such as nccl-xml:nvlink=25" in refusal(import_text, SMI, form=3)


def test_options_are_given_in_the_text_or_by_name_and_may_have_a_unit() -> None:
    value = importers.read("nvidia-smi-topo:nvlink=200Gb/s")
    assert importers.text(value) == "nvidia-smi-topo:nvlink=25"
    wide = import_text(SMI, form="nvidia-smi-topo:nvlink=50")
    assert wide == import_text(SMI, nvlink=50) == import_text(SMI, form=value, nvlink=Fraction(50))
    assert wide == import_text(SMI, form="nvidia-smi-topo:nvlink=12", nvlink="400Gb/s")
    assert {link.bandwidth for link in wide.topology.links} == {Fraction(600)}


def test_files_are_text_of_one_format_and_several_only_for_hosts() -> None:
    said = problem("a b 1\n", "c d 1\n", form="edge-list")
    assert said == "host1.txt: a network in format edge-list is one file; import one at a time"
    said = problem(NATIVE, TREE)
    assert said.startswith("host1.txt: is in format slurm, and host0.txt in sndlib; ")
    path = Path("x.txt")
    assert refusal(Source.of, b"a \xff", path).startswith("x.txt: not UTF-8 text (byte 2); save it as UTF-8")
    said = refusal(Source.of, gzip.compress(b"a"), path)
    assert said.startswith("x.txt: compressed with gzip, but its name does not end in .gz")


def test_hosts_with_the_same_name_get_numbers() -> None:
    text = "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV4\tPIX\nGPU1\tNV4\t X \tPIX\nNIC0\tPIX\tPIX\t X \n"
    sources = [Source.of(text.encode(), Path(folder, "node.txt")) for folder in ("a", "b", "c")]
    found = import_sources(sources, nvlink=25, nic=50, pcie=32)
    boxes = {str(node.attributes["box"]) for node in found.topology.nodes if node.is_compute}
    assert boxes == {"node", "node-2", "node-3"}
    assert any("a second host is called 'node'; it is named 'node-2' here" in each for each in found.assumed)


AMD_GPU = {"gpu": 0, "links": [], "link_type": 1}


@pytest.mark.parametrize(
    ("module", "name", "most", "text", "said"),
    [
        (plain, "_KEPT", 1, '{"nodes": [{"id": 1, "a": 1, "b": 2}], "links": []}', "node 1 has more than 1 attributes"),
        (infragraph, "MAX_NODES", 20, INFRAGRAPH, "has more than 20 nodes; make it smaller"),
        (infragraph, "MAX_LINKS", 3, INFRAGRAPH, "an edge stands for more than 3 links"),
        (infragraph, "MAX_LINKS", 30, INFRAGRAPH, "has more than 30 links; make it smaller"),
        (matrix, "_MOST_ROWS", 1, "0,1\n1,0\n", "has more than 1 rows; import a smaller matrix"),
        (amd_tables, "_MOST_GPUS", 1, json.dumps([AMD_GPU] * 2), "lists more than 1 GPUs"),
        (hwloc_xml, "_MOST_OBJECTS", 3, dgx2(), "the matrix has more than 3 objects"),
        (yaml_values, "_MAX_BYTES", 9, INFRAGRAPH, "of YAML; import a smaller file"),
    ],
)
def test_a_file_beyond_a_limit_is_refused(
    module: Any, name: str, most: int, *, text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, most)
    assert said in problem(text, link_bandwidth=1, pcie=32)


def test_a_file_with_one_bad_number_is_recognised_and_pairs_without_a_value_are_listed() -> None:
    for text, said in [
        ("a b 5\nb c -5\nc a 3\n", "line 2: edge 'b' -> 'c': bandwidth '-5' must be greater than 0"),
        ("a b 5\nb c nan\nc a 3\n", "line 2: edge 'b' -> 'c': bandwidth 'nan' is not finite"),
        ("0,1,2\n1,0,-1\n2,1,0\n", "line 2: '-1' is below 0; expected GB/s"),
        ("0 1 2\n1 0 -1\n2 1 0\n", "line 2: '-1' is below 0; expected GB/s"),
        (",a,b,c\na,0,1,2\nb,1,0,inf\nc,2,1,0\n", "line 3: 'inf' is not finite"),
        ("0,1,2\n1,0,fast\n2,1,0\n", "line 2: 'fast' is not a number"),
        ("a,b\n1,2\n", "line 2: has 2 values, but the matrix has 1 row; write a square"),
    ]:
        assert problem(text).startswith(f"host0.txt: {said}")
    for text in ("0,1,2\n1,0,\n2,1,0\n", "0,1,2\n1,0,nan\n2,1,0\n", "0,1,2,\n1,0,nan,\n2,1,0,\n"):
        assert import_text(text).ignored[0] == "1 pair without a value, such as 1 to 2 (line 2)"


def test_a_file_of_another_format_than_the_given_one_is_named() -> None:
    words = "it looks like the matrix of nvidia-smi topo -m; leave --format out, or give --format nvidia-smi-topo"
    for form in ("nccl-xml", "sndlib", "slurm", "infragraph", "edge-list", "p2p-bandwidth"):
        assert problem(SMI, form=form) == f"host0.txt: is not in format {form}: {words}"
    said = "has no <system>; expected topology XML of NCCL, which NCCL_TOPO_DUMP_FILE=topo.xml writes"
    assert problem("nothing of it\n", form="nccl-xml") == f"host0.txt: {said}"


def test_an_option_without_effect_is_refused_and_one_that_the_file_does_not_need_is_noted() -> None:
    matrix = "has no effect on format nvidia-smi-topo, only on"
    edges = "has no effect on format edge-list, only on"
    rows: list[tuple[str, dict[str, Any], str]] = [
        (SMI, {"speeds": "nccl"}, f"--speeds {matrix} nccl-xml"),
        (SMI, {"matrix": "complete"}, f"--matrix {matrix} p2p-bandwidth, matrix"),
        ("a b 5\nb a 5\n", {"xgmi": 20, "pcie": 5}, f"--xgmi {edges} nccl-xml, amd-smi, infragraph"),
    ]
    for text, options, said in rows:
        assert problem(text, **options) == f"host0.txt: {said}; leave it out"

    def useless(text: str, **options: Any) -> list[str]:
        ignored = import_text(text, **options).ignored
        return [said.partition(": ")[0] for said in ignored if "the same without it" in said]

    assert useless("a b 5\nb a 5\n", link_bandwidth=7) == ["--link-bandwidth"]
    assert useless("a b\nb a 5\n", link_bandwidth=7) == []
    assert useless(SMI, nvlink=25, pcie=16, nic=25) == ["--pcie", "--nic"]
    assert useless("0,1\n1,0\n", matrix="complete") == []


def test_the_options_of_a_format_are_those_that_its_reader_uses() -> None:
    assert {each.name for spec in importers.all() for each in spec.parameters} == set(FIELDS)
    for spec in importers.all():
        text = Path(str(sys.modules[spec.module].__file__)).read_text()
        used = set(re.findall(r"\b(?:self|options)\.([a-z_]+)\b", text)) & set(FIELDS)
        assert used <= {each.name for each in spec.parameters}, spec.name


@examples(100)
@given(st.fractions(min_value=0, max_value=10**70), st.integers(1, 60))
def test_a_rounded_number_has_the_digits_and_is_near(number: Fraction, digits: int) -> None:
    near = rounded(number, digits)
    assert abs(near - number) <= number / (2 * Fraction(10) ** (digits - 1))
    assert rounded(near, digits) == near
    whole = near
    while whole.denominator > 1:
        whole *= 10
    assert len(str(whole.numerator).rstrip("0")) <= digits


def test_a_file_of_any_format_is_rounded(tmp_path: Path) -> None:
    long = linked("a b", f"a=b:{10**40 + 1}/3@0.123456", name="long numbers")
    write_topology(long, tmp_path / "long.json")
    (tmp_path / "edges.txt").write_text("a b 1.23456\nb a 1\n")
    found = import_topology(tmp_path / "long.json", rounding="4")
    assert found.assumed == ("bandwidths and latencies are rounded to 4 digits, those of 2 links",)
    assert {link.bandwidth for link in found.topology.links} == {Fraction(3333 * 10**36)}
    assert {link.latency_us for link in found.topology.links} == {Fraction("0.1235")}
    found = import_topology(tmp_path / "edges.txt", importer="edge-list", rounding=2)
    assert {link.bandwidth for link in found.topology.links} == {Fraction("1.2"), Fraction(1)}
    found = import_topology(tmp_path / "edges.txt", importer="edge-list:rounding=6")
    assert found.ignored[-1] == "--rounding: the network is the same without it"


def test_rounding_never_makes_a_number_too_long(tmp_path: Path) -> None:
    nines = linked("a b", f"a>b:{10**60 - 1} b>a:1/{10**60 - 1}", name="nines")
    write_topology(nines, tmp_path / "nines.json")
    network = import_topology(tmp_path / "nines.json", rounding=6).topology
    assert {link.bandwidth for link in network.links} == {Fraction(10**60 - 1), Fraction(1, 10**60 - 1)}
