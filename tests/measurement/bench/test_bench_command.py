"""`forestcoll bench` between threads and between processes on loopback: its table, its JSON, and what it refuses."""

import importlib.util
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.measurement.bench import BenchReport, BenchRequest, bench
from forestcoll.presentation.results.measurements.bench import bench_document, end_lines, row_line
from forestcoll.runtime.engine.elements import ElementType, ReduceOp
from forestcoll.runtime.launch import Launch
from forestcoll.schedule.files import write_schedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology, write_topology
from networks import linked
from started import Ended, alone, completed, in_threads, mpirun, refusal, run_ranks, words

Captured: TypeAlias = pytest.CaptureFixture[str]

PAIR = ("--topology", "complete:nodes=2", "--library", "none", "-n", "2")


def measured(request: BenchRequest, *schedules: Schedule) -> tuple[BenchReport, ...]:
    """Return what rank 0 reports; each rank is a thread."""
    listed = [(f"schedule {number}", each) for number, each in enumerate(schedules)]

    def body(launch: Launch) -> tuple[BenchReport, ...]:
        found = bench(launch, lambda: listed, request)
        launch.close()
        return found

    found: tuple[BenchReport, ...] = in_threads(len(schedules[0].topology.compute), body)[0]
    assert isinstance(found, tuple), found
    return found


def request_of(*sizes: int, **options: Any) -> BenchRequest:
    chosen: dict[str, Any] = {"iterations": 1, "other_library": "none"} | options
    return BenchRequest(sizes, **chosen)


def rows_of(reports: tuple[BenchReport, ...]) -> list[dict[str, Any]]:
    rows = bench_document(reports)["rows"]
    assert isinstance(rows, list)
    return rows


def run(*ranks: tuple[object, ...], **more: str) -> Ended:
    return run_ranks("bench", *ranks, only_first=None, **more)


def line() -> Topology:
    return linked("a b c", "a=b b=c", name="relay")


