"""The files that NCCL reads, from the command line: graph files."""

import re
from pathlib import Path

import pytest
from cli_run import run_command

from forestcoll import generate, write_schedule

MESH = "hgx-a100-4:boxes=1"


def test_graph_files_are_a_file_or_a_folder_and_dumps_of_nccl_lose_their_ranks(tmp_path: Path) -> None:
    graph, dump, again = (str(tmp_path / name) for name in ("g.xml", "dump.xml", "again.xml"))
    said = run_command("export", MESH, "--to", "nccl-graph", "-o", graph).out
    assert "6 channels of 50, together 300 GB/s: the optimum, with the fewest channels" in said
    differ = ("export", "dgx-h100:boxes=2", "--without", "b1/gpu0--ib", "--to", "nccl-graph", "-o")
    run_command(*differ, str(tmp_path / "hosts"))
    assert sorted(path.name for path in (tmp_path / "hosts").iterdir()) == ["b0.xml", "b1.xml"]
    assert "2 files are written, for hosts that differ" in run_command(*differ, str(tmp_path / "h.xml")).error_line()
    Path(dump).write_text(Path(graph).read_text().replace('dev="0x3"', 'dev="0x3" rank="3"'))
    assert "rank of 6 <gpu> is left out" in run_command("export", dump, "--to", "nccl-graph", "-o", again).out
    assert Path(again).read_text() == Path(graph).read_text()
    assert "leave it out for a dump of NCCL" in run_command(
        "export", dump, "--to", "nccl-graph", "--method", "bfb"
    ).error_line(2)
    write_schedule(generate(MESH, method="nccl-ring"), tmp_path / "s.json")
    found = run_command("export", str(tmp_path / "s.json"), "--to", "nccl-graph", "--json").document()
    assert found["hosts"][0]["rings"]["total"] == "300"
    for option, what in (("--bytes", "1M"), ("--dialect", "rccl"), ("-o", f"snippet={tmp_path / 'r.py'}")):
        refused = run_command("export", MESH, "--to", "nccl-graph", option, what).error_line(2)
        assert "nccl-graph" in refused
        assert f"leave {'-o snippet=FILE' if option == '-o' else 'it'} out" in refused


def test_the_format_of_graph_files_is_known_as_all_formats_are() -> None:
    assert "did you mean 'nccl-graph'?" in run_command("export", MESH, "--to", "nccl-grap").error_line(2)
    refused = run_command("export", MESH, "--to", "nccl-graph:blocks=2").error_line(2)
    assert "nccl-graph: there is no parameter 'blocks'; nccl-graph has no parameters" in refused


def test_topology_files_are_a_file_or_a_folder_and_hosts_have_names(tmp_path: Path) -> None:
    file, hosts = str(tmp_path / "t.xml"), str(tmp_path / "hosts")
    run_command("topology", "dgx-a100:boxes=2", "--to", "nccl-topo", "-o", file)
    found = run_command("import", file, file, "--names", "left,right", "--name", "pair", "--json").document()
    assert (found["topology"], found["boxes"], found["nics"]) == ("pair", 2, 16)
    network = str(tmp_path / "n.json")
    run_command("import", file, "--hosts", "3", "-o", network)
    run_command("topology", network, "--without", "b1/mlx5_0", "--to", "nccl-topo", "-o", hosts)
    assert sorted(path.name for path in Path(hosts).iterdir()) == ["b0.xml", "b1.xml"]
    assert run_command("topology", network, "--without", "b1/mlx5_0", "--to", "nccl-topo", "-o", hosts).status == 0
    assert "the format" not in run_command("topology", network, "-o", file).error_line()
    assert "<gpu" not in run_command("topology", "dgx-a100", "--to", "nccl-topo-vm").out


def test_the_lint_prints_lines_of_topology_files(tmp_path: Path) -> None:
    file = str(tmp_path / "t.xml")
    run_command("topology", "dgx-a100:boxes=2", "--to", "nccl-topo", "-o", file)
    Path(file).write_text(Path(file).read_text().replace("16.0 GT/s PCIe", "16.0 GT/s"))
    assert f"{file}: line 3: link_speed" in run_command("import", "--lint", file).out
    [found] = run_command("import", "--lint", file, "--json").document()["files"]
    assert (found["file"], [each["line"] for each in found["findings"]]) == (file, [3])
    assert "leave -o out" in run_command("import", "--lint", file, "-o", str(tmp_path / "n.json")).error_line(2)


def test_the_commands_of_the_how_to_for_virtual_machines_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "topology-file-for-a-vm.md").read_text()
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^forestcoll (.*)$", page, re.MULTILINE)
    assert len(commands) == 3
    for command in ("topology dgx-a100:boxes=2 --to nccl-topo -o topo.xml", *commands):
        assert run_command(*command.split()).status == 0, command
    assert "forestcoll topology dgx-a100:boxes=2 --to nccl-topo -o topo.xml" in page
    [shown] = re.findall(r"```xml\n(.*?)```", page, re.DOTALL)
    assert Path("virtualTopology.xml").read_text().startswith(shown)
