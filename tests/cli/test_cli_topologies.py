import json
from pathlib import Path

import networkx as nx
import pytest
from cli_run import run_command

from forestcoll import build_topology, builders, read_topology
from forestcoll.topology.networkx_graph import from_networkx


def test_the_list_names_every_builder_and_parameter() -> None:
    run = run_command("topologies")
    assert (run.status, run.err) == (0, "")
    for spec in builders():
        assert f"\n{spec.name}: {spec.summary}\n" in run.out
        for parameter in spec.parameters:
            assert f"  {parameter.name}={parameter.default_text} " in run.out


def test_json_lists_every_builder() -> None:
    listed = run_command("topologies", "--json").document()["topologies"]
    assert isinstance(listed, list)
    assert [each["name"] for each in listed] == [spec.name for spec in builders()]
    for each in listed:
        assert set(each) == {"name", "group", "summary", "source", "parameters"}
        for parameter in each["parameters"]:
            assert set(parameter) == {"name", "default", "meaning", "form"}


def test_every_builder_builds_with_its_defaults() -> None:
    for spec in builders():
        run = run_command("topology", spec.name)
        assert run.status == 0, run.err


@pytest.mark.parametrize("name", ["network.json", "network.json.gz"])
def test_a_topology_is_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    run = run_command("topology", "dgx-a100:boxes=2", "-o", path)
    assert (run.status, run.err) == (0, "")
    assert run.out.splitlines() == [
        f"dgx-a100:boxes=2: written to {path}",
        "dgx-a100:boxes=2 has 16 compute nodes in 2 boxes, 3 switches, and 64 links, each in one direction.",
    ]
    assert read_topology(path) == build_topology("dgx-a100:boxes=2")
    assert run_command("optimum", path, "--json").document()["algbw"] == "1040/3"


def test_networkx_reads_a_printed_topology() -> None:
    run = run_command("topology", "dgx-a100:boxes=2")
    assert (run.status, run.err) == (0, "")
    graph = nx.node_link_graph(json.loads(run.out), edges="edges")
    assert from_networkx(graph) == build_topology("dgx-a100:boxes=2")


def test_json_describes_the_written_file(tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    assert run_command("topology", "dgx-a100:boxes=2", "-o", path, "--json").document() == {
        "topology": "dgx-a100:boxes=2",
        "compute_nodes": 16,
        "switches": 3,
        "links": 64,
        "unit": "GB/s",
        "output": str(path),
    }
    assert read_topology(path) == build_topology("dgx-a100:boxes=2")


def test_without_an_output_json_is_the_topology() -> None:
    assert run_command("topology", "ring:nodes=3", "--json") == run_command("topology", "ring:nodes=3")
