import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli_run import edge, json_of, run_command, write_network

CONTRACT = {"upper_algbw", "achieved_algbw", "limit"}
OPERATIONS = ["allgather", "reduce-scatter", "broadcast", "reduce", "allreduce", "all-to-all"]


def document(*arguments: object) -> Any:
    return json_of("bounds", *arguments)


def test_json_has_the_documented_keys() -> None:
    found = document("dgx-a100:boxes=2")
    assert list(found["collectives"]) == OPERATIONS
    assert all(set(each) >= CONTRACT for each in found["collectives"].values())
    assert set(found["allreduce_rate"]) >= {"cut_set_upper", "tree_lower"}
    assert found["collectives"]["allgather"]["upper_algbw"] == "1040/3"
    assert found["collectives"]["allgather"]["achieved_algbw"] == "1040/3"
    assert found["collectives"]["allreduce"]["achieved_algbw"] == "520/3"
    assert found["collectives"]["all-to-all"]["achieved_algbw"] == "50"
    assert (found["allreduce_rate"]["cut_set_upper"], found["allreduce_rate"]["tree_lower"]) == ("200", "520/3")
    assert found["unit"] == "GB/s"
    proof = document("mi250:boxes=2")["collectives"]["allreduce"]["certificate"]
    assert proof["kind"] == "tree-dual"
    assert "symmetry" not in proof  # all images are written out


TREES_FILL = "not faster than trees: trees fill 0 -> 1, the only link out of a set with 1 of 3 ranks (Theorem 3)"


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("mesh:dims=3", TREES_FILL),
        ("ring:nodes=3", "at most 4/3 (1.33333) times the rate along trees; linear codes are not faster than trees"),
        ("dgx-h100:boxes=1,nvls=true", "not faster than trees: trees reach the cut-set bound"),
    ],
)
def test_the_table_says_what_codes_can_gain(spec: str, line: str) -> None:
    lines = run_command("bounds", spec).out.splitlines()
    assert any(each.startswith("  allreduce, with codes ") and line in each for each in lines)


def test_the_table_has_the_rate_of_blocks() -> None:
    assert "n / (n + 13) of the rate along trees" in run_command("bounds", "hypercube:dim=3").out


def test_the_text_report_shows_the_table() -> None:
    run = run_command("bounds", "dgx-a100:boxes=2")
    assert (run.status, run.err) == (0, "")
    for words in (
        "dgx-a100:boxes=2: bounds of all collectives, 16 compute nodes, in GB/s",
        "  allgather       1040/3 (346.667)  325             the bound\n",
        "  allgather: GPU b0/gpu0 must receive 15/16 of the data from the other 15 GPUs. All of it enters over ",
        "algbw <= 325 / (15/16) = 1040/3 GB/s.",
        "algbw <= 5200 / 30 = 520/3 GB/s.",
        "520/3 GB/s (173.333), the greatest rate along trees",
        "at least 1 send (b0/gpu0 -> b0/gpu1); at most 2 links between two nodes",
    ):
        assert words in run.out


def test_the_report_says_if_an_allreduce_beats_its_two_halves() -> None:
    out = run_command("bounds", "mi250:boxes=2,gpus=8").out
    assert "allreduce, along trees            128 GB/s, the greatest rate along trees\n" in out
    assert "reduce-scatter, then allgather  104 GB/s, 81.25% of the rate along trees\n" in out
    assert "both at the same time           the same\n" in out


def test_a_bound_that_is_not_known_to_be_reached_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.solver.allreduce.search.MOST_NODES", 0)  # no trees are packed
    edges = [edge(node, hub) for node in "abcd" for hub in "xy"]
    path = write_network(tmp_path, edges, "abcd", "xy")
    network = json.loads(path.read_text())
    network["nodes"][4:] = [each | {"multicast": True, "aggregation": True} for each in network["nodes"][4:]]
    path.write_text(json.dumps(network))
    out = run_command("bounds", path).out
    assert re.search(r"allreduce .* \* .* 80\.00% of the bound", out)
    assert "* no schedule that reaches this bound is known" in out


def test_a_program_that_is_too_large_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.solver.allreduce.linear_program.MOST_COLUMNS", 3)
    monkeypatch.setattr("forestcoll.solver.flows.search.MOST_COLUMNS", 3)
    monkeypatch.setattr("forestcoll.solver.flows.spreading.MOST_NODES", 2)
    out = run_command("bounds", "mi250:boxes=2").out
    assert "  allreduce: the bound may not be tight: its linear program has 48 columns; at most 3 can" in out
    assert "  all-to-all: not computed: its linear program has" in out
    assert "2656/15 GB/s (177.067), reached; a greater rate may be possible\n" in out
    found = document("mi250:boxes=2")
    assert set(found["not_computed"]) == {"allreduce", "all-to-all"}
    assert "all-to-all" not in found["collectives"]


def test_long_fractions_do_not_break_the_table(tmp_path: Path) -> None:
    edges = [edge("a", "b", f"1/{10**9 + 7}"), edge("b", "c", f"1/{10**9 + 9}"), edge("a", "c", f"1/{10**9 + 21}")]
    out = run_command("bounds", write_network(tmp_path, edges, nodes="abc")).out
    assert "about 3e-09" in out
    assert max(map(len, out.splitlines()[:8])) < 80


def test_the_root_is_given_by_id(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge("a", "b", 7), edge("b", "c", 2)], nodes="abc")
    assert document(path, "--root", "a")["collectives"]["broadcast"]["root"] == "a"
    assert document("ring:nodes=3", "--root", "1")["collectives"]["reduce"]["root"] == 1


def test_one_bound_of_trees() -> None:
    found = document("ring:nodes=4", "--collective", "allgather")["collectives"]
    assert found["allgather"]["upper_algbw"] == "8/3"
