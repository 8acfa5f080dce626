import json
import re
from pathlib import Path

import pytest
from cli_run import edge, json_of, run_command, write_network


def test_a_bound_that_is_not_known_to_be_reached_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.solver.allreduce.search.MOST_NODES", 0)  # no trees are packed
    edges = [edge(node, hub) for node in "abcd" for hub in "xy"]
    path = write_network(tmp_path, edges, "abcd", "xy")
    network = json.loads(path.read_text())
    network["nodes"][4:] = [each | {"multicast": True, "aggregation": True} for each in network["nodes"][4:]]
    path.write_text(json.dumps(network))
    out = run_command("optimum", "--all", path).out
    assert re.search(r"allreduce .* \* .* 80\.00% of the bound", out)
    assert "* no schedule that reaches this bound is known" in out


def test_a_program_that_is_too_large_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.solver.allreduce.linear_program.MOST_COLUMNS", 3)
    monkeypatch.setattr("forestcoll.solver.flows.search.MOST_COLUMNS", 3)
    monkeypatch.setattr("forestcoll.solver.flows.spreading.MOST_NODES", 2)
    out = run_command("optimum", "--all", "mi250:boxes=2").out
    assert "  allreduce: the bound may not be tight: its linear program has 48 columns; at most 3 can" in out
    assert "  all-to-all: not computed: its linear program has" in out
    assert "2656/15 GB/s (177.067), reached; a greater rate may be possible\n" in out
    found = json_of("optimum", "--all", "mi250:boxes=2")
    assert set(found["not_computed"]) == {"allreduce", "all-to-all"}
    assert "all-to-all" not in found["collectives"]


def test_long_fractions_do_not_break_the_table(tmp_path: Path) -> None:
    edges = [edge("a", "b", f"1/{10**9 + 7}"), edge("b", "c", f"1/{10**9 + 9}"), edge("a", "c", f"1/{10**9 + 21}")]
    out = run_command("optimum", "--all", write_network(tmp_path, edges, nodes="abc")).out
    assert "about 3e-09" in out
    assert max(map(len, out.splitlines()[:8])) < 80
