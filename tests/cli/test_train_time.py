import json
from pathlib import Path

import pytest
from cli_run import edge, json_of, run_command, write_network

from forestcoll.base.files import read_document
from forestcoll.design.workloads import sharded


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


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("mixtral-8x7b", ("--layout", "pp=4"), "pp is not in the model of an iteration; use tp, ep, fsdp, dp"),
        ("switch-base-256", ("--layout", "ep=2,fsdp=2"), "no layer has parameter_bytes, which fsdp of ep=2,fsdp=2"),
        ("gpt2-small", ("--layout", "fsdp=4"), "no layer has parameter_bytes"),
        ("gpt2-small", ("--layout", "tp=4"), "no layer has tensor_bytes"),
    ],
)
def test_profiles_and_options_that_are_refused(name: str, options: tuple[str, ...], words: str) -> None:
    assert words in run_command("train-time", name, "ring:nodes=4", *options).error_line()


def test_methods_without_a_layout_are_refused() -> None:
    run = run_command("train-time", "gpt2-small", "ring:nodes=4", "--method", "bfb")
    assert run.status == 2
    assert "also give --layout, as in fsdp=16" in run.err


def test_layouts_and_methods_are_compared_and_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "bars.svg"
    layouts = ("--layout", "fsdp=4", "--layout", "fsdp=2,dp=2")
    rows = json_of("train-time", "llama-3-8b", "dgx-a100:boxes=2,gpus=2", *layouts, "-o", picture)["layouts"]
    assert [(each["layout"], each["method"], each["batches"]) for each in rows] == [
        ("fsdp=4", "forestcoll", 4),
        ("fsdp=2,dp=2", "forestcoll", 4),
    ]
    assert "computing alone" in picture.read_text()
    one = json_of("train-time", "llama-3-8b", "ring:nodes=4", "--layout", "fsdp=4", "--method", "bfb")["layouts"]
    assert [each["method"] for each in one] == ["forestcoll", "bfb"]


def test_networks_are_compared_over_a_sweep(tmp_path: Path) -> None:
    picture = tmp_path / "lines.svg"
    networks = ("ring:nodes=4", "torus:dims=2x3")
    found = json_of("train-time", "gpt2-small", *networks, "--sweep", "batch=1,2", "-o", picture)
    assert "network" not in found
    assert [(each["network"], each["nodes"], each["batch"], each["batches"]) for each in found["iterations"]] == [
        ("ring:nodes=4", 4, "1", 4),
        ("ring:nodes=4", 4, "2", 8),
        ("torus:dims=2x3", 6, "1", 6),
        ("torus:dims=2x3", 6, "2", 12),
    ]
    assert "torus:dims=2x3</text>" in picture.read_text()
    once = json_of("train-time", "gpt2-small", "ring:nodes=4")
    assert once["iteration_us"] == found["iterations"][0]["iteration_us"]


def test_what_does_not_fit_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharded, "collective_time", lambda *_, **__: pytest.fail("computed a collective"))
    known = ("train-time", "llama-3-8b", "ring:nodes=4", "--layout", "fsdp=4")
    for more, words in [
        (("ring:nodes=5",), "ring:nodes=5 has 5 compute nodes"),
        (("nothing",), "'nothing': no such builder or file"),
        (("--layout", "ep=4"), "no layer has exchange_bytes, which ep of ep=4 needs; use a profile with it, such as "),
        (("--method", "nccl-rin"), "did you mean 'nccl-ring'?"),
        (("--method", "flows"), "flows is not a method for an allgather"),
        (("--method", "ring", "--layout", "fsdp=2,dp=2"), "leave it out, or give a layout of one dimension"),
    ]:
        assert words in run_command(*known, *more).error_line()


def test_what_is_given_twice_is_computed_once() -> None:
    options = ("--layout", "fsdp=4", "--method", "ring")
    found = json_of("train-time", "llama-3-8b", *2 * ("ring:nodes=4",), *2 * options)["layouts"]
    assert [(each["layout"], each["method"]) for each in found] == [("fsdp=4", "forestcoll"), ("fsdp=4", "ring")]
    once = json_of("train-time", "gpt2-small", *2 * ("ring:nodes=4",))
    assert once == json_of("train-time", "gpt2-small", "ring:nodes=4")
