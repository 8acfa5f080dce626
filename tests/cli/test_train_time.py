import json
from pathlib import Path

import pytest
from cli_run import edge, json_of, run_command, write_network

from forestcoll.base.files import read_document


def test_the_training_time_of_a_sample_profile() -> None:
    document = json_of("train-time", "switch-base-256", "torus:dims=4x4,bandwidth=25/8")
    assert document["nodes"] == 16
    parts = [float(str(document[key])) for key in ("computing_us", "all_to_all_us", "exposed_allreduce_us")]
    assert sum(parts) == pytest.approx(document["iteration_us"])
    assert len(document["by_bucket"]) == 4


def test_the_report_says_how_the_rate_of_all_to_alls_was_computed() -> None:
    words = ("train-time", "switch-base-256", "torus:dims=4x4,bandwidth=25/8")
    assert "the exact rate of the best flow" in run_command(*words).out
    rate = json_of(*words)["all_to_all_rate"]
    assert rate == {"algbw": 6.25, "bound_algbw": 6.25, "method": "exact", "reason": None}


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
    bounds = json_of("bounds", path)["collectives"]
    assert bounds["all-to-all"]["achieved_algbw"] == bounds["all-to-all"]["upper_algbw"] == "16/3"
