"""A group that fails writes its last operations to a file, and every message names the file."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from players import LIMIT, Players, give_up_after, outcome

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.runtime import Communicator
from forestcoll.topology.registry import build_topology


def fail(players: Players, *, closing: bool = False) -> list[str]:
    """Run one operation, then one that rank 1 never calls; return the messages of the other ranks.

    Args:
        players: the ranks.
        closing: whether rank 1 closes the group, so that no rank waits for a limit.
    """

    def body(group: Communicator) -> str:
        group.allreduce(np.ones(10, dtype=np.float32)).wait(LIMIT)
        if group.rank == 1:
            if closing:
                group.close()
            return ""
        return str(outcome(lambda: group.allreduce(np.ones(1000)).wait(LIMIT)))

    return [text for text in players.run(body) if text]


def document(text: str) -> Any:
    return json.loads(Path(text.rpartition(" are in ")[2]).read_text())


def test_a_timeout_leaves_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give_up_after(1.0, monkeypatch)
    schedule = generate(build_topology("ring:nodes=3"), "allreduce")
    with Players([schedule], name='my "group"\t1', dump=tmp_path / "new") as players:
        for text in fail(players):
            found = document(text)
            assert found["format"] == "forestcoll.dump/1"
            assert found["group"] == 'my "group"\t1'
            assert found["fault"]["rank"] == 1
            assert found["fault"]["text"] in text
            first, last = found["operations"]
            assert (first["collective"], first["dtype"], first["bytes"], first["state"]) == (
                "allreduce",
                "f32",
                40,
                "done",
            )
            assert (last["number"], last["dtype"], last["bytes"], last["state"]) == (1, "f64", 8000, "failed")
            assert {each["rank"] for each in last["waits_for"]} >= {1}
            assert last["chunks_left"] > 0
            assert {peer["rank"]: peer["operations_called"] for peer in found["peers"]}[1] == 1
    assert sorted(path.name.partition("-rank")[0] for path in (tmp_path / "new").iterdir()) == ["my_group_1"] * 3


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORESTCOLL_DUMP", str(tmp_path))
    with Players([generate(build_topology("complete:nodes=2"), "allreduce")]) as players:
        assert document(fail(players, closing=True)[0])["rank"] == 0


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with Players([generate(build_topology("complete:nodes=2"), "allreduce")], dump=tmp_path) as players:
        (tmp_path / f"default-rank0-{os.getpid()}.json").mkdir()  # in the place of the file
        assert "the dump could not be written to" in fail(players, closing=True)[0]


def test_a_bad_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"the folder for dumps, .*file, cannot be made"):
        Communicator([], rank=0, size=1, dump=tmp_path / "file")
