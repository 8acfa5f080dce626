import gzip
import json
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path

import pytest
from cli_run import edge, json_of, process, run_command, write_network, written

from forestcoll.base.resources import ResourceEstimate
from forestcoll.schedule.files import read_schedule
from forestcoll.solver.generation import memory
from forestcoll.verification import verify


@pytest.mark.parametrize("name", ["schedule.json", "schedule.json.gz"])
def test_the_written_schedule_is_correct_and_optimal(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    run = run_command("generate", "dgx-a100:boxes=2", "-o", path)
    assert (run.status, run.err) == (0, "")
    assert str(path) in run.out
    schedule = read_schedule(path)
    report = verify(schedule)
    assert report.ok
    assert report.optimal
    assert report.algbw == Fraction(1040, 3)
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_gz_file_is_the_gzip_of_the_same_text(tmp_path: Path) -> None:
    plain, packed = tmp_path / "s.json", tmp_path / "s.json.gz"
    for path in (plain, packed):
        assert run_command("generate", "ring:nodes=5", "-o", path).status == 0
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()


def test_json_has_the_optimum_and_the_shape(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    document = run_command("generate", "dgx-a100:boxes=2", "--json", "-o", path).document()
    best = json_of("optimum", "dgx-a100:boxes=2")
    assert {key: document[key] for key in best} == best
    assert (document["optimal"], document["verified"], document["output"]) == (True, True, str(path))
    assert document["trees"] == len(json.loads(path.read_text())["phases"][0]["trees"])
    seconds = document["seconds"]
    assert {"finding the bottleneck cut", "verifying", "writing"} <= set(seconds)


@pytest.mark.parametrize(
    ("option", "count", "trees", "algbw"), [("--trees", 4, 4, "1024/3"), ("--max-trees", 4, 3, "2400/7")]
)
def test_few_trees(tmp_path: Path, option: str, count: int, trees: int, algbw: str) -> None:
    path = tmp_path / "s.json"
    document = run_command("generate", "mi250:boxes=2", option, count, "--json", "-o", path).document()
    assert (document["trees_per_root"], document["algbw"], document["optimal"]) == (trees, algbw, False)
    checked = json_of("verify", path)
    assert (checked["algbw"], checked["optimal_algbw"], checked["optimal"]) == (algbw, "5312/15", False)


@pytest.mark.parametrize(
    ("collective", "algbw", "optimum"), [("allgather", "200/3", "200/3"), ("alltoall", "25", "100/3")]
)
def test_few_peers(tmp_path: Path, collective: str, algbw: str, optimum: str) -> None:
    path = tmp_path / "s.json"
    words = ("dgx-a100:boxes=4,gpus=2", "--collective", collective, "--max-peers", 2)
    found, best = json_of("generate", *words, "-o", path), json_of("optimum", *words)
    assert {key: found[key] for key in best} == best
    assert (found["algbw"], found["optimal_algbw"], found["optimal"]) == (algbw, optimum, algbw == optimum)
    assert verify(read_schedule(path)).ok


@pytest.mark.parametrize("digits", [30, 59])
def test_results_longer_than_any_bandwidth_are_read_back(tmp_path: Path, digits: int) -> None:
    edges = [
        edge(one, other, f"{10**digits // (place + 7)}/{10 ** (digits - 1) + 11 * place * place + 1}")
        for place, (one, other) in enumerate(permutations("abcde", 2))
    ]
    path, network = tmp_path / "s.json", write_network(tmp_path, edges, "abcde", directed=True)
    assert run_command("generate", network, "-o", path).status == 0
    algbw = str(read_schedule(path).algbw)
    assert len(algbw) > 3 * digits
    document = json_of("verify", path)
    assert (document["optimal"], document["algbw"]) == (True, algbw)


def test_a_note_says_that_numbers_are_too_wide_for_the_native_core(tmp_path: Path) -> None:
    nodes = "abcdefghijklmnopqrst"
    pairs = list(combinations(nodes, 2))
    optimum, more = ["optimum"], (["generate", "--json", "-o", tmp_path / "s.json"], ["optimum", "--trees", 1])
    for count, err, commands in ((2, "", [optimum]), (len(pairs), "forestcoll: note: small: the numbers need ", more)):
        edges = [edge(*pair, f"1/{10**9 + place}" if place < count else 1) for place, pair in enumerate(pairs)]
        network = write_network(tmp_path, edges, nodes)
        for words in commands:
            run = run_command(*words, network)
            assert run.status == 0
            assert run.err.startswith(err)
            assert run.err.count("\n") == bool(err)


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    network = written(tmp_path / "network.json.gz", "topology", "mi250:boxes=2,gpus=8")
    found = []
    for seed in ("1", "4321"):
        path = tmp_path / f"{seed}.json.gz"
        assert process("generate", network, "-o", path, PYTHONHASHSEED=seed).status == 0
        found.append(path.read_bytes())
    assert found[0] == found[1]


def test_a_schedule_too_large_for_the_memory_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_OF_EDGE", ResourceEstimate(0.0, 1e12))
    network = write_network(tmp_path, [edge("a", "b", 1), edge("b", "c", 2), edge("c", "d", 3)], "abcd")
    message = run_command("generate", network, "-o", tmp_path / "s.json", memory="1GB").error_line()
    assert message.startswith(
        "small: a schedule of 12 tree edges would take about 12,000 GB of memory; ask for base trees"
    )
    assert list(tmp_path.iterdir()) == [network]


def test_a_compact_schedule_is_verified(tmp_path: Path) -> None:
    schedule = tmp_path / "s.json"
    assert "2, 16 images each: 32 trees" in run_command("generate", "dgx-a100:boxes=2", "--compact", "-o", schedule).out
    assert [shift["order"] for shift in json.loads(schedule.read_bytes())["symmetry"]] == [8, 2]
    page = run_command("verify", schedule).out
    assert "valid: allgather" in page
    assert "listed trees  2, 16 images each: 32 trees\n" in page


def test_trees_survive_failures_and_what_is_left_is_written(tmp_path: Path) -> None:
    path, folder = tmp_path / "s.json", tmp_path / "failover"
    arguments = ("generate", "torus:dims=3x3", "--survive", "links", "-o", path, "-o", f"failover={folder}")
    document = run_command(*arguments, "--json").document()
    found = {key: document[key] for key in ("algbw", "part", "guarantee", "guarantee_optimal", "replanned_algbw")}
    assert found == {
        "algbw": "9/2",
        "part": "links",
        "guarantee": "5/2",
        "guarantee_optimal": True,
        "replanned_algbw": "27/8",
    }
    assert verify(read_schedule(path)).ok
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["format"], manifest["healthy"]["algbw"]) == ("forestcoll.failover/1", "9/2")
    assert len(manifest["failures"]) == 18
    for row in manifest["failures"]:
        schedule = read_schedule(folder / row["file"])
        assert verify(schedule).ok
        assert str(schedule.algbw) == row["algbw"]
        assert Fraction(row["algbw"]) >= Fraction(5, 2)
    assert document["left_algbw"] == min((row["algbw"] for row in manifest["failures"]), key=Fraction)
    text = run_command(*arguments).out
    assert "one of 18 links fails  5/2 GB/s (2.5), 55.55% of the algbw, the most of any trees" in text


def test_a_folder_of_other_trees_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    path, folder = tmp_path / "s.json", tmp_path / "failover"
    for network in ("ring:nodes=4", "ring:nodes=5"):
        run = run_command("generate", network, "--survive", "links", "-o", path, "-o", f"failover={folder}")
    assert "holds '0-1-4a5f32a11a59.json.gz', which is no file of this failover set" in run.error_line()
    assert read_schedule(path).topology.name == "ring:nodes=4"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--survive links --method fast", "--survive is the method surviving; leave --method fast out"),
        ("--survive links --trees 2", "leave it out with the method surviving"),
        ("--survive links --collective all-to-all", "surviving is not a method for an all-to-all"),
        ("--survive cables", "cables"),
        ("--survive links --size 1MB", "surviving takes no size"),
        ("--survive links --for msccl-xml", "--for may take other trees than those that survive"),
        ("-o failover=d", "also give --survive"),
        ("--survive switches", "there are no switches that can fail"),
    ],
)
def test_what_does_not_fit_survival_is_refused(arguments: str, said: str) -> None:
    run = run_command("generate", "ring:nodes=4", *arguments.split())
    assert run.status in {1, 2}
    assert said in run.err


def test_a_method_that_is_named_is_used_for_a_size_too() -> None:
    run = run_command("generate", "ring:nodes=4", "--method", "bfb", "--size", "1MB")
    assert "the link from 0 to 1 has no latency_us, which a data size needs" in run.err
    run = run_command("generate", "ring:nodes=4", "--method", "nccl-ring", "--size", "1MB")
    assert "nccl-ring takes no size" in run.err
