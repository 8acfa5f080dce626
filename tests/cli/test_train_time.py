import json
from pathlib import Path

from cli_run import edge, json_of, run_command, write_network

from forestcoll.base.files import read_document


def test_the_time_of_a_given_allreduce_schedule_of_trees_or_steps(tmp_path: Path) -> None:
    for method in ("auto", "bfb"):
        schedule = tmp_path / f"{method}.json"
        run_command("generate", "ring:nodes=4", "--collective", "allreduce", "--method", method, "-o", schedule)
        run = run_command("train-time", "switch-base-256", schedule, "--buckets", "1MB,2GB")
        assert run.status == 0, run.err
        assert "4 nodes" in run.out
        assert "all-to-all" in run.out


def test_an_incorrect_schedule_is_refused(tmp_path: Path) -> None:
    schedule = tmp_path / "fast.json"
    run_command("generate", "ring:nodes=4", "--collective", "allreduce", "-o", schedule)
    document = read_document(schedule)
    schedule.write_text(json.dumps({**document, "algbw": "1000"}))
    message = run_command("train-time", "switch-base-256", schedule).error_line()
    assert message.startswith(f"{schedule}: algbw is 1000, but link ")
    assert message.endswith("[algbw-wrong]")


def test_bandwidths_that_differ_by_many_orders_of_magnitude(tmp_path: Path) -> None:
    wide = [edge("a", "b", 10**18), edge("b", "c", 1), edge("c", "d", 3), edge("d", "a", 7 * 10**18)]
    path = write_network(tmp_path, wide, "abcd")
    assert json_of("train-time", "switch-base-256", path)["nodes"] == 4
    bounds = json_of("optimum", "--all", path)["collectives"]
    assert bounds["all-to-all"]["achieved_algbw"] == bounds["all-to-all"]["upper_algbw"] == "16/3"
