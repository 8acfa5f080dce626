"""Groups that run at the same time, layouts and bundles on the command line."""

import json
from pathlib import Path

import pytest
from cli_run import json_of, run_command

PAIRS = "0,8;1,9;2,10;3,11;4,12;5,13;6,14;7,15"
A100 = "dgx-a100:boxes=2"


def test_groups_and_the_layout_that_names_them_have_the_same_optimum() -> None:
    of_groups = json_of("optimum", A100, "--groups", PAIRS, "--collective", "allreduce")
    of_layout = json_of("optimum", A100, "--layout", "tp=8,dp=2", "--collective", "allreduce")
    assert of_groups == of_layout
    assert of_groups["algbw"] == of_groups["optimal_algbw"] == "25"


def test_a_bundle_is_generated_verified_simulated_and_drawn(tmp_path: Path) -> None:
    path, members = tmp_path / "bundle.json.gz", tmp_path / "members"
    words = ("--groups", "0,8;1,9", "--group-sizes", "1,2", "-o", path, "-o", f"members={members}", "--json")
    made = run_command("generate", A100, *words).document()
    judged = json_of("verify", path)
    assert made["algbw"] == judged["algbw"] == "400/3"
    assert made["verified"] is made["optimal"] is judged["valid"] is judged["optimal"] is True
    assert [group["algbw"] for group in judged["groups"]] == ["400/3", "800/3"]
    (point,) = json.loads(run_command("simulate", path, "--sizes", "16G", "--json").out)
    assert ": 2 groups at the same time" in run_command("simulate", path, "--sizes", "16G").out.splitlines()[0]
    assert point["algbw"] == pytest.approx(400 / 3, rel=1e-2)
    one, two = (json_of("verify", members / f"group-{each}.json") for each in (0, 1))
    assert two["algbw"] == "800/3"
    assert made["greatest_height"] == max(one["greatest_height"], two["greatest_height"])
    assert made["mean_height"] == pytest.approx((one["mean_height"] + 2 * two["mean_height"]) / 3)
    assert run_command("view", path, "-o", tmp_path / "bundle.svg").status == 0


def test_the_members_of_a_bundle_without_relays_are_exported(tmp_path: Path) -> None:
    words = ("--layout", "tp=2,dp=2", "--run", "tp", "--no-relays", "--collective", "allreduce")
    path = tmp_path / "bundle.json"
    assert run_command("generate", f"{A100},gpus=2", *words, "-o", path, "-o", f"members={tmp_path}").status in {
        0,
        None,
    }
    message = run_command("export", path, "--to", "msccl-xml", "-o", tmp_path / "p.xml").error_line()
    assert "a schedule of kind 'bundle' cannot be lowered" in message
    assert "'forestcoll generate -o members=DIR' writes" in message
    member = tmp_path / "group-0.json"
    assert run_command("export", member, "--to", "msccl-xml", "-o", tmp_path / "p.xml").status in {0, None}


def test_groups_from_a_file_have_their_own_collectives(tmp_path: Path) -> None:
    path = tmp_path / "groups.json"
    rows = [{"ranks": "0-3"}, {"ranks": [4, 5], "size": "1/2", "collective": "broadcast", "root": 5}]
    path.write_text(json.dumps({"groups": rows}))
    found = json_of("optimum", "hypercube:dim=3", "--groups", path)
    groups = found["groups"]
    assert [(each["collective"], each["size"], each.get("root")) for each in groups] == [
        ("allgather", "1", None),
        ("broadcast", "1/2", 5),
    ]
    assert found["collective"] is None


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, 'has no "groups"'),
        ({"groups": []}, "groups has 0 entries"),
        ({"groups": [{"size": 1}]}, 'groups[0] has no "ranks"'),
        ({"groups": [{"ranks": "0,1", "sizes": 1}]}, "groups[0]: there is no key 'sizes'"),
        ({"groups": [{"ranks": "0,1", "size": 0}]}, "groups[0].size is 0; it must be greater than 0"),
        ({"groups": [{"ranks": 3}]}, "groups[0].ranks is 3"),
        ({"groups": [{"ranks": "0,1"}, {"ranks": "0,99"}]}, "groups[1]: there is no rank 99"),
        ({"groups": [{"ranks": "0,1", "collective": 3}]}, "groups[0].collective is 3"),
        ({"groups": [{"ranks": "0,1", "root": []}]}, "groups[0].root is []"),
    ],
)
def test_bad_files_of_groups_are_refused_with_the_place(tmp_path: Path, document: object, message: str) -> None:
    path = tmp_path / "groups.json"
    path.write_text(json.dumps(document))
    line = run_command("optimum", A100, "--groups", path).error_line()
    assert line.startswith(str(path))
    assert message in line