def test_the_table_is_that_of_nccl_tests_with_more_columns() -> None:
    ended = run(*[(*PAIR[2:], "-b", "1K", "-e", "4K", "-f", "2")] * 2, FORESTCOLL_TOPOLOGY="complete:nodes=2")
    assert ended.statuses == [0, 0], ended.err
    assert ended.out[1] == ""
    rows = [line.split() for line in ended.out[0].splitlines() if not line.startswith("#")]
    assert [row[:5] for row in rows] == [
        [str(size), str(size // 4), "float", "sum", "-1"] for size in (1024, 2048, 4096)
    ]
    for row in rows:
        assert len(row) == 18
        assert row[8] == row[12] == "0"  # nothing wrong, out of place and in place
        assert all(float(row[place]) > 0 for place in (5, 9))
        assert all(float(row[place]) >= 0 for place in (6, 7, 10, 11))  # 0.0000 if the machine is busy
        assert row[15:] == ["-", "-", "engine/trees"]
    assert "# Out of bounds values : 0 OK" in ended.out[0]
    heads = [line for line in ended.out[0].splitlines() if "#wrong" in line]
    assert heads[0].split()[:6] == ["#", "size", "count", "type", "redop", "root"]


def test_bandwidths_follow_from_times_and_the_secret_is_not_shown(tmp_path: Path) -> None:
    write_topology(line(), tmp_path / "line.json")
    network = ("--topology", tmp_path / "line.json", "--ranks", "a,c", "--library", "none", "--json")
    options = (*network, "--collective", "gather", "-r", "0", "-b", "1M", "-e", "1M", "-n", "3")
    ended = run(*[options] * 3, FORESTCOLL_SECRET="known")  # noqa: S106 (a test)
    assert not any("known" in text for text in (*ended.out, *ended.err))
    document = ended.document()
    assert (document["ranks"], document["members"], document["wrong"]) == (3, 2, 0)
    assert (document["topology"], document["unit"], document["library"]) == ("relay", "GB/s", None)
    (row,) = document["rows"]
    assert (row["schedule"], row["collective"], row["root"]) == ("forestcoll", "gather", 0)
    assert len(row["times_us"]) == 3
    assert row["time_us"] == pytest.approx(sum(row["times_us"]) / 3)
    assert row["algbw"] == pytest.approx(row["size"] / row["time_us"] / 1000)
    assert row["busbw"] == pytest.approx(row["algbw"] * Collective.GATHER.busbw_factor(2))
    assert row["share"] == pytest.approx(row["algbw"] / float(row["bound_algbw"]))
    assert row["library_time_us"] is None


@pytest.mark.parametrize("collective", [pytest.param(each, marks=pytest.mark.slow) for each in Collective])
def test_all_types_and_reductions_of_a_collective_are_right(collective: Collective) -> None:
    schedule = generate("ring:nodes=3", Demand(collective, root=1 if collective.has_root else None))
    rows = rows_of(measured(request_of(1000, 70_000, elements=tuple(ElementType), ops=tuple(ReduceOp)), schedule))
    assert len(rows) == (2 * (9 * 5 + 4) if collective.reduces else 2 * 9)
    for row in rows:
        assert (row["in_place"] is None) == collective.is_personalised
        assert row["wrong"] == 0, row
        assert row["in_place"] is None or row["in_place"]["wrong"] == 0, row
        assert row["root"] == (1 if collective.has_root else None)


def test_small_sizes_have_an_element_for_each_member() -> None:
    for collective, asked, size in (("allreduce", 1, 4), ("allgather", 20, 12), ("broadcast", 1, 4)):
        schedule = generate("ring:nodes=3", Demand(collective, root=0 if collective == "broadcast" else None))
        (row,) = rows_of(measured(request_of(asked), schedule))
        assert (row["size"], row["wrong"]) == (size, 0)


@pytest.mark.parametrize("collective", ["all-to-all", "gather", "scatter"])
def test_flows_are_measured_and_right(collective: str) -> None:
    schedule = generate("ring:nodes=4", Demand(collective, root=None if collective == "all-to-all" else 1))
    rows = rows_of(measured(request_of(1000, 100_000), schedule))
    assert [row["size"] for row in rows] == [992, 100_000]
    for row in rows:
        assert (row["wrong"], row["in_place"], row["path"]) == (0, None, "engine/flows")
        assert row["busbw"] == pytest.approx(float(str(row["algbw"])) * 3 / 4)
        assert row["bound_algbw"] == row["schedule_algbw"] == ("2" if collective == "all-to-all" else "8/3")


def test_idle_ranks_relay() -> None:
    matrix = [[0, "1/2"], ["1/3", 0]]
    for schedule in (
        generate(line(), Demand("allreduce", ranks=["a", "c"])),
        generate("ring:nodes=4", Demand("all-to-all", ranks=[0, 2], matrix=matrix)),
    ):
        (report,) = measured(request_of(60_000), schedule)
        assert (report.members, report.wrong) == (2, 0)


def test_schedule_files_are_measured_one_after_the_other_without_checks_or_in_place(tmp_path: Path) -> None:
    files = [tmp_path / "one.json", tmp_path / "other.json"]
    write_schedule(generate("ring:nodes=2", "allgather"), files[0])
    write_schedule(generate("ring:nodes=2", "broadcast:root=0"), files[1])
    options = ("--library", "none", "-n", "1", "-b", "1K", "-e", "1K", "-c", "0", "--no-in-place", "--json")
    document = run(*[("--schedule", files[0], "--schedule", files[1], *options)] * 2).document()
    assert [(row["schedule"], row["collective"], row["in_place"], row["wrong"]) for row in document["rows"]] == [
        ("one.json", "allgather", None, None),
        ("other.json", "broadcast", None, None),
    ]


def test_bandwidths_are_in_gigabytes_where_the_unit_has_no_size_and_checks_can_be_left_out() -> None:
    network = linked("a b", "a=b:3", bandwidth_unit="messages")
    reports = measured(request_of(1024, checks=0), generate(network, "allreduce"))
    assert bench_document(reports)["unit"] == "GB/s"
    (row,) = reports[0].rows
    assert row.bound is None
    assert row.share is None
    assert "not checked" in end_lines(reports)[0]
    assert row_line(row).count("N/A") == 2


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_gloo_is_compared_where_torch_is_installed() -> None:
    options = ("--topology", "ring:nodes=2", "-n", "1", "-b", "64K", "-e", "64K", "--json")
    document = run(options, options).document()
    assert document["library"] == "gloo"
    (row,) = document["rows"]
    assert isinstance(row["library_time_us"], float)
    assert row["speedup"] == pytest.approx(row["library_time_us"] / row["time_us"])


def test_mpirun_launches_and_is_compared() -> None:
    done = completed([mpirun(), "-n", "3", *words("--topology", "ring:nodes=3", "-n", "1", "-b", "64K", "-e", "64K")])
    assert done.returncode == 0, done.stderr
    assert re.search(r"library: \S+", done.stdout)
    assert "engine/trees" in done.stdout


RANK_0 = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "this process has no rank; start it by a launcher"),
        (
            {"RANK": "0", "WORLD_SIZE": "2"},
            "only RANK, WORLD_SIZE are set; also set MASTER_ADDR to the address of rank 0, MASTER_PORT to a free port",
        ),
        ({"RANK": "0"}, "only RANK is set; also set WORLD_SIZE to the number of all processes, MASTER_ADDR to "),
        ({"PMI_RANK": "0", "PMI_SIZE": "x"}, "this process has no rank"),
        (RANK_0 | {"RANK": "x"}, "RANK is 'x'; expected a number"),
        (RANK_0 | {"RANK": "2"}, "RANK is 2 and WORLD_SIZE is 2"),
        (RANK_0 | {"MASTER_PORT": "p"}, "MASTER_PORT is 'p'"),
    ],
)
def test_a_process_without_a_rank_is_refused(capsys: Captured, variables: Mapping[str, str], message: str) -> None:
    status, err = refusal(capsys, "bench", *PAIR, variables=variables)
    assert (status, err.count("\n")) == (1, 1)
    assert message in err


