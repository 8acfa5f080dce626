"""Files and specs that every command with a network or a schedule refuses, in one line that names the place."""

import json
import os
from pathlib import Path

import pytest
from cli_run import GRAPH, Run, edge, run_command, write_network

COMMANDS = [
    ["optimum"],
    ["optimum", "--json"],
    ["generate"],
    ["generate", "--json"],
    ["topology", "--to", "forestcoll"],
]
READING = [*COMMANDS, ["verify"]]
ONE_PORT = GRAPH | {"port_model": "one-port"}

BAD_FILES: dict[str, tuple[bytes | None, str]] = {
    "none.json": (None, "no such file; check the name"),
    "broken.json": (b'{"directed": true,\n "nodes": [}', "not valid JSON: "),
    "digits.json": (b'{"a": ' + b"9" * 5000 + b"}", "holds a number of thousands of digits; write shorter numbers"),
    "deep.json": (b'{"a":' + b"[" * 200_000, ""),
    "list.json": (b"[]", ""),
    "object.json": (b"{}", ""),
    "later.json": (b'{"graph": {"format": "forestcoll.topology/2"}}', ""),
    "empty.json": (b"", ""),
    "nul.json": (b"\x00", ""),
    "plain.json.gz": (b"{}", "not a complete gzip file"),
    "folder": (None, "is a folder; name a file in it"),
}


@pytest.mark.parametrize("words", READING)
def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("ring").mkdir()
    for name, (content, said) in BAD_FILES.items():
        if content is not None:
            Path(name).write_bytes(content)
        assert run_command(*words, name).error_line().startswith(f"{name}: {said}"), name
    assert words == ["verify"] or run_command(*words, "ring").status == 0  # a builder's name is not a folder


def test_verify_prints_json_for_a_missing_file_too(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    run = run_command("verify", path, "--json")
    message = f"{path}: no such file; check the name"
    assert json.loads(run.out) == {"valid": False, "rule": None, "message": message}
    assert Run(run.status, "", run.err).error_line() == message


@pytest.mark.parametrize("words", READING)
def test_an_operating_system_error_on_reading_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write_network(tmp_path, [edge("a", "b")])
    monkeypatch.setattr(Path, "open", refuse)
    assert run_command(*words, path).error_line() == f"{path}: cannot be read: Permission denied"


@pytest.mark.parametrize("words", [["topology", "--to", "forestcoll"], ["generate"], ["generate", "--json"]])
def test_an_operating_system_error_on_writing_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    path = tmp_path / "out.json"
    path.write_text("older")
    usual = os.open

    def refuse(name: str | Path, flags: int, mode: int = 0o777) -> int:
        if Path(name).parent == tmp_path and flags & os.O_CREAT:
            raise PermissionError(13, "Permission denied")
        return usual(name, flags, mode)

    monkeypatch.setattr("os.open", refuse)
    message = run_command(*words, "ring:nodes=3", "-o", path).error_line()
    assert message == f"{path}: cannot be written: Permission denied"
    assert path.read_text() == "older"


CHAIN = [edge(place, place + 1, f"1/{10**59 + place}") for place in range(100)]
BAD_NETWORKS: dict[str, tuple[list[dict[str, object]], object, str]] = {
    "edge to nowhere": ([edge("a", "b"), edge("b", "x")], "ab", "edge 'b' -> 'x': there is no node 'x'"),
    "duplicate id": ([edge("a", "b")], "aba", "node 'a' appears twice"),
    "self-loop": ([edge("a", "b"), edge("b", "b")], "ab", "edge 'b' -> 'b' is a self-loop"),
    "one GPU": ([], "a", "has 1 compute node; a collective needs at least two"),
    "no GPU": ([], "", "has 0 compute nodes"),
    "disconnected": ([edge("a", "b"), edge("c", "d")], "abcd", "compute node 'a' cannot reach compute node 'c'"),
    "one way": ([edge("a", "b"), edge("b", "c")], "abc", "compute node 'b' cannot reach compute node 'a'"),
    "no bandwidth": ([edge("a", "b", 0)], "ab", "edge 'a' -> 'b': bandwidth 0 must be greater than 0"),
    "long numbers": (CHAIN, range(101), "the common denominator of the bandwidths has more than 1800 digits; "),
}


@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize("case", BAD_NETWORKS)
def test_an_invalid_network_is_refused(tmp_path: Path, case: str, words: list[str]) -> None:
    edges, nodes, expected = BAD_NETWORKS[case]
    path = write_network(tmp_path, edges, nodes, directed=case == "one way")  # type: ignore[arg-type]
    message = run_command(*words, path).error_line()
    assert message.startswith(str(path))
    assert expected in message


def test_a_one_port_network_is_refused_before_an_old_file_is_replaced(tmp_path: Path) -> None:
    path, old = write_network(tmp_path, [edge("a", "b")], graph=ONE_PORT), tmp_path / "old.json"
    old.write_text("older")
    message = (
        "small: port_model is one-port; this function needs nodes that use all their links at once "
        "(if they can, leave port_model out); 'forestcoll one-port' handles one port"
    )
    for words in (["optimum"], ["optimum", "--max-trees", 2], ["generate", "-o", old], ["optimum", "--all", "--json"]):
        assert run_command(*words, path).error_line() == message
    assert old.read_text() == "older"
    assert len(list(tmp_path.iterdir())) == 2
    assert json.loads(run_command("topology", path).out)["graph"]["port_model"] == "one-port"


BAD_SPECS = {
    "dgx-a10": "did you mean 'dgx-a100'?",
    "Torus": "did you mean 'torus'?",
    "": "no such builder or file",
    "zzzzzz": "no such builder or file; 'forestcoll topology' lists the builders",
    "dgx-a100:boxes=0": "dgx-a100: boxes is '0'; expected an integer from 1",
    "dgx-a100:boxes=x": "dgx-a100: boxes is 'x'; expected an integer from 1",
    "dgx-a100:boxs=2": "there is no parameter 'boxs'; did you mean 'boxes'? there are boxes, ",
    "dgx-a100:boxes": "'boxes' is not key=value",
    "dgx-a100:": "is not key=value",
    "dgx-a100:boxes=2,boxes=2": "boxes is given twice",
    "torus:dims=4x": "dims is '4x'",
    "ring:nodes=1": "ring",
    "hypercube:dim=40": "hypercube",
}


@pytest.mark.parametrize("words", COMMANDS)
def test_an_invalid_spec_is_refused(words: list[str]) -> None:
    for spec, said in BAD_SPECS.items():
        assert said in run_command(*words, spec).error_line(), spec
