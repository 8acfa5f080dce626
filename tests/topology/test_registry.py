import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import networkx as nx
import pytest

from forestcoll.base.errors import InputError, InternalError
from forestcoll.base.parameters import MAX_COMPUTE, integer
from forestcoll.topology import TopologyBuilder, topology_from_document, topology_to_document, write_topology
from forestcoll.topology import registry as registry_module
from forestcoll.topology.networkx_graph import from_networkx, to_networkx
from forestcoll.topology.registry import Recipe, Size, build_topology, builders, load_topology, topology_builder
from networks import linked
from refusal import refusal


def problem(spec: str) -> str:
    message = refusal(load_topology, spec)
    assert len(message) < 400
    return message


def test_every_module_of_a_group_has_a_builder_of_its_name() -> None:
    for group in ["machine", "system", "family"]:
        package = {"machine": "machines", "system": "clusters", "family": "families"}[group]
        modules = (Path(registry_module.__file__).parent / package).glob("[!_]*.py")
        specs = {spec.recipe.__module__: spec.name for spec in builders() if spec.group == group}
        assert specs == {
            f"forestcoll.topology.{package}.{each.stem}": each.stem.replace("_", "-") for each in modules
        }, group


def test_every_builder_has_a_complete_description() -> None:
    for spec in builders():
        texts = [spec.summary, spec.source]
        texts += [text for each in spec.parameters for text in (each.meaning, each.default_text)]
        assert all(text and "\n" not in text and "|" not in text for text in texts), spec.name
        has_size = any(parameter.is_size for parameter in spec.parameters)
        assert has_size or spec.name == "diamond", spec.name  # whose size is fixed
        assert any(parameter.name.endswith("bandwidth") for parameter in spec.parameters), spec.name


def test_every_builder_builds_with_its_defaults() -> None:
    for spec in builders():
        topology = build_topology(spec.name)
        assert topology.name.partition(":")[0] == spec.name
        stated = [f"{each.name}={each.default_text}" for each in spec.parameters if each.default is not None]
        assert build_topology(topology.name) == build_topology(f"{spec.name}:{','.join(stated)}") == topology, spec.name
        assert topology.ingress == topology.egress, spec.name
        assert spec.recipe().size() == Size(len(topology.compute), len(topology.links)), spec.name
        assert topology_from_document(topology_to_document(topology), where="w") == topology, spec.name
        graph = to_networkx(topology)
        assert from_networkx(graph) == topology, spec.name
        assert nx.is_strongly_connected(graph), spec.name


def test_the_name_of_a_topology_is_its_normalized_spec_and_a_bandwidth_can_have_a_unit() -> None:
    for spec, name in [
        ("ring", "ring:nodes=8"),
        ("ring:nodes=08", "ring:nodes=8"),
        ("ring:bandwidth=0.50,nodes=4,one_way=true", "ring:nodes=4,bandwidth=1/2,one_way=true"),
        ("ring:one_way=false,bandwidth=2/2", "ring:nodes=8"),
        ("torus:dims=4x4x4", "torus:dims=4x4x4"),
        ("circulant:offsets=4+3", "circulant:nodes=16,offsets=4+3"),
        ("dgx-a100:boxes=2", "dgx-a100:boxes=2"),
        ("mi250:gpus=8", "mi250:boxes=2,gpus=8"),
        ("dragonfly:groups=3", "dragonfly:routers=4,nodes=2,global_links=2,groups=3"),
    ]:
        assert build_topology(spec).name == name
    topology = build_topology("ring:nodes=4,bandwidth=400Gb/s")
    assert topology == build_topology("ring:nodes=4,bandwidth=50")
    assert topology.name == "ring:nodes=4,bandwidth=50"
    assert build_topology("dgx-a100:boxes=2,nic_bandwidth=1/3TB/s").name == "dgx-a100:boxes=2,nic_bandwidth=1000/3"
    assert "such as 25, 25/3 or 400Gb/s" in problem("ring:bandwidth=400gb/s")
    assert "such as 25 or 25/3" in problem("fat-tree:oversubscription=2GB/s")


