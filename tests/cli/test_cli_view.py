import json
from pathlib import Path

import pytest
from cli_run import edge, run_command, write_network


def test_a_network_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "network.svg"
    run = run_command("view", "dgx-a100:boxes=2", "-o", str(path))
    assert run.status == 0
    assert run.out.splitlines() == [
        f"dgx-a100:boxes=2: written to {path}",
        "dgx-a100:boxes=2 has 16 compute nodes in 2 boxes, 3 switches, and 64 links, each in one direction.",
    ]
    assert path.read_text().startswith("<svg")


def test_a_schedule_is_verified_before_it_is_drawn(tmp_path: Path) -> None:
    schedule, page = tmp_path / "schedule.json", tmp_path / "schedule.html"
    assert run_command("generate", "ring:nodes=4", "-o", str(schedule)).status == 0
    run = run_command("view", str(schedule), "-o", str(page), "--json")
    assert json.loads(run.out) == {
        "topology": "ring:nodes=4",
        "schedule": "trees",
        "compute_nodes": 4,
        "output": str(page),
        "bytes": page.stat().st_size,
    }
    page.unlink()
    schedule.write_text(schedule.read_text().replace('"algbw": "8/3"', '"algbw": "9/3"'))
    run = run_command("view", str(schedule), "-o", str(page))
    assert run.status == 1
    assert "algbw" in run.err
    assert not page.exists()


@pytest.mark.parametrize("command", [("topology",), ("generate",), ("generate", "--method", "bfb")])
def test_standard_input_is_drawn_like_a_file(command: tuple[str, ...], tmp_path: Path) -> None:
    source, one, other = tmp_path / "source.json", tmp_path / "one.svg", tmp_path / "other.svg"
    assert run_command(command[0], "ring:nodes=4", *command[1:], "-o", str(source)).status == 0
    assert run_command("view", str(source), "-o", str(one)).status == 0
    assert run_command("view", "-", "-o", str(other), stdin=source.read_bytes()).status == 0
    assert other.read_bytes() == one.read_bytes()


def test_two_schedules_are_drawn_next_to_each_other(tmp_path: Path) -> None:
    one, other, picture = tmp_path / "one.json", tmp_path / "other.json", tmp_path / "both.svg"
    assert run_command("generate", "ring:nodes=4", "-o", str(one)).status == 0
    assert run_command("generate", "ring:nodes=4", "--trees", "1", "-o", str(other)).status == 0
    assert run_command("view", str(one), str(other), "-o", str(picture)).status == 0
    assert "one.json: 2.667 GB/s" in picture.read_text()
    assert "other.json: 2 GB/s" in picture.read_text()


def test_a_network_in_two_parts_is_drawn_without_a_bound(tmp_path: Path) -> None:
    network, page = write_network(tmp_path, [edge(*"ab"), edge(*"cd")], "abcd"), tmp_path / "network.html"
    run = run_command("view", str(network), "-o", str(page))
    assert run.status == 0
    assert "note: no bound: small: compute node 'a' cannot reach compute node 'c'; add links on the way" in run.err
    assert "No allgather" not in page.read_text()
