"""What emulate would run, its rates, the arguments that it refuses, and the variables of processes."""

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boxes import two_boxes

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.runtime import Communicator, MemoryStore
from forestcoll.runtime.emulation.emulate import planned, warn
from forestcoll.runtime.emulation.rates import change_of, changed, emulated
from forestcoll.runtime.emulation.requirements import missing
from forestcoll.runtime.emulation.seat import start_of
from forestcoll.runtime.environment import interface_here, launcher_rank, links_here, pacing_here
from forestcoll.topology.registry import build_topology
from networks import linked
from refusal import refusal
from remarks import Remarks


def test_a_rank_gets_the_variables_of_torchrun_and_of_forestcoll() -> None:
    emulation = planned(two_boxes(), [sys.executable, "train.py"])
    variables = emulation.environment(3, Path("/there/topology.json"))
    assert variables["FORESTCOLL_TOPOLOGY"] == "/there/topology.json"
    assert json.loads(variables["FORESTCOLL_LINKS"]) == {"core": "10.65.0.7", "b-switch": "10.65.0.8"}
    assert (variables["RANK"], variables["WORLD_SIZE"]) == ("3", "4")
    assert (variables["LOCAL_RANK"], variables["LOCAL_WORLD_SIZE"]) == ("1", "2")
    assert (variables["MASTER_ADDR"], variables["FORESTCOLL_INTERFACE"]) == ("10.64.0.1", "10.64.0.4")
    alone = planned("ring:nodes=3", ["true"], scale="100Mbit=1").environment(2, Path("t.json"))
    assert (alone["LOCAL_RANK"], alone["LOCAL_WORLD_SIZE"]) == ("2", "3")  # without boxes all ranks are local
    assert emulation.words(3) == ("ip", "netns", "exec", "rank3", sys.executable, "train.py")


def test_a_seat_follows_the_launcher() -> None:
    seats = [{"words": ["run", str(rank)], "environment": {"RANK": str(rank)}} for rank in range(2)]
    for name in ("PMI", "OMPI_COMM_WORLD"):
        words, environment = start_of({f"{name}_RANK": "1", f"{name}_SIZE": "2", "HOME": "/root"}, seats)
        assert words == ["run", "1"]
        assert (environment["RANK"], environment["HOME"], environment["MPIR_CVAR_NOLOCAL"]) == ("1", "/root", "1")
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


SLOW = "8 links are slower than 10 Mbit/s; TCP may send packets twice there, so use --scale for faster links"
NO_COPIES = "emulated switches do not copy or add up data, although the topology says that they can"


def test_what_cannot_be_emulated_well_is_remarked() -> None:
    for network, scale, expected in (
        ("dgx-a100:boxes=2", None, ["all ranks together can send"]),
        ("dgx-a100:boxes=2", "200Mbit=300GB/s", []),
        (two_boxes(fast=20, slow=5), None, [SLOW]),
        ("dgx-h100:boxes=1,nvls=true", "50Mbit=450GB/s", [NO_COPIES]),
    ):
        remarks = Remarks()
        warn(planned(network, ["true"], scale=scale).network, remarks)
        assert len(remarks.texts) == len(expected), network
        assert all(part in text for part, text in zip(expected, remarks.texts, strict=True)), remarks.texts


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert "need Linux" in str(missing())
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "need root, and the user id is 1000" in str(missing())
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    assert missing() == "the program 'ip' is not installed; install the package iproute2"


def test_variables_are_read() -> None:
    assert links_here({}) == {}
    assert links_here({"FORESTCOLL_LINKS": '{"a": "10.0.0.1", "3": "10.0.0.2"}'}) == {"a": "10.0.0.1", "3": "10.0.0.2"}
    assert interface_here({}) is interface_here({"FORESTCOLL_INTERFACE": ""}) is None
    assert interface_here({"FORESTCOLL_INTERFACE": "10.0.0.1"}) == "10.0.0.1"
    assert [pacing_here({"FORESTCOLL_PACING": text}) for text in ("", "0", "1")] == [False, False, True]
    assert launcher_rank({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}) == (1, 4)
    assert launcher_rank({"PMI_RANK": "1"}) is None


def test_links_in_another_form_are_refused() -> None:
    for text in ("10.0.0.1", "[]", '{"a": 1}', "{"):
        assert "expected a JSON object" in refusal(links_here, {"FORESTCOLL_LINKS": text})