def test_an_invalid_spec_is_refused() -> None:
    for spec, message in [
        ("DGX-H100:boxes=2", "'DGX-H100': no such builder or file; did you mean 'dgx-h100'?"),
        ("", "'': no such builder or file; 'forestcoll"),
        ("a\nb", r"'a\nb': no such builder"),
        ("x" * 100_000, f"'{'x' * 57}...': no such builder"),
        ("a\0b", r"'a\x00b': no such builder"),
        ("ring:=4", "ring: there is no parameter ''"),
        ("ring:size=4", "ring: there is no parameter 'size'; there are nodes, bandwidth, one_way"),
        ("dgx_a100:boxes=2", "'dgx_a100': no such builder or file; did you mean 'dgx-a100'?"),
        ("_boxes", "'_boxes': no such builder or file; 'forestcoll"),
        ("machines.dgx-a100", "'machines.dgx-a100': no such builder or file; did you mean 'dgx-a100'?"),
        ("dgx-a100:boxes=2=3", "dgx-a100: boxes is '2=3'; expected an integer"),
        ("dgx-a100:boxes=" + "9" * 5000, "dgx-a100: boxes is '99999"),
        ("dgx-a100:gpus=9", "dgx-a100: gpus is '9'; expected an integer from 1 to 8"),
        ("dgx-a100:pcie=yes", "dgx-a100: pcie is 'yes'; expected true or false"),
        ("dgx-a100:boxes=1,gpus=1", "dgx-a100:boxes=1,gpus=1: has 1 compute node;"),
        ("mi250:boxes=1,gpus=3", "mi250:boxes=1,gpus=3: compute node 'b0/gpu0' cannot reach compute node 'b0/gpu2'"),
        ("ring:nodes=1", "ring: nodes is '1'; expected an integer from 2 to"),
        ("ring:bandwidth=0", "ring: bandwidth is '0'; expected a number greater than 0"),
        ("ring:bandwidth=nan", "ring: bandwidth is 'nan'; expected a number greater than 0"),
        ("ring:bandwidth=1/0", "ring: bandwidth is '1/0'; expected a number greater than 0"),
        ("ring:bandwidth=1e999999999", "ring: bandwidth is '1e999999999'; expected a number greater than 0"),
        ("torus:dims=4x", "torus: dims is '4x'; expected 1 to 20 sizes of 2 or more joined by 'x'"),
        ("torus:dims=1x4", "torus: dims is '1x4'; expected"),
        ("torus:dims=", "torus: dims is ''; expected"),
        ("torus:dims=4X4", "torus: dims is '4X4'; expected"),
        ("torus:dims=" + "x".join(["2"] * 21), "torus: dims is '2x2x2"),
        ("circulant:offsets=0", "circulant: offsets is '0'; expected integers of 1 or more joined by '+'"),
        ("circulant:offsets=3;4", "circulant: offsets is '3;4'; expected"),
        ("circulant:offsets=" + "+".join(["1"] * 1025), "circulant: offsets is '1+1"),
        (
            "circulant:nodes=8,offsets=5",
            "circulant:nodes=8,offsets=5: offset 5 is too large; with 8 nodes it must be at",
        ),
        ("circulant:nodes=8,offsets=8,one_way=true", "circulant:nodes=8,offsets=8,one_way=true: offset 8 is too large"),
        ("circulant:parallel=1+2+3", "circulant:nodes=16,offsets=3+4,parallel=1+2+3: parallel has 3 numbers; give"),
        ("circulant:offsets=3+3", "circulant:nodes=16,offsets=3+3: an offset is given twice"),
        ("circulant:nodes=8,offsets=2+4", "circulant:nodes=8,offsets=2+4: nodes and offsets are all multiples of 2"),
        ("dragonfly:groups=1", "dragonfly: groups is '1'; expected an integer from 2"),
        ("dragonfly:groups=10", "dragonfly:routers=4,nodes=2,global_links=2,groups=10: groups is 10; with"),
        ("torus:dims=1024x1025", "torus:dims=1024x1025: has 1049600 compute nodes; make it smaller, 1048576 at most"),
        ("hamming:dim=20,base=1048576", "hamming:dim=20,base=1048576: has "),
        ("fat-tree:levels=20,arity=1048576", "fat-tree:levels=20,arity=1048576: has "),
        ("dgx-a100:boxes=1048576", "dgx-a100:boxes=1048576: has 8388608 compute nodes"),
        ("complete:nodes=1000000", "complete:nodes=1000000: has 999999000000 one-way links; make it smaller, 4194304"),
    ]:
        assert problem(spec).startswith(message)


