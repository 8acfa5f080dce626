"""Tensors go two levels, or slots of sends and receives, of an inner group; every element is compared.

`cuda_device="cpu"` sends CPU tensors the way of CUDA tensors, over gloo.
"""

import json
from pathlib import Path

import pytest
from torch_ranks import outcomes, values

from forestcoll import TopologyBuilder, load_topology, write_topology
from forestcoll.topology.hashing import topology_hash

COUNTS = [1, 7, 1009, 2500]


def boxes(folder: Path, sizes: list[int]) -> str:
    """Return a file of boxes behind switches; the links are slow, so that small data have many chunks."""
    builder = TopologyBuilder(f"boxes of {sizes}", bandwidth_unit="Mb/s")
    builder.add_switch("core")
    for box, size in enumerate(sizes):
        builder.add_switch(f"switch{box}")
        for gpu in range(size):
            builder.add_compute(f"b{box}g{gpu}", box=box)
            builder.add_duplex(f"b{box}g{gpu}", f"switch{box}", 50)
            builder.add_duplex(f"b{box}g{gpu}", "core", 10)
    path = folder / "boxes.json"
    write_topology(builder.build(), path)
    return str(path)


@pytest.mark.parametrize("sizes", [[2, 2], [2, 2, 2]])
def test_two_levels_give_the_right_elements_and_say_so(tmp_path: Path, sizes: list[int]) -> None:
    for found in values(
        "cases_slots:everything", sum(sizes), topology=boxes(tmp_path, sizes), cuda="two-level", counts=COUNTS
    ):
        assert {(operation, path) for operation, path, _ in found} == {
            (operation, "two-level") for operation in ("all_gather_into_tensor", "all_reduce", "reduce_scatter_tensor")
        }
        chunks = {int(reason.partition("S = ")[2]) for _, _, reason in found}
        assert min(chunks) <= 2
        assert max(chunks) > 10


EVERYTHING = {
    "all_gather",
    "all_gather_into_tensor",
    "all_reduce",
    "broadcast",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
}


@pytest.mark.parametrize("topology", ["boxes", "hypercube:dim=2", "ring:nodes=4"])
def test_slots_give_the_right_elements_for_all_collectives(tmp_path: Path, topology: str) -> None:
    """Boxes of three and one: a group for the box, and no rails."""
    if topology == "boxes":
        topology = boxes(tmp_path, [3, 1])
    for found in values("cases_slots:everything", topology=topology, cuda="slots", counts=COUNTS):
        assert {(operation, path) for operation, path, _ in found} == {(each, "slots") for each in EVERYTHING}


@pytest.mark.parametrize(("cuda", "collectives"), [("two-level", 3), ("slots", 5)])
def test_the_second_call_is_captured_and_later_ones_are_replayed(cuda: str, collectives: int) -> None:
    """Out of place and in place are one kind: of two calls a round, the first of all is not captured."""
    for captured, replayed in values("cases_slots:by_graphs", topology="dgx-a100:boxes=2,gpus=2", cuda=cuda):
        assert captured == collectives
        assert replayed == 3 * (collectives + 2) - collectives


def test_slots_go_on_after_a_link_has_failed_and_sums_have_the_same_bits_on_all_ranks() -> None:
    found = values("cases_slots:replanned_and_same_bits")
    assert all(each == found[0] for each in found)
    assert found[0][1:] == ["slots", 2]


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ([3, 1], "boxes of [3, 1]: the boxes have 3, 1 ranks; two levels need equal boxes"),
        ([4], "boxes of [4]: the ranks are in one box; two levels need several boxes of several ranks"),
    ],
)
def test_other_boxes_go_to_the_inner_group_and_the_reason_is_stated(
    tmp_path: Path, sizes: list[int], reason: str
) -> None:
    answers, logs = outcomes("cases_slots:one_sum", topology=boxes(tmp_path, sizes), cuda="two-level")
    assert [each["value"] for each in answers] == [[6.0, [["all_reduce", "gloo", reason]]]] * 4
    assert logs[0].count(f"allreduce goes to the inner group: {reason}") == 1
    assert not any("inner group" in text for text in logs[1:])


