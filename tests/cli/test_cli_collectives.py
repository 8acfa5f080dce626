import json
from fractions import Fraction
from pathlib import Path

import pytest
from cli_run import edge, run_command, write_network

from forestcoll.demand.collective import SCHEDULED

ROOTS = {"broadcast": "b0/gpu1", "reduce": "b1/gpu0"}
SPEC = "dgx-a100:boxes=2,gpus=3"


def words_of(collective: str) -> list[str]:
    return ["--collective", collective, *(["--root", ROOTS[collective]] if collective in ROOTS else [])]


@pytest.mark.parametrize("collective", [each.value for each in SCHEDULED])
def test_every_collective_is_generated_and_verified(tmp_path: Path, collective: str) -> None:
    path = tmp_path / "s.json"
    best = run_command("optimum", SPEC, *words_of(collective), "--json").document()
    made = run_command("generate", SPEC, *words_of(collective), "-o", path, "--json").document()
    judged = run_command("verify", path, "--json").document()
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


@pytest.mark.parametrize("collective", [each.value for each in SCHEDULED])
def test_the_text_report_of_every_collective(tmp_path: Path, collective: str) -> None:
    path = tmp_path / "s.json"
    for run in (
        run_command("optimum", SPEC, *words_of(collective)),
        run_command("generate", SPEC, *words_of(collective), "-o", path),
        run_command("verify", path),
    ):
        assert (run.status, run.err) == (0, "")
        assert f": {collective} " in run.out


def test_the_text_report_of_a_broadcast() -> None:
    out = run_command("optimum", "dgx-a100:boxes=2", *words_of("broadcast")).out
    for words in (
        "broadcast from b0/gpu1 over 16 compute nodes",
        "8 from the root, 25 GB/s each",
        "The 8 GPUs of box 1 must receive all of the data from the other 8 GPUs. All of it enters over these links:",
        "200 GB/s together, so algbw <= 200 GB/s.",
    ):
        assert words in out


def test_the_text_report_of_an_allreduce_calls_its_bound_a_bound() -> None:
    out = run_command("optimum", "dgx-a100:boxes=2", "--collective", "allreduce", "--max-trees", 2).out
    for words in (
        "1200/7",
        "bound",
        "520/3 GB/s (173.333) at most along trees",
        "1 per root to reduce and 1 per root to gather",
        "98.90% of the bound",
    ):
        assert words in out
    document = run_command("optimum", "dgx-a100:boxes=2", "--collective", "allreduce", "--json").document()
    assert (document["algbw"], document["optimal_algbw"], document["proof"]) == ("520/3", "520/3", {"kind": "receipt"})
    bottleneck = document["bottleneck"]
    assert isinstance(bottleneck, dict)
    assert bottleneck["exit_bandwidth"] == "200"
    assert document["phases"] == [
        {"collective": "reduce-scatter", "algbw": "1040/3", "trees_per_root": 13},
        {"collective": "allgather", "algbw": "1040/3", "trees_per_root": 13},
    ]


def test_an_allreduce_shares_links_between_its_phases_if_that_is_faster() -> None:
    """On a path, the two halves in sequence reach 5/8. Trees of one root use each link in both directions."""
    for command in ("optimum", "generate"):
        document = run_command(command, "mesh:dims=5", "--collective", "allreduce", "--json").document()
        assert (document["algbw"], document["optimal_algbw"]) == ("1", "1")
    out = run_command("generate", "mi250:boxes=2,gpus=8", "--collective", "allreduce").out
    for words in ("128 GB/s", "reached: no schedule is faster", "64 from 4 roots to reduce and 64 from 4"):
        assert words in out


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_shards_are_read_from_a_file(tmp_path: Path, collective: str) -> None:
    shards, path = tmp_path / "shards.json", tmp_path / "s.json"
    shards.write_text('{"0": "1/2", "2": 0.25, "1": "1/4"}')
    words = ["--collective", collective, "--shards", shards]
    best = run_command("optimum", "ring:nodes=4", *words, "--json").document()
    assert best["shards"] == {"0": "1/2", "1": "1/4", "2": "1/4", "3": "0"}
    assert best["algbw"] == "2"
    assert run_command("generate", "ring:nodes=4", *words, "-o", path).status == 0
    assert json.loads(path.read_text())["shards"] == best["shards"]
    assert run_command("verify", path, "--json").document()["optimal"] is True
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


@pytest.mark.parametrize("spelling", ["reduce_scatter", "ReduceScatter", "REDUCE-SCATTER"])
def test_the_usual_spellings_of_collectives_are_accepted(spelling: str) -> None:
    best = run_command("optimum", "ring:nodes=4", "--collective", spelling, "--json").document()
    assert best["collective"] == "reduce-scatter"


def test_an_unknown_collective_is_wrong_usage_with_the_nearest_name() -> None:
    message = run_command("optimum", "ring:nodes=4", "--collective", "allgahter").error_line(status=2)
    said = "Invalid value for '--collective': there is no collective 'allgahter'; did you mean 'allgather'? there are "
    assert message.startswith(said)


@pytest.mark.parametrize("command", ["optimum", "generate"])
def test_roots_and_shards_are_wrong_usage_for_collectives_without_them(tmp_path: Path, command: str) -> None:
    for collective in ("allgather", "reduce-scatter", "allreduce"):
        run = run_command(command, "ring:nodes=3", "--collective", collective, "--root", 0)
        assert f"{collective} has no root; leave --root out (see" in run.error_line(status=2)
    for collective in ("broadcast", "reduce"):
        run = run_command(command, "ring:nodes=3", "--collective", collective)
        assert f"a {collective} needs a root; give --root ID" in run.error_line(status=2)
        run = run_command(command, "ring:nodes=3", *["--collective", collective, "--root", 0, "--shards", tmp_path])
        assert f"a {collective} has no shards" in run.error_line(status=2)


def test_the_error_for_a_root_that_is_not_a_compute_node_names_it(tmp_path: Path) -> None:
    run = run_command("optimum", SPEC, "--collective", "reduce", "--root", "ib")
    assert (
        run.error_line() == f"{SPEC}: root 'ib' is a switch; give the id of a compute node, or its position from 0 to 5"
    )
    run = run_command("generate", SPEC, "--collective", "broadcast", "--root", "gpu")
    hint = "did you mean 'b0/gpu0'? give the id of a compute node, or its position from 0 to 5"
    assert run.error_line() == f"{SPEC}: there is no node 'gpu' for the root; {hint}"
    network = write_network(tmp_path, [edge(1, "1"), edge("1", 2), edge(2, 1)], [1, "1", 2])
    run = run_command("optimum", network, "--collective", "broadcast", "--root", "1")
    assert "'1' is the id of two nodes, an integer and a text; rename one" in run.error_line()
    assert run_command("optimum", network, "--collective", "broadcast", "--root", "2").status == 0