def test_too_large_networks_are_refused_before_they_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(TopologyBuilder, "add_compute", refuse)
    assert "make it smaller" in problem(f"dgx-h100:boxes={MAX_COMPUTE}")


def test_a_file_is_accepted_as_a_topology(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topology = build_topology("ring:nodes=3,bandwidth=25/3")
    for name in ("t.json", "t.json.gz", "plain", "ring:odd"):
        write_topology(topology, tmp_path / name)
        assert load_topology(str(tmp_path / name)) == topology
    monkeypatch.chdir(tmp_path)
    assert load_topology("plain") == load_topology("ring:odd") == topology
    assert load_topology("ring:nodes=3,bandwidth=25/3") == topology
    assert problem("no.json") == "no.json: no such file; check the name"
    assert problem("no.gz").startswith("no.gz: no such file")
    assert problem("folder/ring").startswith("folder/ring: no such file")
    assert problem(str(tmp_path)) == f"{tmp_path}: is a folder; name a file in it"
    assert "not a file name" in problem("a\0b.json")


def test_a_path_is_always_a_file_and_a_folder_hides_no_builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topology = build_topology("ring:nodes=3")
    write_topology(topology, tmp_path / "torus")
    assert load_topology(tmp_path / "torus") == topology
    monkeypatch.chdir(tmp_path)
    assert load_topology(Path("torus")) == topology
    with pytest.raises(InputError, match=r"^ring: no such file; check the name$"):
        load_topology(Path("ring"))
    (tmp_path / "ring").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_topology("ring").name == "ring:nodes=8"


def test_a_topology_is_returned_unchanged_and_another_type_is_refused() -> None:
    for value in (None, 3, ["ring"], b"ring"):
        graphs = "a graph (networkx, igraph, rustworkx, pandas, NumPy)"
        expected = f"expected a builder's spec, a file, {graphs} or a Topology"
        assert refusal(load_topology, value) == f"topology is {value!r}; {expected}"
    topology = build_topology("ring:nodes=3")
    assert load_topology(topology) is topology
    assert load_topology(linked("a b", "", connected=False, name="apart")).name == "apart"


@pytest.fixture
def clean_registry() -> Iterator[None]:
    builders()
    specs = registry_module._REGISTRY._specs
    before = dict(specs)
    yield
    specs.clear()
    specs.update(before)


@dataclass(frozen=True)
class Star(Recipe):
    nodes: int = integer(3, "compute nodes", minimum=2, is_size=True)

    def size(self) -> Size:
        return Size(self.nodes, 2 * self.nodes)

    def fill(self, network: TopologyBuilder) -> None:
        network.add_switch("hub")
        for node in range(self.nodes):
            network.add_duplex(network.add_compute(node), "hub", Fraction(1))


@pytest.mark.usefixtures("clean_registry")
def test_a_new_builder_needs_only_its_declaration() -> None:
    topology_builder("star", summary="a star", source="a unit")(Star)
    assert "star" in [spec.name for spec in builders()]
    assert len(build_topology("star:nodes=5").links) == 10
    with pytest.raises(InternalError, match="two values are called 'star'"):
        topology_builder("star", summary="another", source="a unit")(Star)


def test_only_the_requested_builder_is_imported() -> None:
    code = """
import sys
from forestcoll.topology.registry import load_topology
for spec in (None, "ring", "dgx-a100:boxes=2"):
    load_topology(load_topology(spec)) if spec else None
    inside = [name for name in sorted(sys.modules) if ".machines." in name or ".families." in name]
    print([name.rpartition(".")[2] for name in inside], "networkx" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    ring = ["_direct", "ring"]
    shown_modules = [[], ring, [*ring, "_boxes", "_gpu", "dgx_a100"]]
    assert done.stdout.splitlines() == [f"{each} False" for each in shown_modules]