def test_what_two_levels_do_not_do_goes_to_the_inner_group() -> None:
    for found in values("cases_slots:left_to_the_inner_group"):
        assert found == [
            ["all_gather", "gloo", "two levels need equal parts"],
            ["all_reduce", "gloo", "slots do not add up elements of torch.bool"],
            ["all_reduce", "gloo", "slots do not have this reduction"],
            ["all_to_all_single", "gloo", "there are no slots for all_to_all_single"],
            ["broadcast", "gloo", "two levels have no broadcast"],
        ]


def test_more_operations_than_nccl_can_take_go_to_the_inner_group() -> None:
    """Each of four flows has a hop in the box for each rank, in both phases."""
    limit = "groups of NCCL with more than 3 can hang"
    reason = f"dgx-a100:boxes=2,gpus=2: a slot of an allreduce has 8 sends and receives of a rank; {limit}"
    assert values("cases_slots:too_many_operations") == [[6.0, [["all_reduce", "gloo", reason]]]] * 4


def test_a_stage_before_the_one_that_it_needs_is_noticed(tmp_path: Path) -> None:
    assert values("cases_slots:stages_in_the_wrong_order", topology=boxes(tmp_path, [2, 2])) == [False] * 4


def test_without_the_option_nothing_changes() -> None:
    for found in values("cases_slots:one_sum", topology="dgx-a100:boxes=2,gpus=2", cuda="nccl"):
        assert found == [6.0, [["all_reduce", "forestcoll", "schedule of allreduce"]]]


def test_a_wrong_choice_is_refused() -> None:
    answers, _ = outcomes("cases_slots:one_sum", 2, topology="ring:nodes=2", cuda="fast")
    for answer in answers:
        assert answer["error"].startswith("InputError: cuda is 'fast'; the option cuda, or FORESTCOLL_CUDA, is one of")


def test_a_dead_rank_is_an_error_that_names_slot_and_peers() -> None:
    one, *_ = values("cases_slots:one_does_not_come", topology="dgx-a100:boxes=2,gpus=2", cuda="two-level")
    assert "allreduce on two levels: slot 1 of 3, with ranks 1: " in one


BOXES = "dgx-a100:boxes=2,gpus=2"
ON_CPU = {"FORESTCOLL_CUDA_DEVICE": "cpu"}


def way(path: str, chunks: int, time_us: float, wrong: int = 0) -> dict[str, object]:
    return {"path": path, "chunks": chunks, "time_us": time_us, "wrong": wrong}


def test_auto_takes_the_fastest_right_way_of_the_least_measured_size_that_is_not_below(tmp_path: Path) -> None:
    rows = [
        (4096, [way("nccl", 0, 5), way("slots", 1, 9)]),
        (65536, [way("nccl", 0, 30), way("two-level", 3, 20), way("slots", 2, 10, wrong=1)]),
        (2**20, [way("nccl", 0, 300), way("two-level", 3, 200), way("slots", 5, 100)]),
    ]
    table = {
        "format": "forestcoll.cuda/1",
        "topology_hash": topology_hash(load_topology(BOXES)),
        "rows": [{"collective": "allreduce", "size": size, "ways": ways} for size, ways in rows],
    }
    path = tmp_path / "table.json"
    path.write_text(json.dumps(table))
    inner = ["gloo", "the inner group was measured to be the fastest, or nothing was measured"]
    for found in values("cases_slots:by_table", topology=BOXES, table=str(path), counts=[1000, 1025, 20_000, 2**20]):
        assert found == [
            inner,
            ["two-level", "schedule of allreduce, S = 3"],
            ["slots", "schedule of allreduce, S = 5"],
            ["all_gather_into_tensor", *inner],
        ]


def test_auto_needs_a_table() -> None:
    answers, _ = outcomes("cases_slots:one_sum", 2, topology="ring:nodes=2", cuda="auto")
    for answer in answers:
        assert answer["error"].startswith("InputError: cuda is 'auto', which needs a table; name it by cuda_table")


