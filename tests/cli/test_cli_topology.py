from pathlib import Path

import pytest
from cli_run import json_of, run_command

from forestcoll import builders, load_topology
from forestcoll.topology import build_topology, read_topology
from forestcoll.topology.writers.formats import FORMATS


def test_the_list_names_every_builder_and_parameter() -> None:
    run = run_command("topology")
    assert (run.status, run.err) == (0, "")
    for spec in builders():
        assert f"\n{spec.name}: {spec.summary}\n" in run.out
        for parameter in spec.parameters:
            assert f"  {parameter.name}={parameter.default_text} " in run.out


def test_json_lists_every_builder() -> None:
    listed = json_of("topology")["topologies"]
    assert [each["name"] for each in listed] == [spec.name for spec in builders()]
    for each in listed:
        assert set(each) == {"name", "group", "summary", "source", "parameters"}
        for parameter in each["parameters"]:
            assert set(parameter) == {"name", "default", "meaning", "form"}


def test_a_word_filters_the_list_by_name_and_summary() -> None:
    for word in ("dgx", "NVLink"):
        found = [each["name"] for each in json_of("topology", word)["topologies"]]
        assert found == [each.name for each in builders() if word.lower() in f"{each.name} {each.summary}".lower()]
        assert 0 < len(found) < len(builders())
        assert all(f"\n{name}: " in run_command("topology", word).out for name in found)
    message = "'rign': no such builder or file; did you mean 'ring'? 'forestcoll topology' lists the builders"
    assert run_command("topology", "rign").error_line() == message
    assert run_command("topology", "dgx", "-o", "x.json").error_line().startswith("'dgx': no such builder or file")


def test_a_network_is_written_in_the_format_of_an_option_or_of_an_ending(tmp_path: Path) -> None:
    network, listed = build_topology("ring:nodes=3"), "".join(run_command("topology", "--help").out.split())
    for form in [each for each in FORMATS if not each.by_name]:
        path = tmp_path / f"network{form.endings[0]}"
        assert run_command("topology", network.name, "-o", path).status == 0
        printed = run_command("topology", network.name, "--to", form.name)
        assert (printed.status, printed.out) == (0, path.read_text())
        assert form.name in listed
        assert all(ending in listed for ending in form.endings)
        assert len(load_topology(path).links) == len(network.links)
        plain = tmp_path / "plain"
        assert run_command("topology", path, "--to", form.name, "-o", plain).status == 0
        assert len(load_topology(plain).links) == len(network.links)


@pytest.mark.parametrize("name", ["network.json", "network.json.gz"])
def test_a_topology_is_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    run = run_command("topology", "dgx-a100:boxes=2", "-o", path)
    assert (run.status, run.err) == (0, "")
    assert run.out.startswith(f"dgx-a100:boxes=2: written to {path}\n")
    assert json_of("topology", "dgx-a100:boxes=2", "-o", path)["output"] == str(path)
    assert read_topology(path) == build_topology("dgx-a100:boxes=2")
    assert json_of("optimum", path)["algbw"] == "1040/3"
