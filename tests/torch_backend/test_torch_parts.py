"""The parts of the backend that need no group: options, addresses, places of ranks, agreement, changes."""

import doctest
import logging
import tomllib
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed; `make torch` installs it")

import torch
import torch.distributed as dist

from forestcoll import Collective, InputError, NoSolutionError, load_topology
from forestcoll.base.errors import CommunicationError
from forestcoll.runtime import MemoryStore
from forestcoll.torch import Options, PathCount, paths, replan
from forestcoll.torch.addresses import address_of
from forestcoll.torch.backend import check_addresses
from forestcoll.torch.calls.elements import array_of
from forestcoll.torch.calls.inner import method
from forestcoll.torch.calls.paths import PathCounter
from forestcoll.torch.network import RankedTopology, misplaced, network_of, placed, rank_map
from forestcoll.torch.options import cache_folder, completed
from forestcoll.torch.schedules.agreement import Agreement
from forestcoll.torch.schedules.cache import schedule_of
from refusal import refusal

RING = load_topology("ring:nodes=4")
BOXES = load_topology("dgx-a100:boxes=2,gpus=2")


def test_options_win_over_the_environment() -> None:
    environment = {
        "FORESTCOLL_TOPOLOGY": "ring:nodes=4",
        "FORESTCOLL_NODES": "3, 1",
        "FORESTCOLL_TUNING": "a:b/manifest.json",
        "FORESTCOLL_LINKS": '{"sw": "10.0.0.1", "b0/sw": "10.1.0.1"}',
        "FORESTCOLL_PACING": "0",
        "FORESTCOLL_INTERFACE": "lo",
        "FORESTCOLL_SECRET": "known",
        "FORESTCOLL_CUDA": "auto",
        "FORESTCOLL_CUDA_TABLE": "table.json",
        "FORESTCOLL_CUDA_DEVICE": "cpu",
    }
    options = completed(Options(topology="hypercube:dim=2", cache="/c"), environment)
    assert options == Options(
        topology="hypercube:dim=2",
        nodes=("3", "1"),
        tuning=("a", "b/manifest.json"),
        interface="lo",
        links={"sw": "10.0.0.1", "b0/sw": "10.1.0.1"},
        pacing=False,
        cache="/c",
        secret=b"known",
        cuda="auto",
        cuda_table="table.json",
        cuda_device="cpu",
    )
    assert "known" not in repr(options)


@pytest.mark.parametrize(
    ("options", "environment", "expected"),
    [
        (Options(secret="known"), {}, "secret is of type str; pass bytes"),  # type: ignore[arg-type]  # noqa: S106
        (Options(secret=b""), {}, "is empty"),
        (None, {"FORESTCOLL_NODES": "0,,1"}, "FORESTCOLL_NODES is '0,,1', with an empty part"),
        (None, {"FORESTCOLL_LINKS": "sw"}, "FORESTCOLL_LINKS is 'sw'; expected a JSON object"),
        (None, {"FORESTCOLL_LINKS": '["sw"]'}, "expected a JSON object"),
        (Options(cuda="fast"), {}, "cuda is 'fast'; the option cuda, or FORESTCOLL_CUDA, is one of nccl, two-level, "),
        (
            None,
            {"FORESTCOLL_CUDA_DEVICE": "xpu"},
            "cuda_device is 'xpu'; .* is one of cuda, cpu",
        ),
        ({"topology": "ring:nodes=4"}, {}, "pg_options is of type dict; pass forestcoll.torch.Options"),
    ],
)
def test_wrong_options_are_refused_and_no_secret_is_shown(
    options: Any, environment: dict[str, str], expected: str
) -> None:
    with pytest.raises(InputError, match=expected) as refused:
        completed(options, environment)
    assert "known" not in str(refused.value)


def test_the_cache_is_in_the_users_cache_folder() -> None:
    assert cache_folder(Options(), {"XDG_CACHE_HOME": "/x"}) == Path("/x/forestcoll/schedules")
    assert cache_folder(Options(), {"XDG_CACHE_HOME": "x"}) == Path.home() / ".cache/forestcoll/schedules"
    assert cache_folder(Options(cache="/y"), {}) == Path("/y")


def test_addresses() -> None:
    assert address_of("lo") == "127.0.0.1"
    assert address_of("10.1.2.3") == "10.1.2.3"
    assert address_of(None, {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}) == "127.0.0.1"
    with pytest.raises(InputError, match=r"interface is 'nosuch0', which has no IPv4 address .*one of .*lo"):
        address_of("nosuch0")


def test_wrong_places_are_refused() -> None:
    places: list[tuple[list[str] | None, int, str]] = [
        (None, 6, "there are 6 ranks, but .* has 4 compute nodes; start 4 ranks$"),
        (None, 2, "there are 2 ranks, .* start 4 ranks, or name the node of each rank"),
        (["b0/gpu0", "b0/gpu0"], 2, "nodes name 'b0/gpu0' twice"),
        (["b0/gpu0", "ib"], 2, "nodes name 'ib', which is a switch"),
        (["b0/gpu0", "b9/gpu0"], 2, "no node 'b9/gpu0'"),
        (["b0/gpu0", "b1/gpu0"], 4, "nodes name 2 compute nodes, but there are 4 ranks"),
    ]
    for nodes, size, expected in places:
        with pytest.raises(InputError, match=expected):
            placed(BOXES, nodes, size)


def test_a_loopback_address_is_refused_if_ranks_are_on_several_hosts() -> None:
    check_addresses([("a", "127.0.0.1"), ("a", "127.0.0.1")])
    check_addresses([("a", "10.0.0.1"), ("b", "10.0.0.2")])
    with pytest.raises(InputError, match=r"rank 1 on b has the address 127\.0\.1\.1, which rank 0 on a cannot reach"):
        check_addresses([("a", "10.0.0.1"), ("b", "127.0.1.1")])