@pytest.mark.parametrize(("case", "cuda"), [("ddp", "slots"), ("fsdp", "slots"), ("zero", "two-level")])
def test_training_has_the_losses_of_gloo(case: str, cuda: str) -> None:
    """Of two ranks bit for bit: a sum of two numbers has one order only."""
    size, environment = 2 if cuda == "slots" else 4, ON_CPU | {"FORESTCOLL_CUDA": cuda}
    if size == 4:
        environment["TEST_TOPOLOGY"] = BOXES
    for curves in values(f"cases_training:{case}", size, size=size, environment=environment):
        assert curves["forestcoll"] == (pytest.approx(curves["gloo"], rel=1e-5) if size == 4 else curves["gloo"])
        assert cuda in "+".join(curves["paths"].values())


@pytest.mark.parametrize(
    ("case", "paths"),
    [
        ("cases_collectives:coalesced", {"slots"}),
        ("cases_collectives:in_flight", {"slots"}),
        ("cases_collectives:strided", {"slots"}),
        ("cases_training:functional_collectives", {"slots", "gloo"}),  # an all-to-all
    ],
)
def test_other_forms_of_calls_take_slots(case: str, paths: set[str]) -> None:
    for taken in values(case, environment=ON_CPU | {"FORESTCOLL_CUDA": "slots"}):
        assert set(taken.values()) == paths


def test_groups_of_some_ranks_take_slots_where_the_network_lets_them() -> None:
    found = values("cases_training:groups", environment=ON_CPU | {"FORESTCOLL_CUDA": "slots"})
    assert found[0] == [[[0, 1], 1, "slots"], [[0, 2], 2, "gloo"], [[0, 1, 2, 3], 6, "slots"]]


def test_bench_writes_a_table_of_all_ways(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    arguments = ["--cuda", "--topology", BOXES, "-b", "128K", "-e", "128K", "-n", "1", "--write-table", str(path)]
    found = values("cases_slots:benched", arguments=arguments, environment=ON_CPU)
    assert [status for status, _, _ in found] == [0] * 4
    assert [out for _, out, _ in found[1:]] == [""] * 3
    table = json.loads(path.read_text())
    assert [row["collective"] for row in table["rows"]] == ["allgather", "reduce-scatter", "allreduce"]
    for row in table["rows"]:
        taken = [(each["path"], each["chunks"]) for each in row["ways"]]
        assert taken == [("nccl", 0), ("two-level", 1), ("two-level", 2), ("slots", 1), ("slots", 2)]
        assert all(each["wrong"] == 0 < each["time_us"] for each in row["ways"])
    lines = found[0][1].splitlines()
    assert len(lines) == 2 + 15
    assert sum(line.endswith("best") for line in lines) == 3
    assert table["device"].endswith("gloo")


def test_bench_of_cuda_needs_a_gpu_and_a_table_needs_cuda() -> None:
    (one,) = values("cases_slots:benched", 1, arguments=["--cuda", "--topology", "ring:nodes=2"])
    assert one[0] == 1
    assert "bench: PyTorch finds no GPU" in one[2]
    (one,) = values("cases_slots:benched", 1, arguments=["--write-table", "t.json", "--topology", "ring:nodes=2"])
    assert one[0] == 2
    assert "--write-table needs --cuda" in one[2]


def test_the_script_for_gpus_runs_on_cpus() -> None:
    script = Path(__file__).parents[2] / "benchmarks" / "gpu" / "cuda_slots.py"
    arguments = ["--topology", BOXES, "--device", "cpu", "--counts", "7", "1009"]
    found, logs = outcomes("cases_training:example", path=str(script), arguments=arguments)
    assert found == [{"value": None}] * 4, logs
    for way in ("two-level", "slots"):
        assert f"{way}: 96 calls right" in logs[0]
        assert f"all_reduce: {way}: schedule of allreduce, S = " in logs[0]
