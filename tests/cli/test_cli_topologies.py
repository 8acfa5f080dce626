from pathlib import Path

import pytest
from cli_run import json_of, run_command

from forestcoll import builders
from forestcoll.topology import build_topology, read_topology


def test_the_list_names_every_builder_and_parameter() -> None:
    run = run_command("topologies")
    assert (run.status, run.err) == (0, "")
    for spec in builders():
        assert f"\n{spec.name}: {spec.summary}\n" in run.out
        for parameter in spec.parameters:
            assert f"  {parameter.name}={parameter.default_text} " in run.out


def test_json_lists_every_builder() -> None:
    listed = json_of("topologies")["topologies"]
    assert [each["name"] for each in listed] == [spec.name for spec in builders()]
    for each in listed:
        assert set(each) == {"name", "group", "summary", "source", "parameters"}
        for parameter in each["parameters"]:
            assert set(parameter) == {"name", "default", "meaning", "form"}


@pytest.mark.parametrize("name", ["network.json", "network.json.gz"])
def test_a_topology_is_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    run = run_command("topology", "dgx-a100:boxes=2", "-o", path)
    assert (run.status, run.err) == (0, "")
    assert run.out.startswith(f"dgx-a100:boxes=2: written to {path}\n")
    assert json_of("topology", "dgx-a100:boxes=2", "-o", path)["output"] == str(path)
    assert read_topology(path) == build_topology("dgx-a100:boxes=2")
    assert json_of("optimum", path)["algbw"] == "1040/3"
