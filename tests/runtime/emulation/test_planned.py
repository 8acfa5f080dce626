"""What `emulate` would run, and the arguments that it refuses; nothing needs root here."""

import json
import sys
from pathlib import Path

import pytest
from boxes import two_boxes

from forestcoll.base.errors import InputError
from forestcoll.runtime.emulation.emulate import planned, warn
from forestcoll.runtime.emulation.requirements import missing
from forestcoll.runtime.emulation.seat import start_of
from remarks import Remarks


def test_a_rank_gets_the_variables_of_torchrun_and_of_forestcoll() -> None:
    emulation = planned(two_boxes(), [sys.executable, "train.py"])
    variables = emulation.environment(3, Path("/there/topology.json"))
    assert variables["FORESTCOLL_TOPOLOGY"] == "/there/topology.json"
    assert json.loads(variables["FORESTCOLL_LINKS"]) == {"core": "10.65.0.7", "b-switch": "10.65.0.8"}
    assert (variables["RANK"], variables["WORLD_SIZE"]) == ("3", "4")
    assert (variables["LOCAL_RANK"], variables["LOCAL_WORLD_SIZE"]) == ("1", "2")
    assert (variables["MASTER_ADDR"], variables["FORESTCOLL_INTERFACE"]) == ("10.64.0.1", "10.64.0.4")
    assert emulation.words(3) == ("ip", "netns", "exec", "rank3", sys.executable, "train.py")


def test_without_boxes_all_ranks_are_local() -> None:
    variables = planned("ring:nodes=3", ["true"], scale="100Mbit=1").environment(2, Path("t.json"))
    assert (variables["LOCAL_RANK"], variables["LOCAL_WORLD_SIZE"]) == ("2", "3")


@pytest.mark.parametrize("name", ["PMI", "OMPI_COMM_WORLD"])
def test_a_seat_follows_the_launcher(name: str) -> None:
    seats = [{"words": ["run", str(rank)], "environment": {"RANK": str(rank)}} for rank in range(2)]
    words, environment = start_of({f"{name}_RANK": "1", f"{name}_SIZE": "2", "HOME": "/root"}, seats)
    assert words == ["run", "1"]
    assert (environment["RANK"], environment["HOME"], environment["MPIR_CVAR_NOLOCAL"]) == ("1", "/root", "1")


def test_a_seat_needs_a_launcher_with_as_many_ranks() -> None:
    with pytest.raises(ValueError, match="sets none of"):
        start_of({}, [])
    with pytest.raises(ValueError, match="starts 3 ranks, and the network has 0"):
        start_of({"PMI_RANK": "0", "PMI_SIZE": "3"}, [])


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ([], {}, "there is no command"),
        (["no-such-program"], {}, "there is no program 'no-such-program'"),
        (["true"], {"launcher": "no-such-launcher -n 4"}, "there is no program 'no-such-launcher'"),
        (["true"], {"grace": -1.0}, "grace is -1"),
        (["true"], {"grace": float("nan")}, "grace is nan"),
        (["true"], {"degrade": ["a0--core"]}, "expected A--B=RATE@T"),
        (["true"], {"scale": "1"}, "expected EMULATED=REAL"),
    ],
)
def test_bad_arguments_are_refused(command: list[str], options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        planned(two_boxes(), command, **options)  # type: ignore[arg-type]


def test_rates_beyond_the_machine_are_remarked() -> None:
    remarks = Remarks()
    warn(planned("dgx-a100:boxes=2", ["true"]).network, remarks)
    assert "all ranks together can send" in remarks.texts[0]
    remarks.texts.clear()
    warn(planned("dgx-a100:boxes=2", ["true"], scale="200Mbit=300GB/s").network, remarks)
    assert remarks.texts == []


def test_slow_links_and_switches_that_copy_are_remarked() -> None:
    remarks = Remarks()
    warn(planned(two_boxes(fast=20, slow=5), ["true"]).network, remarks)
    assert remarks.texts == [
        "8 links are slower than 10 Mbit/s; TCP may send packets twice there, so use --scale for faster links"
    ]
    remarks.texts.clear()
    warn(planned("dgx-h100:boxes=1,nvls=true", ["true"], scale="50Mbit=450GB/s").network, remarks)
    assert remarks.texts == ["emulated switches do not copy or add up data, although the topology says that they can"]


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert "need Linux" in str(missing())
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "need root, and the user id is 1000" in str(missing())
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    assert missing() == "the program 'ip' is not installed; install the package iproute2"
