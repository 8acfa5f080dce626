"""Demands of pieces of data on the command line."""

import json
from pathlib import Path

import pytest
from cli_run import edge, json_of, run_command, write_network

A100 = "dgx-a100:boxes=2"
PIECES = [
    {"id": "weights", "size": "1/2", "held_by": ["b0/gpu0"], "needed_by": ["b0/gpu1", "b1/gpu0", "b1/gpu1"]},
    {"id": "cache", "size": "1/4", "held_by": "0,8", "needed_by": "4-7,12-15"},
    {"id": "gradients", "size": 0.25, "sum_of": "0-3", "needed_by": [8, 9, 10, 11]},
    {"id": "here already", "held_by": "0-3", "needed_by": [1]},
]


def written(folder: Path, pieces: object = PIECES, **keys: object) -> Path:
    """Write a demand, and return its file."""
    path = folder / "demand.json"
    path.write_text(json.dumps({"format": "forestcoll.demand/1", "pieces": pieces} | keys))
    return path


def test_pieces_are_generated_verified_simulated_and_drawn(tmp_path: Path) -> None:
    demand, path, members = written(tmp_path), tmp_path / "bundle.json.gz", tmp_path / "members"
    made = json_of("generate", A100, "--demand", demand, "-o", path, "-o", f"members={members}")
    assert (made["algbw"], made["optimal_algbw"], made["optimal"], made["verified"]) == ("800/3", "800/3", True, True)
    found = json_of("optimum", A100, "--demand", demand)
    assert found == {key: made[key] for key in found}
    verified = json_of("verify", path)
    assert (verified["algbw"], verified["optimal"]) == ("800/3", True)
    (point,) = json.loads(run_command("simulate", path, "--sizes", "16G", "--json").out)
    assert point["algbw"] == pytest.approx(800 / 3, rel=2e-2)
    assert json_of("verify", members / "group-1.json")["valid"] is True
    assert run_command("simulate", path).out.startswith("dgx-a100:boxes=2: 3 pieces of data, 16 compute nodes\n")
    shown = run_command("view", path, "-o", tmp_path / "bundle.svg").out
    assert shown.startswith("several collectives on dgx-a100:boxes=2: written to ")
    assert "Several collectives between 16 compute nodes: 3 groups." in shown


def test_the_groups_of_the_document_say_who_moves_which_pieces(tmp_path: Path) -> None:
    found = json_of("optimum", A100, "--demand", written(tmp_path))
    groups = found["groups"]
    assert [(each["collective"], each["pieces"]) for each in groups] == [
        ("broadcast", [{"id": "weights", "size": "1/2"}]),
        ("broadcast", [{"id": "cache", "size": "1/4"}]),
        ("allreduce", [{"id": "gradients", "size": "1/4"}]),
    ]
    assert groups[0]["root"] == "b0/gpu0"
    assert groups[1]["sources"] == ["b0/gpu0", "b1/gpu0"]
    assert "root" not in groups[1]
    assert groups[2]["targets"] == ["b1/gpu0", "b1/gpu1", "b1/gpu2", "b1/gpu3"]
    assert "relays" not in found


def test_many_pieces_are_listed_in_part(tmp_path: Path) -> None:
    pieces = [{"id": f"{one}", "held_by": [one], "needed_by": [(one + 1) % 24]} for one in range(24)]
    page = run_command("optimum", "ring:nodes=24", "--demand", written(tmp_path, pieces)).out
    assert "and 4 more rows; --json lists all." in page


def test_a_piece_that_needs_relays_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, piece(needed_by=[2]))
    message = run_command("optimum", "ring:nodes=4", "--demand", path, "--no-relays").error_line()
    assert message == "ring:nodes=4: piece 'a' is not connected without relays; allow relays"


def test_programs_are_refused_in_one_line(tmp_path: Path) -> None:
    demand, path, members = written(tmp_path), tmp_path / "bundle.json", tmp_path / "members"
    assert run_command("generate", A100, "--demand", demand, "-o", path, "-o", f"members={members}").status in {0, None}
    out = tmp_path / "program.xml"
    message = run_command("export", members / "group-2.json", "--to", "msccl-xml", "-o", out).error_line()
    assert "a schedule with sources and targets cannot be lowered to a program" in message