@pytest.mark.parametrize("name", ["addresses", "calls.graphs", "options"])
def test_the_examples_of_a_module_run(name: str) -> None:
    result = doctest.testmod(import_module(f"forestcoll.torch.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


def test_a_part_of_the_network_has_the_ranks_in_their_order() -> None:
    network = network_of(Options(topology=BOXES, nodes=["b1/gpu1", "b0/gpu0", "b1/gpu0"]), 3)
    part = network.part([0, 2])
    assert [part.nodes[each].id for each in part.compute] == ["b1/gpu1", "b1/gpu0"]
    assert RankedTopology(BOXES, BOXES.compute).part(range(4)) is BOXES
    assert RankedTopology.from_bytes(network.to_bytes()) == network
    assert "node 0 reaches node 2 only over nodes of other ranks" in refusal(
        RankedTopology(RING, RING.compute).part, [0, 2]
    )


def test_the_map_shows_the_hosts_and_boxes_on_several_hosts_are_named() -> None:
    network = RankedTopology(BOXES, BOXES.compute)
    assert rank_map(network, ["a", "a", "b", "b"]).endswith("0=b0/gpu0@a 1=b0/gpu1@a 2=b1/gpu0@b 3=b1/gpu1@b")
    assert list(misplaced(network, ["a", "a", "b", "b"])) == []
    (text,) = misplaced(network, ["a", "b", "a", "a"])
    assert "box 0 of the topology has ranks on 2 hosts (rank 0 on a, rank 1 on b)" in text
    large = load_topology("ring:nodes=40")
    assert rank_map(RankedTopology(large, large.compute), ["a"] * 40).endswith("15=15@a … (24 more)")


def test_an_error_of_rank_0_is_raised_on_all_ranks() -> None:
    for kind in (InputError, NoSolutionError, CommunicationError):
        store, fail = MemoryStore(), Mock(side_effect=kind("why"))
        for rank in range(2):
            with pytest.raises(kind, match=r"^why$"):
                Agreement(store, rank, 2, 0.1).share("key", fail)


def test_data_that_were_damaged_on_their_way_are_refused() -> None:
    store = MemoryStore()
    Agreement(store, 0, 2, 5).share("key", lambda: b"data")
    store.set("key/0", b"date")
    with pytest.raises(CommunicationError, match="rank 1 received have another hash than rank 0's"):
        Agreement(store, 1, 2, 5).share("key", bytes)


def test_a_rank_that_does_not_come_is_named() -> None:
    agreement = Agreement(MemoryStore(), 0, 2, 0.1)
    agreement.report({})
    with pytest.raises(CommunicationError, match=r"rank 1 did not come within 0.1 s; start all 2 ranks"):
        agreement.reports()


def test_a_cache_that_cannot_be_written_is_only_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    with caplog.at_level(logging.WARNING, logger="forestcoll.torch"):
        schedule = schedule_of(RING, Collective.ALLGATHER, None, tmp_path / "file" / "folder")
    assert schedule.collective is Collective.ALLGATHER
    assert "the schedule is not kept on disk" in caplog.text


def test_the_entry_point_for_later_versions_of_torch_is_the_registration() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module, name = project["entry-points"]["torch.distributed.backends"]["forestcoll"].split(":")
    register = getattr(import_module(module), name)
    register()
    register()
    assert dist.Backend.FORESTCOLL == "forestcoll"


def test_each_operation_has_a_debug_line(caplog: pytest.LogCaptureFixture) -> None:
    counter = PathCounter("0")
    with caplog.at_level(logging.DEBUG, logger="forestcoll.torch"):
        counter.add("all_reduce", "gloo", "the engine has no reduction BOR", 12)
        counter.add("all_reduce", "gloo", "the engine has no reduction BOR", 16)
    assert "group 0: all_reduce of 12 bytes by gloo: the engine has no reduction BOR" in caplog.text
    assert counter.counts() == (PathCount("0", "all_reduce", "gloo", "the engine has no reduction BOR", 2),)


def test_an_array_keeps_its_tensor_whose_memory_can_still_be_resized() -> None:
    tensor = torch.arange(5, dtype=torch.bfloat16)
    array, name = array_of(tensor)
    assert (name, array.dtype.name, array.size) == ("bf16", "uint16", 5)
    array[0] = 0x3F80  # 1 in bfloat16
    assert tensor[0] == 1
    kept: object = array.base
    assert vars(kept)["_tensor"] is tensor
    tensor.untyped_storage().resize_(20)


def test_paths_and_new_schedules_need_a_group() -> None:
    assert paths() == ()
    assert "there is no group of the backend forestcoll; call init_process_group" in refusal(replan)
    assert "the group is not of the backend forestcoll" in refusal(paths, dist.HashStore())


def test_the_cache_can_be_filled_by_several_processes_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        made = [threads.submit(schedule_of, RING, Collective.ALLREDUCE, None, tmp_path) for _ in range(4)]
        assert all(each.result(30) for each in made)
    assert len(list(tmp_path.iterdir())) == 1


def test_methods_of_groups_have_other_names_before_torch_2_13() -> None:
    for name, earlier in (
        ("all_gather_single", "_allgather_base"),
        ("reduce_scatter_single", "_reduce_scatter_base"),
        ("all_to_all_single", "alltoall_base"),
    ):
        assert hasattr(dist.ProcessGroup, name)
        assert hasattr(dist.ProcessGroup, earlier)
        older: Any = SimpleNamespace(**{earlier: print})
        newer: Any = SimpleNamespace(**{earlier: repr, name: print})
        assert method(older, name) is method(newer, name) is print