def test_a_library_of_mpi_that_does_not_load_is_named(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: object())
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", None)
    status, err = refusal(capsys, "bench", *PAIR, variables={"PMI_RANK": "0", "PMI_SIZE": "2"})
    assert (status, err.count("\n")) == (1, 1)
    assert "mpi4py cannot start MPI (" in err
    assert "install the MPI library of this mpirun" in err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--topology", "ring:nodes=3"), 1, "1 processes, but the network has 3 compute nodes"),
        (("--topology", "no-such-network"), 1, "no such builder or file"),
        (("--topology", "ring:nodes=2", "--collective", "broadcast", "-r", "2"), 1, "root is 2"),
        (("-f", "1"), 2, "'--stepfactor'"),
        (("-n", "0"), 2, "'--iters'"),
        (("-d", "floaty"), 2, "no such element type"),
        (("-o", "sums"), 2, "no such reduction"),
        (("-b", "none"), 2, "expected a size"),
        (("--collective", "sendrecv"), 2, "there is no collective"),
        ((), 2, "no network; give --topology"),
    ],
)
def test_wrong_usage_is_refused(capsys: Captured, arguments: tuple[str, ...], status: int, message: str) -> None:
    found, err = refusal(capsys, "bench", *arguments, variables=alone(1))
    assert (found, err.count("\n")) == (status, 1)
    assert message in err


def test_a_fault_of_rank_0_ends_all_ranks() -> None:
    ended = run(*[("--schedule", "no-such-file.json", "--library", "none")] * 2, FORESTCOLL_TIMEOUT="20")
    assert ended.statuses == [1, 1]
    assert ended.out == ["", ""]
    assert "no-such-file.json" in ended.err[0]
    assert ended.err[1] == ""


@pytest.mark.parametrize("library", ["auto", "none"])
def test_a_missing_rank_is_named_before_a_library_waits_for_it(capsys: Captured, library: str) -> None:
    options = ("--topology", "ring:nodes=2", "--library", library)
    status, err = refusal(capsys, "bench", *options, variables={**alone(2), "FORESTCOLL_TIMEOUT": "0.5"})
    assert (status, err) == (1, "forestcoll: bench: rank 1 did not come within 0.5 s; start all 2 ranks\n")


@pytest.mark.parametrize("text", ["soon", "0", "-1", "inf", "nan"])
def test_a_timeout_that_is_no_time_is_refused(capsys: Captured, text: str) -> None:
    status, err = refusal(capsys, "bench", *PAIR, variables={**alone(1), "FORESTCOLL_TIMEOUT": text})
    expected = f"forestcoll: bench: FORESTCOLL_TIMEOUT is {text!r}; expected seconds, such as 120\n"
    assert (status, err) == (1, expected)


def test_processes_without_the_secret_do_not_join() -> None:
    ended = run_ranks("bench", PAIR, PAIR, only_first={"FORESTCOLL_SECRET": "known"}, FORESTCOLL_TIMEOUT="3")
    assert ended.statuses == [1, 1]
    assert "bench: rank 1 did not come within 3 s" in ended.err[0]
    assert "does not answer" in ended.err[1]
