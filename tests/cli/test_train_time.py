import json
from pathlib import Path

import pytest
from cli_run import edge, run_command, write_network

from forestcoll.base.files import read_document


def test_the_training_time_of_a_sample_profile() -> None:
    document = run_command("train-time", "switch-base-256", "torus:dims=4x4,bandwidth=25/8", "--json").document()
    assert document["nodes"] == 16
    parts = [float(str(document[key])) for key in ("computing_us", "all_to_all_us", "exposed_allreduce_us")]
    assert sum(parts) == pytest.approx(document["iteration_us"])
    assert len(document["by_bucket"]) == 4  # type: ignore[arg-type]


def test_the_report_says_how_the_rate_of_all_to_alls_was_computed() -> None:
    words = ("train-time", "switch-base-256", "torus:dims=4x4,bandwidth=25/8")
    assert "the exact rate of the best flow" in run_command(*words).out
    rate = run_command(*words, "--json").document()["all_to_all_rate"]
    assert rate == {"algbw": 6.25, "bound_algbw": 6.25, "method": "exact", "reason": None}


def test_the_time_of_a_given_allreduce_schedule_of_trees_or_steps(tmp_path: Path) -> None:
    for method in ("auto", "bfb"):
        schedule = tmp_path / f"{method}.json"
        run_command("generate", "ring:nodes=4", "--collective", "allreduce", "--method", method, "-o", schedule)
        run = run_command("train-time", "switch-base-256", schedule, "--buckets", "1MB,2GB")
        assert run.status == 0, run.err
        assert "4 nodes" in run.out
        assert "all-to-all" in run.out


def test_a_schedule_of_another_collective_is_refused(tmp_path: Path) -> None:
    schedule = tmp_path / "gather.json"
    run_command("generate", "ring:nodes=4", "-o", schedule)
    message = run_command("train-time", "switch-base-256", schedule).error_line()
    assert message == "ring:nodes=4: training needs an allreduce, and this schedule is of allgather"


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for ending in ("png", "svg"):
        picture = tmp_path / f"timeline.{ending}"
        assert run_command("train-time", "switch-base-256", "ring:nodes=8", "--picture", picture).status == 0
        assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("missing.json", "ring:nodes=4"), 1, "'missing.json': no such sample or file; the samples are"),
        (
            ("switch-base-256", "ring:nodes=6"),
            1,
            "switch-base-256 on 6 nodes; expected 2 or more",
        ),
        (("switch-base-256", "dgx-a100:boxes=2"), 1, "has switches"),
        (("switch-base-256", "ring:nodes=4", "--buckets", "many"), 2, "many"),
        (("switch-base-256", "ring:nodes=4", "--alpha", "-1"), 2, "expected 0 or more"),
        (("switch-base-256", "ring:nodes=4", "--alpha", "x"), 2, "expected microseconds such as 10"),
        (
            ("switch-base-256", "ring:nodes=4", "--picture", "x.gif"),
            1,
            "x.gif: the file name must end in one of .png",
        ),
    ],
)
def test_invalid_arguments_are_refused(arguments: tuple[str, ...], status: int, message: str) -> None:
    run = run_command("train-time", *arguments)
    assert (run.status, run.out) == (status, "")
    assert message in run.err


def test_an_incorrect_schedule_is_refused(tmp_path: Path) -> None:
    schedule = tmp_path / "fast.json"
    run_command("generate", "ring:nodes=4", "--collective", "allreduce", "-o", schedule)
    document = read_document(schedule)
    schedule.write_text(json.dumps({**document, "algbw": "1000"}))
    message = run_command("train-time", "switch-base-256", schedule).error_line()
    assert message.startswith(f"{schedule}: algbw is 1000, but link ")
    assert message.endswith("[algbw-wrong]")


def test_a_series_of_broadcasts_is_refused(tmp_path: Path) -> None:
    schedule = tmp_path / "series.json"
    run_command("broadcast-series", "ring:nodes=4", "--source", "0", "-o", schedule)
    message = run_command("train-time", "switch-base-256", schedule).error_line()
    assert message == "ring:nodes=4: training needs an allreduce, and this schedule is of broadcast"


@pytest.mark.parametrize("exponent", [14, 18, 30])
def test_bandwidths_that_differ_by_many_orders_of_magnitude(exponent: int, tmp_path: Path) -> None:
    wide = [edge("a", "b", 10**exponent), edge("b", "c", 1), edge("c", "d", 3), edge("d", "a", 7 * 10**exponent)]
    path = write_network(tmp_path, wide, "abcd")
    assert run_command("train-time", "switch-base-256", path, "--json").document()["nodes"] == 4
    bounds = run_command("bounds", path, "--json").document()["collectives"]
    assert bounds["all-to-all"]["achieved_algbw"] == bounds["all-to-all"]["upper_algbw"] == "16/3"  # type: ignore[index]