def piece(**changes: object) -> list[dict[str, object]]:
    """Return a list with one piece with other values; a value of None removes the key."""
    whole = {"id": "a", "held_by": [0], "needed_by": [1]} | changes
    return [{key: value for key, value in whole.items() if value is not None}]


BAD: list[tuple[object, str]] = [
    ({}, "pieces is {}; expected a list"),
    ([3], "pieces[0] is 3; expected {"),
    (piece(id=None), 'pieces[0] has no "id"; a piece needs it'),
    (piece(id=7), "pieces[0].id is 7; expected a text"),
    (piece(id=""), "pieces[0].id is ''; expected a text"),
    (piece() * 2, "pieces: 'a' is the id of two pieces; give each piece an id of its own"),
    (piece(heldby=[0]), "pieces[0]: there is no key 'heldby'; did you mean 'held_by'?"),
    (piece(needed_by=None), 'pieces[0] has no "needed_by"; a piece needs it'),
    (piece(needed_by=3), "pieces[0].needed_by is 3; expected a text such as '0-7', or a list of ranks"),
    (piece(held_by=None), "piece 'a': has both held_by and sum_of, or none of them; give one of them"),
    (piece(sum_of=[0, 1]), "piece 'a': has both held_by and sum_of, or none of them; give one of them"),
    (piece(held_by=[]), "piece 'a': held_by names no compute node; name one or more"),
    (piece(held_by=[99]), "piece 'a': held_by: there is no rank 99; dgx-a100:boxes=2 has 16 compute nodes"),
    (piece(needed_by=["ib"]), "piece 'a': needed_by: dgx-a100:boxes=2: rank 'ib' is a switch; name compute nodes"),
    (piece(needed_by="1,1"), "piece 'a': needed_by: rank 1 is named twice; name it once"),
    (piece(size=0), "piece 'a': size is 0; it must be greater than 0"),
    (piece(size="x"), "piece 'a': size, 'x', is not a number; write a number such as 1/2"),
    (piece(needed_by=[0]), "no piece must move; give a piece that is needed by a node that does not hold it"),
    ([], "no piece must move; give a piece that is needed by a node that does not hold it"),
]


@pytest.mark.parametrize(("pieces", "message"), BAD)
def test_a_bad_file_is_refused_with_its_place(tmp_path: Path, pieces: object, message: str) -> None:
    path = written(tmp_path, pieces)
    assert run_command("optimum", A100, "--demand", path).error_line().startswith(f"{path}: {message}")


def one_way(folder: Path) -> Path:
    """Write a network of four nodes: 0 and 1 each have a link to 2 and to 3."""
    return write_network(folder, [edge(one, other, 1) for one in (0, 1) for other in (2, 3)], range(4), directed=True)


def test_the_nodes_of_a_piece_need_not_reach_each_other(tmp_path: Path) -> None:
    pieces = [{"id": "a", "held_by": [0, 1], "needed_by": [2]}, {"id": "b", "sum_of": [0, 1], "needed_by": [3]}]
    demand, path = written(tmp_path, pieces), tmp_path / "bundle.json"
    made = json_of("generate", one_way(tmp_path), "--demand", demand, "-o", path)
    assert (made["algbw"], made["optimal"]) == ("1", True)
    assert json_of("verify", path)["optimal"] is True


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"held_by": [2], "needed_by": [3]}, "no node that holds it can reach 3; add links on the way"),
        ({"held_by": None, "sum_of": [0, 2], "needed_by": [3]}, "2 cannot reach 3; add links on the way"),
        ({"held_by": None, "sum_of": [0, 1], "needed_by": [2, 3]}, "no node is reached from all nodes of sum_of and"),
    ],
)
def test_a_piece_that_cannot_arrive_is_named(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    path = written(tmp_path, piece(**changes))
    found = run_command("optimum", one_way(tmp_path), "--demand", path).error_line()
    assert found.startswith(f"{path}: piece 'a': {message}")


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, format="forestcoll.demand/2")
    expected = f"{path}: format is 'forestcoll.demand/2'; expected 'forestcoll.demand/1'"
    assert run_command("optimum", A100, "--demand", path).error_line() == expected
