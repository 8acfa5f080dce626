import time
from pathlib import Path

import pytest
from cli_run import edge, json_of, run_command, write_network


def test_the_list_of_numbers_of_trees_ends_with_the_optimum() -> None:
    began = time.process_time()
    document = json_of("optimum", "mi250:boxes=2", "--max-trees", 10**9)
    assert time.process_time() - began < 10
    rows = document["by_trees"]
    assert [row["trees_per_root"] for row in rows] == list(range(1, 84))
    assert [row["optimal"] for row in rows] == [False] * 82 + [True]
    assert (document["trees_per_root"], document["algbw"]) == (83, rows[-1]["algbw"]) == (83, "5312/15")


def test_a_file_in_another_unit(tmp_path: Path) -> None:
    graph = {"format": "forestcoll.topology/1", "name": "lab", "bandwidth_unit": "Gbit/s"}
    path = write_network(tmp_path, [edge("a", "b", "0.1")], graph=graph)
    assert "lab: allgather over 2 compute nodes" in run_command("optimum", path).out
    document = json_of("optimum", path)
    assert (document["algbw"], document["unit"]) == ("1/5", "Gbit/s")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--frontier --trees 2", "--trees is for trees; --frontier divides data among step trees"),
        ("--frontier --all", "--all and --frontier exclude each other; give one of them"),
        ("-o out.svg", "-o is for --frontier; also give --frontier"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments: str, message: str) -> None:
    run = run_command("optimum", "ring:nodes=4", *arguments.split())
    assert run.status != 0
    assert message in run.err


def test_a_frontier_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "frontier.svg"
    run = run_command("optimum", "dgx-1:boxes=1", "--frontier", "-o", path)
    assert run.status == 0
    assert "2 steps: 9/8" in path.read_text()
