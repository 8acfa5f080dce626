import json
import os
from pathlib import Path

import pytest
from cli_run import Run, edge, run_command, write_network

from forestcoll.demand.collective import Collective

COMMANDS = [["optimum"], ["optimum", "--json"], ["generate"], ["generate", "--json"], ["topology"]]
READING = [*COMMANDS, ["verify"]]


@pytest.mark.parametrize("words", READING)
def test_a_missing_file_is_refused(tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "none.json"
    assert run_command(*words, path).error_line() == f"{path}: no such file; check the name"


def test_verify_prints_json_for_a_missing_file_too(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    run = run_command("verify", path, "--json")
    message = f"{path}: no such file; check the name"
    assert json.loads(run.out) == {"valid": False, "rule": None, "message": message}
    assert Run(run.status, "", run.err).error_line() == message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge("a", "b")])
    path.chmod(0)
    assert run_command("optimum", path).error_line() == f"{path}: cannot be read: Permission denied"


@pytest.mark.parametrize("words", READING)
def test_an_operating_system_error_on_reading_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """Like the previous test, but it also works for the user root."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write_network(tmp_path, [edge("a", "b")])
    monkeypatch.setattr(Path, "open", refuse)
    assert run_command(*words, path).error_line() == f"{path}: cannot be read: Permission denied"


@pytest.mark.parametrize("words", [["topology"], ["generate"], ["generate", "--json"]])
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


@pytest.mark.parametrize("words", READING)
def test_invalid_json_is_refused(tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{"directed": true,\n "nodes": [}')
    assert run_command(*words, path).error_line().startswith(f"{path}: not valid JSON: ")


@pytest.mark.parametrize("words", READING)
def test_a_directory_is_refused(tmp_path: Path, words: list[str]) -> None:
    assert run_command(*words, tmp_path).error_line() == f"{tmp_path}: is a folder; name a file in it"


@pytest.mark.parametrize("words", READING)
def test_a_directory_without_a_slash_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    (tmp_path / "networks").mkdir()
    (tmp_path / "ring").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run_command(*words, "networks").error_line() == "networks: is a folder; name a file in it"
    assert words == ["verify"] or run_command(*words, "ring").status == 0  # a builder's name is not a folder


@pytest.mark.parametrize("words", READING)
def test_a_number_of_thousands_of_digits_is_refused(tmp_path: Path, words: list[str]) -> None:
    path = write_network(tmp_path, [edge("a", "b", 7654321)])
    path.write_text(path.read_text().replace("7654321", "9" * 5000))
    message = run_command(*words, path).error_line()
    assert message == f"{path}: holds a number of thousands of digits; write shorter numbers"


@pytest.mark.parametrize("content", ["[]", "{}", '{"graph": {"format": "forestcoll.topology/2"}}', "", "\x00"])
@pytest.mark.parametrize("words", READING)
def test_another_format_is_refused(tmp_path: Path, content: str, words: list[str]) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    assert run_command(*words, path).error_line().startswith(f"{path}: ")


@pytest.mark.parametrize("words", READING)
def test_a_file_that_is_not_gzip_is_refused(tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "plain.json.gz"
    path.write_text("{}")
    assert "not a complete gzip file" in run_command(*words, path).error_line()


@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize(
    "bandwidth", ["0", "-1", "NaN", "Infinity", '"a"', "1e400", "null", "true", "[]", '"1/0"', '""']
)
def test_an_invalid_bandwidth_is_refused(tmp_path: Path, bandwidth: str, words: list[str]) -> None:
    path = write_network(tmp_path, [edge("a", "b", 7654321)])
    path.write_text(path.read_text().replace("7654321", bandwidth))
    message = run_command(*words, path).error_line()
    assert message.startswith(f"{path}: edge 'a' -> 'b': bandwidth ")


BAD_NETWORKS = {
    "edge to nowhere": ([edge("a", "b"), edge("b", "x")], "ab", "edge 'b' -> 'x': there is no node 'x'"),
    "duplicate id": ([edge("a", "b")], "aba", "node 'a' appears twice"),
    "self-loop": ([edge("a", "b"), edge("b", "b")], "ab", "edge 'b' -> 'b' is a self-loop"),
    "one GPU": ([], "a", "has 1 compute node; a collective needs at least two"),
    "no GPU": ([], "", "has 0 compute nodes"),
    "disconnected": ([edge("a", "b"), edge("c", "d")], "abcd", "compute node 'a' cannot reach compute node 'c'"),
}


@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize("case", BAD_NETWORKS)
def test_an_invalid_network_is_refused(tmp_path: Path, case: str, words: list[str]) -> None:
    edges, nodes, expected = BAD_NETWORKS[case]
    path = write_network(tmp_path, edges, nodes)
    message = run_command(*words, path).error_line()
    assert message.startswith(str(path))
    assert expected in message


@pytest.mark.parametrize("words", COMMANDS)
def test_bandwidths_with_too_large_a_common_denominator_are_refused(tmp_path: Path, words: list[str]) -> None:
    path = write_network(tmp_path, [edge(place, place + 1, f"1/{10**59 + place}") for place in range(100)], range(101))
    message = run_command(*words, path).error_line()
    assert message.startswith(f"{path}: the common denominator of the bandwidths has more than 1800 digits; ")


@pytest.mark.parametrize("words", COMMANDS)
def test_the_error_for_unreachable_compute_nodes_names_a_pair(tmp_path: Path, words: list[str]) -> None:
    path = write_network(tmp_path, [edge("a", "b"), edge("b", "c")], "abc", directed=True)
    assert "compute node 'b' cannot reach compute node 'a'" in run_command(*words, path).error_line()


def test_optimum_refuses_a_one_port_network(tmp_path: Path) -> None:
    graph = {"format": "forestcoll.topology/1", "name": "small", "port_model": "one-port"}
    path = write_network(tmp_path, [edge("a", "b")], graph=graph)
    for words in (["optimum"], ["optimum", "--max-trees", 2], ["generate", "--json"]):
        assert run_command(*words, path).error_line().startswith("small: port_model is one-port; this function needs")
    run = run_command("topology", path)
    assert (run.status, json.loads(run.out)["graph"]["port_model"]) == (0, "one-port")


@pytest.mark.parametrize("words", [["optimum"], ["generate"]])
def test_control_characters_in_names_are_escaped(tmp_path: Path, words: list[str]) -> None:
    graph = {"format": "forestcoll.topology/1", "name": "two\n\x1b[2Jlines", "bandwidth_unit": "GB/s"}
    one, other, middle = "a\n\x1b[2J", "b\r", "s\x07"
    nodes = [{"id": one}, {"id": other}, {"id": middle, "kind": "switch"}]
    edges = [edge(one, middle), edge(middle, other), edge(other, one)]
    path = tmp_path / "names.json"
    document = {"directed": True, "graph": graph, "nodes": nodes, "edges": edges}
    path.write_text(json.dumps(document))
    run = run_command(*words, path)
    assert run.status == 0
    assert all(each.isprintable() for each in run.out.splitlines())
    edges[0]["bandwidth"] = 11
    path.write_text(json.dumps(document))
    run = run_command(*words, path)
    assert run.status == 0
    assert all(each.isprintable() for each in run.out.splitlines())
    edges.pop()
    path.write_text(json.dumps(document))
    assert run_command(*words, path).error_line().isprintable()


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text('{"a":' + "[" * 200_000)
    assert run_command("optimum", path).error_line().startswith(f"{path}: ")


BAD_SPECS = {
    "dgx-a10": "did you mean 'dgx-a100'?",
    "Torus": "did you mean 'torus'?",
    "": "no such builder or file",
    "zzzzzz": "no such builder or file; 'forestcoll topologies' lists the builders",
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
@pytest.mark.parametrize("spec", BAD_SPECS)
def test_an_invalid_spec_is_refused(spec: str, words: list[str]) -> None:
    assert BAD_SPECS[spec] in run_command(*words, spec).error_line()


WRONG_USAGE = {
    "unknown command": ["frobnicate"],
    "no topology": ["optimum"],
    "two topologies": ["optimum", "ring:nodes=3", "ring:nodes=4"],
    "unknown option": ["generate", "ring:nodes=3", "--fast"],
    "unknown collective": ["generate", "ring:nodes=3", "--collective", "gossip"],
    "no trees": ["generate", "ring:nodes=3", "--trees", "0"],
    "trees that are no number": ["optimum", "ring:nodes=3", "--trees", "x"],
    "trees and max-trees": ["generate", "ring:nodes=3", "--trees", "1", "--max-trees", "2"],
    "both, of an optimum": ["optimum", "ring:nodes=3", "--trees", "1", "--max-trees", "2"],
    "no file": ["verify"],
    "o without a name": ["topology", "ring:nodes=3", "-o"],
    "o with an empty name": ["generate", "ring:nodes=3", "-o", ""],
    "an empty name": ["verify", ""],
}


@pytest.mark.parametrize("case", WRONG_USAGE)
def test_wrong_usage(case: str) -> None:
    assert " --help)" in run_command(*WRONG_USAGE[case]).error_line(status=2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["optimium", "ring"], "no such command 'optimium'; did you mean 'optimum'? (see forestcoll --help)"),
        (["chek-program"], "no such command 'chek-program'; did you mean 'check-program'? (see forestcoll --help)"),
        (["frobnicate"], "no such command 'frobnicate' (see forestcoll --help)"),
        (
            ["optimum", "ring", "--colective", "reduce"],
            "no such option '--colective'; did you mean '--collective'? (see forestcoll optimum --help)",
        ),
        (
            ["generate", "ring", "--no-in-netwrok"],
            "no such option '--no-in-netwrok'; did you mean '--no-in-network'? (see forestcoll generate --help)",
        ),
        (["optimum", "ring", "--zzz"], "no such option '--zzz' (see forestcoll optimum --help)"),
        (["--versoin"], "no such option '--versoin'; did you mean '--version'? (see forestcoll --help)"),
    ],
)
def test_the_error_for_a_misspelt_name_suggests_the_nearest_name(words: list[str], message: str) -> None:
    assert run_command(*words).error_line(2) == message


def test_every_command_reads_collectives_with_the_same_function(monkeypatch: pytest.MonkeyPatch) -> None:
    spellings = {"All_Gather": Collective.ALLGATHER, "alltoall": Collective.ALL_TO_ALL}
    monkeypatch.setattr(
        "forestcoll.demand.collective.collective_named", lambda name: spellings.get(name) or Collective(name)
    )
    run = run_command("optimum", "ring:nodes=3", "--collective", "All_Gather", "--json")
    assert run.document()["collective"] == "allgather"
    run = run_command("optimum", "ring:nodes=3", "--collective", "alltoall", "--json")
    assert run.document()["collective"] == "all-to-all"
    complaint = run_command("what-if", "ring:nodes=3", "--collective", "alltoall", "--fail", "links").error_line(2)
    assert "'all-to-all' is not supported by this command; choose one of allgather, " in complaint


@pytest.mark.parametrize("option", ["--trees", "--max-trees"])
@pytest.mark.parametrize("words", [["optimum"], ["generate"]])
def test_an_invalid_number_of_trees_is_refused(words: list[str], option: str) -> None:
    for text in ("x", "0", "-1", "1.5", "", "\N{ARABIC-INDIC DIGIT ONE}", "1_0", "00"):
        message = run_command(*words, "ring:nodes=3", option, text).error_line(status=2)
        assert f"'{option}': {text!r}; expected an integer of 1 or more (see" in message
    message = run_command(*words, "ring:nodes=3", option, "9" * 5000).error_line(status=2)
    assert f"'{option}': '{'9' * 57}...' has more than 100 digits (see" in message


@pytest.mark.parametrize("words", [["optimum"], ["generate"], ["generate", "--collective", "allgather"]])
def test_a_root_of_an_allgather_is_refused(words: list[str]) -> None:
    message = run_command(*words, "ring:nodes=3", "--root", "0").error_line(status=2)
    assert message.startswith("an allgather has no root; leave --root out (see")


def test_an_empty_output_name_is_refused() -> None:
    message = run_command("topology", "ring:nodes=3", "-o", "").error_line(status=2)
    assert "'-o' / '--output': the file name is empty; give a name" in message


@pytest.mark.parametrize("words", [["topology"], ["generate"], ["generate", "--json"]])
def test_an_output_in_a_missing_folder_is_refused(tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "no" / "folder.json"
    message = run_command(*words, "ring:nodes=3", "-o", path).error_line()
    assert message == f"{path}: cannot be written: the folder {path.parent} does not exist"


@pytest.mark.parametrize("words", [["topology"], ["generate"], ["generate", "--json"]])
def test_an_output_that_is_a_folder_is_refused(tmp_path: Path, words: list[str]) -> None:
    message = run_command(*words, "ring:nodes=3", "-o", tmp_path).error_line()
    assert message == f"{tmp_path}: is a folder; name a file in it"
    assert not list(tmp_path.iterdir())


def test_a_number_of_trees_that_unbalances_a_switch_is_refused(tmp_path: Path) -> None:
    edges = [edge("a", "s", 3), edge("b", "s", 3), edge("s", "c", 6), edge("c", "a", 9), edge("c", "b", 9)]
    path = write_network(tmp_path, edges, "abc", "s", directed=True)
    outcomes = {trees: run_command("optimum", path, "--trees", trees, "--json") for trees in range(1, 6)}
    for run in outcomes.values():
        if run.status != 0:
            assert "switch 's' would receive" in run.error_line()
        else:
            assert json.loads(run.out)["algbw"]
