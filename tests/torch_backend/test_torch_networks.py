"""Where the topology comes from, how ranks agree on it, and what they do when it changes or a rank fails."""

import json
from pathlib import Path
from typing import Any

import pytest
from torch_ranks import outcomes, values

from forestcoll import generate, load_topology, write_schedule, write_topology
from forestcoll.topology.hashing import topology_hash

RING = load_topology("ring:nodes=4")


def errors(case: str, ranks: int = 4, **options: object) -> list[str]:
    found, _ = outcomes(case, ranks, **options)  # type: ignore[arg-type]
    return [outcome["error"] for outcome in found]


NODES = "FORESTCOLL_NODES"


@pytest.mark.parametrize(
    ("topology", "more", "total"),
    [
        ("ring.json", {}, 6),
        ("ring:nodes=2", {"FORESTCOLL_INTERFACE": "lo", "GLOO_SOCKET_IFNAME": "lo"}, 1),
        ("dgx-a100:boxes=2,gpus=4", {NODES: "b1/gpu3,b0/gpu0"}, 1),  # no rank runs the other nodes
        ("ring:nodes=4", {NODES: "3,1,0,2"}, 6),
    ],
)
def test_topology_interfaces_and_nodes_come_from_the_environment(
    tmp_path: Path, topology: str, more: dict[str, str], total: int
) -> None:
    if topology == "ring.json":
        topology = str(tmp_path / topology)
        write_topology(RING, topology)
    ranks = 2 if total == 1 else 4
    environment = {"FORESTCOLL_TOPOLOGY": topology} | more
    assert values("cases_networks:sum_of_ranks", ranks, environment=environment) == [total] * ranks


def test_ranks_with_the_same_secret_join_and_others_do_not() -> None:
    ring = {"topology": "ring:nodes=2"}
    environment = {"FORESTCOLL_SECRET": "known"}
    assert values("cases_networks:secret_of_each_rank", 2, environment=environment, options=ring) == [1.0] * 2
    found, logs = outcomes("cases_networks:secret_of_each_rank", 2, options=ring, secrets=["known", "other"])
    assert all("CommunicationError" in outcome["error"] for outcome in found)
    assert not any("known" in text for text in (*logs, *(outcome["error"] for outcome in found)))


def test_rank_0_prints_which_node_each_rank_runs() -> None:
    _, logs = outcomes("cases_networks:sum_of_ranks", environment={"FORESTCOLL_TOPOLOGY": "dgx-a100:boxes=2,gpus=2"})
    assert "0=b0/gpu0@" in logs[0]
    assert "3=b1/gpu1@" in logs[0]
    assert not any(logs[1:])


def test_without_a_topology_the_error_says_how_to_give_one() -> None:
    for error in errors("cases_networks:sum_of_ranks", 2):
        assert error.startswith("InputError: the backend forestcoll has no topology; pass pg_options=")
        assert "FORESTCOLL_TOPOLOGY" in error
        assert "\n" not in error


def test_rank_0_names_the_topology_for_all() -> None:
    assert values("cases_networks:topology_of_one_rank", mine={"0": "ring:nodes=4"}) == [6.0] * 4


@pytest.mark.parametrize(
    ("mine", "expected"),
    [
        ({"0": "ring:nodes=4", "2": "hypercube:dim=2"}, "rank 2 names another topology"),
        ({"0": "ring:nodes=4", "1": "ring:nodes=5"}, "rank 1: there are 4 ranks, but ring:nodes=5 has 5"),
        ({"0": "wring:nodes=4"}, "wring"),
        ({"1": "ring:nodes=4"}, "no topology"),
    ],
)
def test_a_wrong_topology_on_one_rank_is_an_error_on_all(mine: dict[str, str], expected: str) -> None:
    for error in errors("cases_networks:topology_of_one_rank", mine=mine):
        assert expected in error


def test_the_default_group_can_be_made_again_and_leaves_no_files_and_threads_open() -> None:
    for found in values("cases_networks:several_times"):
        assert [value for value, _, _ in found] == [4.0] * 4
        _, _, third, fourth = found
        assert fourth[1:] <= third[1:]


def test_a_damaged_cache_entry_is_named_and_made_again(tmp_path: Path) -> None:
    environment = {"FORESTCOLL_TOPOLOGY": "ring:nodes=2", "FORESTCOLL_CACHE": str(tmp_path)}
    values("cases_networks:sum_of_ranks", 2, environment=environment)
    entries = sorted(tmp_path.iterdir())
    assert [each.name.split("-")[0] for each in entries] == ["allgather", "allreduce", "reduce"]
    before = entries[1].read_bytes()
    entries[1].write_bytes(before[:-10])
    entries[2].write_bytes(entries[0].read_bytes())
    _, logs = outcomes("cases_networks:sum_of_ranks", 2, environment=environment)
    for entry in entries[1:]:
        assert f"the cache entry is damaged and is made again: {entry}" in logs[0]
    assert entries[1].read_bytes() == before
    _, logs = outcomes("cases_networks:sum_of_ranks", 2, environment=environment)
    assert "damaged" not in logs[0]