def test_a_communicator_takes_its_addresses_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = generate("complete:nodes=2", "allreduce")
    monkeypatch.setenv("FORESTCOLL_LINKS", '{"nobody": "127.0.0.1"}')
    assert "nobody" in refusal(Communicator, [schedule], rank=0, store=MemoryStore(), timeout=1)
    monkeypatch.setenv("FORESTCOLL_LINKS", '{"0": "127.0.0.3", "1": "127.0.0.3"}')
    monkeypatch.setenv("FORESTCOLL_INTERFACE", "127.0.0.2")
    store: Any = MemoryStore()
    from concurrent.futures import ThreadPoolExecutor

    def run(rank: int) -> bool:
        with Communicator([schedule], rank=rank, store=store, timeout=60) as group:
            found = group.allreduce(np.ones(1000)).wait(60)
            return found is not None and bool((found == 2).all())

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(run, range(2))) == [True, True]
    cards = [value.decode() for key, value in store._values.items() if "/card/" in key]
    assert len(cards) == 2
    assert all("127.0.0.2" in card and "127.0.0.3" in card for card in cards)


def test_a_scale_keeps_the_ratios_of_links() -> None:
    real = build_topology("dgx-a100:boxes=2")
    small = emulated(real, "500Mbit=300GB/s")
    assert small.bandwidth_unit == "Mb/s"
    for before, after in zip(real.links, small.links, strict=True):
        assert after.bandwidth == before.bandwidth * Fraction(500, 300)
    for scale in ("500Mbit=300", "500Mb/s=300GB/s", "0.5Gbit=300", "62.5MB/s=300000MB/s"):
        assert emulated(real, scale).links == small.links, scale


def test_without_a_scale_links_are_as_fast_as_the_real_ones_and_have_no_latencies() -> None:
    assert {link.bandwidth for link in emulated(two_boxes(), None).links} == {100, 20}
    assert emulated(build_topology("ring:nodes=3"), None).links[0].bandwidth == 8000
    assert all(link.latency_us is None for link in emulated(linked("a b", "a=b:1@5"), None).links)


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ("500Mbit", "expected EMULATED=REAL"),
        ("=300", "is not a number"),
        ("500Mbit=", "is not a number"),
        ("fast=300GB/s", "'fast' is not a number"),
        ("500Mbit=0", "'0' is not greater than 0"),
        ("-1Mbit=300", "is not greater than 0"),
        ("500Mbit=300GB", "unknown unit 'GB'"),
        ("1kbit=300GB/s", "at least 64 kbit/s can be emulated"),
    ],
)
def test_a_bad_scale_is_refused(scale: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        emulated(build_topology("dgx-a100:boxes=2"), scale)
    assert "\n" not in str(error.value)


def test_an_unknown_unit_needs_a_scale() -> None:
    pair = linked("a b", "a=b:3", bandwidth_unit="messages")
    assert "use --scale" in refusal(emulated, pair, None)
    assert emulated(pair, "10Mbit=1").links[0].bandwidth == 30


def test_a_change_names_both_ends_of_a_link() -> None:
    network = two_boxes()
    change = change_of(network, "a0--core=5Mbit@2.5s")
    assert (change.one, change.other, change.after) == (0, network.number("a0"), 2.5)
    assert change.rate == 5
    after = changed(network, [change])
    rates = {(link.source, link.target): link.bandwidth for link in after.links}
    assert rates[change.one, change.other] == rates[change.other, change.one] == 5
    assert len(after.links) == len(network.links)
    dead = changed(network, [change_of(network, "a0--core=0@1")])
    assert len(dead.links) == len(network.links) - 2  # it is left out
    dashes = linked("a--1 b--2", "a--1=b--2:10", bandwidth_unit="Mb/s")
    change = change_of(dashes, "a--1--b--2=1@0")
    assert (change.one, change.other) == (0, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a0--core", "expected A--B=RATE@T"),
        ("a0--core=5Mbit", "expected A--B=RATE@T"),
        ("a0-core=5Mbit@1", "'a0-core' names no link"),
        ("a0--b0=5Mbit@1", "no link joins 'a0' and 'b0'"),
        ("a0--nothing=5Mbit@1", "there is no node 'nothing'"),
        ("a0=5Mbit@1", "'a0' is no single link; write A--B"),
        ("a0--core=slow@1", "rate 'slow'"),
        ("a0--core=-5@1", "the rate must be 0 or at least 64kbit"),
        ("a0--core=1kbit@1", "the rate must be 0 or at least 64kbit"),
        ("a0--core=5Mbit@soon", "time 'soon'"),
        ("a0--core=5Mbit@-1", "the time must be from 0"),
    ],
)
def test_a_bad_change_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        change_of(two_boxes(), text)
