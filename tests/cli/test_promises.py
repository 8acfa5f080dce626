"""Promises of the pages for users that have no test elsewhere; `tests/contracts/promises.md` lists all of them."""

import gzip
import inspect
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_run import changed, command, completed, edge, json_of, run_command, write_network, written

from forestcoll.base.errors import InputError
from forestcoll.base.files import read_bytes, write_text


@pytest.fixture
def schedule(tmp_path: Path) -> Path:
    return written(tmp_path / "s.json", "generate", "ring:nodes=4")


def test_a_wrong_limit_in_the_environment_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORESTCOLL_MAX_MEMORY", "much")
    assert (
        run_command("optimum", "ring:nodes=4").error_line().startswith("FORESTCOLL_MAX_MEMORY: 'much'; expected a size")
    )


def test_files_of_any_kind_have_the_limit_of_2_gib(schedule: Path) -> None:
    assert inspect.signature(read_bytes).parameters["limit"].default == 2 * 2**30
    with pytest.raises(InputError, match="larger than the limit of 0 MiB"):
        read_bytes(schedule, limit=4)


def test_a_file_of_costs_has_at_most_1_mib(schedule: Path, tmp_path: Path) -> None:
    costs = tmp_path / "costs.json"
    for size in (2**20, 2**20 + 1):
        costs.write_text('{"format": "forestcoll.costs/1"}'.ljust(size))
        run = run_command("simulate", schedule, "--sizes", "1K", "--costs", costs)
        assert (run.status, "larger than the limit of 1 MiB" in run.err) == ((0, False) if size == 2**20 else (1, True))


def test_a_bundle_has_at_most_4096_members(tmp_path: Path) -> None:
    path = written(tmp_path / "bundle.json", "generate", "ring:nodes=4", "--groups", "0,1;2,3")
    changed(path, members=json.loads(path.read_text())["members"] * 2049)
    assert run_command("verify", path).error_line() == f"{path}: members has 4098 entries; expected 1 to 4096"


@pytest.mark.parametrize(("latency", "status"), [(f"{'7' * 60}/{'9' * 60}", 0), ("7" * 61, 1), (f"1/{'7' * 61}", 1)])
def test_a_latency_has_at_most_60_digits(tmp_path: Path, latency: str, status: int) -> None:
    path = write_network(tmp_path, [edge("a", "b") | {"latency_us": latency}])
    run = run_command("topology", path)
    assert (run.status, "latency_us" in run.err and "has more than 60 digits" in run.err) == (status, status == 1)


def test_proof_counts_if_a_certificate_has_both_keys(schedule: Path) -> None:
    cut = json.loads(schedule.read_text())["certificate"]["cut"]
    proof = {"kind": "cut", "cut": cut}
    assert run_command("verify", changed(schedule, certificate={"cut": [10**6], "proof": proof})).status == 0
    wrong = {"cut": cut, "proof": proof | {"cut": [10**6]}}
    assert "certificate.proof.cut[0] is 1000000" in run_command("verify", changed(schedule, certificate=wrong)).err


def test_keys_of_later_releases_are_ignored(schedule: Path) -> None:
    document = json.loads(schedule.read_text())
    document["phases"][0]["trees"][0]["later"] = document["phases"][0]["later"] = 1
    assert run_command("verify", changed(schedule, phases=document["phases"], later={"a": 1})).status == 0


def test_a_network_from_a_stream_without_a_name_is_called_network() -> None:
    nodes, edges = [{"id": 0}, {"id": 1}], [edge(0, 1)]
    text = {"directed": False, "graph": {"format": "forestcoll.topology/1"}, "nodes": nodes, "edges": edges}
    assert run_command("optimum", "-", stdin=json.dumps(text).encode()).out.startswith("network: allgather over 2 ")


def test_standard_streams_are_not_compressed() -> None:
    plain = run_command("topology", "ring:nodes=3", "-o", "-").out
    json.loads(plain)
    message = run_command("optimum", "-", stdin=gzip.compress(plain.encode())).error_line()
    assert message == "standard input: compressed with gzip; decompress it"


def test_python_reads_standard_input(schedule: Path) -> None:
    code = "from forestcoll import load_topology, read_schedule; print(read_schedule('-').topology.name)"
    done = completed([sys.executable, "-c", code], stdin=schedule.read_text())
    assert (done.status, done.out) == (0, "ring:nodes=4\n"), done.err


def test_a_network_and_a_linear_program_are_estimated_before_they_are_made() -> None:
    message = run_command("topology", "complete:nodes=2000", memory="200MB").error_line()
    assert "complete:nodes=2000: a network of 3,998,000 links would take about" in message
    words = command("optimum", "mesh:dims=16x16", "--collective", "all-to-all")  # in a new process
    message = completed(words, FORESTCOLL_MAX_MEMORY="200MB").error_line()
    assert "mesh:dims=16x16: a linear program of 30,600 columns would take about" in message


def test_an_old_file_is_replaced_after_the_new_one_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def noted(name: str, usual: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object) -> object:
            calls.append(name)
            return usual(*arguments)

        return call

    for place, name in ((os, "fsync"), (Path, "replace")):
        monkeypatch.setattr(place, name, noted(name, getattr(place, name)))
    (tmp_path / "a").write_text("old")
    write_text(tmp_path / "a", ["new"])
    assert calls[0] == "fsync"
    assert "replace" in calls[1:]


def test_names_of_nodes_lead_to_no_file_outside_a_failover_set(tmp_path: Path) -> None:
    ids = ["../../../a", "/etc/b", "..\0c", "~"]
    path = write_network(tmp_path, [edge(*pair) for pair in zip(ids, [*ids[1:], ids[0]], strict=True)], ids)
    before = sorted(tmp_path.iterdir())
    assert run_command("what-if", path, "--fail", "links", "-o", tmp_path / "set").status == 0
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "set"])
    assert len(list((tmp_path / "set").iterdir())) == 6


def test_multigraph_is_ignored(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge("a", "b"), edge("a", "b")])
    for value in (True, False):
        assert json_of("optimum", changed(path, multigraph=value))["algbw"] == "40"


@pytest.mark.parametrize("name", ["demand.json", "demand.json.gz"])
def test_pieces_are_read_from_json_and_json_gz(tmp_path: Path, name: str) -> None:
    piece = {"id": "a", "held_by": [0], "needed_by": [1]}
    write_text(tmp_path / name, [json.dumps({"format": "forestcoll.demand/1", "pieces": [piece]})])
    assert run_command("optimum", "ring:nodes=4", "--demand", tmp_path / name).status == 0


def test_json_is_one_value_also_if_there_are_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.base.resources.LONG_SECONDS", 1e-9)
    run = run_command("generate", "ring:nodes=4", "--json")
    assert run.err.startswith("forestcoll: note: ")
    assert json.loads(run.out)["algbw"] == "8/3"