def write_table(folder: Path) -> None:
    """Write a table: small data by gloo, larger ones by two schedules."""
    write_schedule(generate(RING, "allreduce"), folder / "large.json")
    write_schedule(generate(RING, "allreduce", "trees:k=1"), folder / "middle.json")
    ranges = [
        {"from": 1, "to": 1000, "schedule": None},
        {"from": 1001, "to": 10_000, "schedule": "middle.json"},
        {"from": 10_001, "to": 1_000_000, "schedule": "large.json"},
    ]
    manifest = {
        "format": "forestcoll.tuning/1",
        "topology_hash": topology_hash(RING),
        "collective": "allreduce",
        "ranges": ranges,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_table_selects_by_size(tmp_path: Path) -> None:
    write_table(tmp_path)
    engine, gloo = ["forestcoll", "schedule of allreduce"], ["gloo", "the tuning table has no schedule for this size"]
    for found in values("cases_networks:by_size", tuning=str(tmp_path), counts=[10, 2000, 20_000, 10, 400_000]):
        assert found == [gloo, engine, engine, gloo, engine]


def test_a_wrong_table_is_refused(tmp_path: Path) -> None:
    write_table(tmp_path)
    manifest, middle = tmp_path / "manifest.json", tmp_path / "middle.json"
    document = json.loads(middle.read_text())
    document["phases"][0]["trees"][0]["share"] = "1/3"
    middle.write_text(json.dumps(document))
    for error in errors("cases_networks:by_size", tuning=str(manifest), counts=[10]):
        assert "middle.json" in error
    other = manifest.read_text().replace(topology_hash(RING), topology_hash(load_topology("ring:nodes=5")))
    manifest.write_text(other)
    for error in errors("cases_networks:by_size", tuning=str(manifest), counts=[10]):
        assert "the table is for another topology than ring:nodes=4" in error


@pytest.mark.parametrize(
    ("changes", "links", "bandwidth"),
    [
        ({"without": ["0--1"]}, 6, "1"),
        ({"degrade": ["0--1=1/4"]}, 8, "1/4"),
        ({"topology": "hypercube:dim=2"}, 8, "1"),
    ],
)
def test_ranks_go_on_with_new_schedules(changes: dict[str, object], links: int, bandwidth: str) -> None:
    for rank, found in enumerate(values("cases_networks:replanned", **changes)):  # type: ignore[arg-type]
        assert found == [6.0, 4.0, links, bandwidth, 6.0] + [2.0] * (rank < 2)


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({str(rank): ["0--2"] for rank in range(4)}, "no link joins 0 and 2"),
        ({"0": ["0--1"], "1": ["0--1"], "2": ["1--2"], "3": ["0--1"]}, "rank 2 names another topology"),
        ({str(rank): ["0--1", "2--3"] for rank in range(4)}, "node 0 reaches node 1 only over nodes"),
    ],
)
def test_a_wrong_change_is_an_error_on_all_ranks_and_changes_nothing(
    wrong: dict[str, list[str]], expected: str
) -> None:
    for message in values("cases_networks:replanned_wrongly", changes_of_ranks=wrong):
        assert expected in message


def test_a_group_that_has_failed_goes_on_after_new_schedules() -> None:
    found = values("cases_networks:replanned_after_a_failure")
    for message, again, total, taken in found:
        assert again == f"{message}; the group has failed: destroy it, or call forestcoll.torch.replan on all ranks"
        assert total == 6.0
        assert taken == {"all_reduce": "forestcoll"}
        assert "no progress for 3 s" in message


LIMIT = 20
"""The seconds that an operation of the group may take without progress, where a case sets no other limit."""


KILLED = "killed", "the process of rank 2 ended or was killed"
STOPPED = "did not end in time", "no progress for 2 s; rank 2 does not answer"


@pytest.mark.parametrize(
    ("body", "options", "said"),
    [
        pytest.param("one_is_killed", {"training": False}, KILLED, marks=pytest.mark.slow),
        ("one_is_killed", {"training": True}, KILLED),
        ("one_is_stopped", {"limit": 14}, STOPPED),
    ],
)
def test_a_process_that_ends_or_stops_is_an_error_on_all_others(
    body: str, options: dict[str, Any], said: tuple[str, str]
) -> None:
    found, logs = outcomes(f"cases_networks:{body}", **options)
    assert found.pop(2) == {"error": said[0]}
    for outcome, log in zip(found, logs, strict=False):
        message, took, ended = outcome.get("value", (log, 99, 99))
        assert said[1] in message
        assert took < LIMIT
        assert ended < LIMIT


def test_other_sizes_are_an_error_on_all_ranks() -> None:
    for message in values("cases_networks:mismatched"):
        assert "allreduce(sum) of 100 f32" in message
        assert "allreduce(sum) of 101 f32" in message


def test_the_group_ends_with_operations_that_wait() -> None:
    for seconds in values("cases_networks:pending_at_the_end"):
        assert seconds < LIMIT
