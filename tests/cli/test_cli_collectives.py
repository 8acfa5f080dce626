import json
from fractions import Fraction
from pathlib import Path

import pytest
from cli_run import edge, json_of, run_command, write_network

from forestcoll.demand.collective import SCHEDULED

ROOTS = {"broadcast": "b0/gpu1", "reduce": "b1/gpu0"}
SPEC = "dgx-a100:boxes=2,gpus=3"


def words_of(collective: str) -> list[str]:
    return ["--collective", collective, *(["--root", ROOTS[collective]] if collective in ROOTS else [])]


@pytest.mark.parametrize("collective", [each.value for each in SCHEDULED])
def test_every_collective_is_generated_and_verified(tmp_path: Path, collective: str) -> None:
    path = tmp_path / "s.json"
    best = json_of("optimum", SPEC, *words_of(collective))
    made = json_of("generate", SPEC, *words_of(collective), "-o", path)
    judged = json_of("verify", path)
    assert judged["valid"] is True
    assert judged["collective"] == made["collective"] == best["collective"] == collective
    assert judged["algbw"] == made["algbw"]
    assert judged["optimal_algbw"] == best["optimal_algbw"]
    if collective == "allreduce":
        assert Fraction(str(best["algbw"])) <= Fraction(str(made["algbw"])) <= Fraction(str(best["optimal_algbw"]))
    else:
        assert made["algbw"] == best["algbw"] == best["optimal_algbw"]
        assert judged["optimal"] is made["optimal"] is True
    assert best.get("root") == made.get("root") == judged.get("root") == ROOTS.get(collective)
    for command in (
        ["optimum", SPEC, *words_of(collective)],
        ["generate", SPEC, *words_of(collective)],
        ["verify", path],
    ):
        assert f": {collective} " in run_command(*command).out


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_shards_are_read_from_a_file(tmp_path: Path, collective: str) -> None:
    shards, path = tmp_path / "shards.json", tmp_path / "s.json"
    shards.write_text('{"0": "1/2", "2": 0.25, "1": "1/4"}')
    words = ["--collective", collective, "--shards", shards]
    best = json_of("optimum", "ring:nodes=4", *words)
    assert best["shards"] == {"0": "1/2", "1": "1/4", "2": "1/4", "3": "0"}
    assert best["algbw"] == "2"
    assert run_command("generate", "ring:nodes=4", *words, "-o", path).status == 0
    assert json.loads(path.read_text())["shards"] == best["shards"]
    assert json_of("verify", path)["optimal"] is True
    assert "1 for each 1/4 of the data" in run_command("optimum", "ring:nodes=4", *words).out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"0": "1/2"}', "the shards add up to 1/2; they must add up to exactly 1"),
        ('{"0": "3/2", "1": "-1/2"}', "the shard of node 1 is '-1/2'; it must be 0 or more"),
        ('{"0": 1, "9": 0}', "no node '9'; use the id of one of its nodes"),
        ('{"0": "all"}', "the shard of node 0, 'all', is not a number"),
        ("[1]", "holds a JSON array; expected an object"),
    ],
)
def test_the_error_for_invalid_shards_names_their_file(tmp_path: Path, text: str, message: str) -> None:
    shards = tmp_path / "shards.json"
    shards.write_text(text)
    said = run_command("optimum", "ring:nodes=3", "--shards", shards).error_line()
    assert said.startswith(f"{shards}: ")
    assert message in said


def test_a_root_that_is_the_id_of_two_nodes_is_refused(tmp_path: Path) -> None:
    network = write_network(tmp_path, [edge(1, "1"), edge("1", 2), edge(2, 1)], [1, "1", 2])
    run = run_command("optimum", network, "--collective", "broadcast", "--root", "1")
    assert "'1' is the id of two nodes, an integer and a text; rename one" in run.error_line()
    assert run_command("optimum", network, "--collective", "broadcast", "--root", "2").status == 0
