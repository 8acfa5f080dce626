import json
import re
from pathlib import Path

import networkx as nx
import pytest

from forestcoll.topology import Topology, topology_from_document
from forestcoll.topology.registry import build_topology, builders

DOC = Path(__file__).parents[2] / "docs" / "topologies.md"


def test_every_spec_in_the_documents_builds() -> None:
    names = "|".join(spec.name for spec in builders())
    clusters = DOC.with_name("clusters.md").read_text()
    specs = re.findall(rf"[` ]((?:{names}):[^\s`]*=[^\s`]*)", DOC.read_text())
    for found in (specs, re.findall(r"cluster:box=[^\s`]*", clusters)):
        assert len(found) >= 5
        assert all(len(build_topology(spec).compute) > 1 for spec in found)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOC.read_text(), flags=re.DOTALL)


def test_the_json_example_is_a_topology() -> None:
    (block,) = blocks("json")
    topology = topology_from_document(json.loads(block), where="docs")
    assert (len(topology.compute), len(topology.switches), len(topology.links)) == (4, 1, 12)


def test_the_networkx_example_makes_a_topology(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = blocks("python")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    exec(compile(block, str(DOC), "exec"), namespace)  # noqa: S102 (our own example)
    topology = namespace["topology"]
    assert isinstance(topology, Topology)
    assert isinstance(namespace["graph"], nx.Graph)
    assert (tmp_path / "petersen.json").exists()
