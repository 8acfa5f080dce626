"""`forestcoll bench` between processes on loopback: its table, its JSON, and what it refuses."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective
from forestcoll.measurement.bench.request import busbw_factor
from forestcoll.schedule.files import write_schedule
from forestcoll.solver.personalised import generate_flows
from forestcoll.topology import TopologyBuilder, write_topology
from started import LIMIT, bench, environment, free_port, words

PAIR = ("--topology", "complete:nodes=2", "--library", "none", "-n", "2")


def test_the_table_is_that_of_nccl_tests_with_more_columns() -> None:
    ended = bench(2, *PAIR, "-b", "1K", "-e", "4K", "-f", "2")
    assert ended.statuses == [0, 0], ended.err
    assert ended.out[1] == ""
    rows = [line.split() for line in ended.out[0].splitlines() if not line.startswith("#")]
    assert [row[:5] for row in rows] == [
        [str(size), str(size // 4), "float", "sum", "-1"] for size in (1024, 2048, 4096)
    ]
    for row in rows:
        assert len(row) == 18
        assert row[8] == row[12] == "0"  # nothing wrong, out of place and in place
        assert all(float(row[place]) > 0 for place in (5, 6, 7, 9, 10, 11))
        assert row[15:] == ["-", "-", "engine/trees"]
    assert "# Out of bounds values : 0 OK" in ended.out[0]
    heads = [line for line in ended.out[0].splitlines() if "#wrong" in line]
    assert heads[0].split()[:6] == ["#", "size", "count", "type", "redop", "root"]


@pytest.mark.slow
@pytest.mark.parametrize("collective", [each.value for each in Collective])
def test_all_types_and_reductions_of_a_collective_are_right(collective: str) -> None:
    options = ("--topology", "ring:nodes=3", "--library", "none", "-n", "1", "-w", "0", "-r", "1")
    sizes = ("-b", "1000", "-e", "70000", "-f", "70")
    ended = bench(3, *options, *sizes, "--collective", collective, "-d", "all", "-o", "all", "--json")
    rows = ended.rows()
    reduces = Collective(collective).reduces
    assert len(rows) == (2 * (9 * 5 + 4) if reduces else 2 * 9)
    for row in rows:
        in_place = row["in_place"]
        assert (in_place is None) == Collective(collective).is_personalised
        assert row["wrong"] == 0, row
        assert in_place is None or (isinstance(in_place, dict) and in_place["wrong"] == 0), row
        assert row["root"] == (1 if Collective(collective).has_root else None)


def test_bandwidths_follow_from_times() -> None:
    document = bench(2, *PAIR, "-b", "1M", "-e", "1M", "-n", "3", "--json").document()
    assert (document["ranks"], document["unit"], document["library"]) == (2, "GB/s", None)
    rows = document["rows"]
    assert isinstance(rows, list)
    (row,) = rows
    assert (row["schedule"], row["collective"]) == ("forestcoll", "allreduce")
    assert len(row["times_us"]) == 3
    assert row["time_us"] == pytest.approx(sum(row["times_us"]) / 3)
    assert row["algbw"] == pytest.approx(row["size"] / row["time_us"] / 1000)
    assert row["busbw"] == pytest.approx(row["algbw"] * busbw_factor(Collective.ALLREDUCE, 2))
    assert row["share"] == pytest.approx(row["algbw"] / float(row["bound_algbw"]))
    assert row["library_time_us"] is None


@pytest.mark.slow
def test_small_sizes_have_an_element_for_each_member() -> None:
    rows = bench(3, "--topology", "ring:nodes=3", "--library", "none", "-n", "1", "-b", "1", "-e", "1", "--json").rows()
    assert rows[0]["size"] == 4
    options = ("--collective", "allgather", "-b", "20", "-e", "20", "--json")
    rows = bench(3, "--topology", "ring:nodes=3", "--library", "none", "-n", "1", *options).rows()
    assert (rows[0]["size"], rows[0]["wrong"]) == (12, 0)


def test_idle_ranks_relay(tmp_path: Path) -> None:
    builder = TopologyBuilder("relay")
    for node in "abc":
        builder.add_compute(node)
    for one, other in ("ab", "bc"):
        builder.add_duplex(one, other, 1)
    write_topology(builder.build(), tmp_path / "line.json")
    options = ("--topology", tmp_path / "line.json", "--ranks", "a,c", "--library", "none", "-n", "1", "--json")
    document = bench(3, *options, "-b", "100K", "-e", "100K").document()
    assert (document["ranks"], document["members"], document["wrong"]) == (3, 2, 0)


@pytest.mark.parametrize(
    "collective", ["all-to-all", *(pytest.param(each, marks=pytest.mark.slow) for each in ("gather", "scatter"))]
)
def test_flows_are_measured_and_right(collective: str) -> None:
    options = ("--topology", "ring:nodes=4", "--library", "none", "-n", "2", "--collective", collective)
    rows = bench(4, *options, "-b", "1000", "-e", "100000", "-f", "100", "-r", "1", "--json").rows()
    assert [row["size"] for row in rows] == [992, 100_000]
    for row in rows:
        assert (row["wrong"], row["in_place"], row["path"]) == (0, None, "engine/flows")
        assert row["busbw"] == pytest.approx(float(str(row["algbw"])) * 3 / 4)
        assert row["bound_algbw"] == row["schedule_algbw"] == ("2" if collective == "all-to-all" else "8/3")


def test_a_demand_matrix_with_relays_is_measured(tmp_path: Path) -> None:
    matrix = [[0, "1/2"], ["1/3", 0]]
    write_schedule(generate_flows("ring:nodes=4", ranks=[0, 2], matrix=matrix), tmp_path / "flows.json")
    rows = bench(
        4, "--schedule", tmp_path / "flows.json", "--library", "none", "-b", "60K", "-e", "60K", "--json"
    ).rows()
    assert [row["wrong"] for row in rows] == [0]


def test_schedule_files_are_measured_one_after_the_other(tmp_path: Path) -> None:
    files = [tmp_path / "one.json", tmp_path / "other.json"]
    for file, collective in zip(files, ("allgather", "broadcast"), strict=True):
        write_schedule(generate("ring:nodes=2", collective, root=0 if collective == "broadcast" else None), file)
    options = ("--library", "none", "-n", "1", "-b", "1K", "-e", "1K", "--no-in-place", "--json")
    rows = bench(2, "--schedule", files[0], "--schedule", files[1], *options).rows()
    assert [(row["schedule"], row["collective"], row["in_place"], row["wrong"]) for row in rows] == [
        ("one.json", "allgather", None, 0),
        ("other.json", "broadcast", None, 0),
    ]


def test_bandwidths_are_in_gigabytes_where_the_unit_has_no_size(tmp_path: Path) -> None:
    builder = TopologyBuilder("messages", bandwidth_unit="messages")
    builder.add_duplex(builder.add_compute("a"), builder.add_compute("b"), 3)
    write_topology(builder.build(), tmp_path / "network.json")
    options = ("--library", "none", "-n", "1", "-b", "1K", "-e", "1K", "--json")
    ended = bench(2, "--topology", tmp_path / "network.json", *options)
    assert ended.document()["unit"] == "GB/s"
    (row,) = ended.rows()
    assert row["bound_algbw"] is row["share"] is None


def test_checks_can_be_left_out() -> None:
    ended = bench(2, *PAIR, "-b", "1K", "-e", "1K", "-c", "0")
    assert "not checked" in ended.out[0]
    assert ended.out[0].count("N/A") == 2


def test_the_network_may_come_from_the_environment() -> None:
    options = ("--library", "none", "-n", "1", "-b", "1K", "-e", "1K", "--json")
    assert bench(2, *options, FORESTCOLL_TOPOLOGY="ring:nodes=2").document()["topology"] == "ring:nodes=2"


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_gloo_is_compared_where_torch_is_installed() -> None:
    ended = bench(2, "--topology", "ring:nodes=2", "-n", "1", "-b", "64K", "-e", "64K", "--json")
    document = ended.document()
    assert document["library"] == "gloo"
    (row,) = ended.rows()
    assert isinstance(row["library_time_us"], float)
    assert row["speedup"] == pytest.approx(row["library_time_us"] / row["time_us"])  # type: ignore[operator]


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed")
def test_mpirun_launches_and_is_compared() -> None:
    mpirun = shutil.which("mpirun") or shutil.which("mpirun", path=str(Path(sys.executable).parent))
    if mpirun is None:
        pytest.skip("mpirun is not installed")
    options = ("--topology", "ring:nodes=3", "-n", "1", "-b", "64K", "-e", "64K")
    done = subprocess.run(  # noqa: S603 (our own command)
        [mpirun, "-n", "3", *words(*options)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"library: \S+", done.stdout)
    assert "engine/trees" in done.stdout


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
        ({"RANK": "x", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}, "RANK is 'x'; expected a number"),
        ({"RANK": "2", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}, "RANK is 2 and WORLD_SIZE is 2"),
        ({"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "p"}, "MASTER_PORT is 'p'"),
    ],
)
def test_a_process_without_a_rank_is_refused(variables: dict[str, str], message: str) -> None:
    done = subprocess.run(  # noqa: S603 (our own command)
        words(*PAIR), env=environment() | variables, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--topology", "ring:nodes=3"), "2 processes, but the network has 3 compute nodes"),
        pytest.param(("--topology", "no-such-network"), "no such builder or file", marks=pytest.mark.slow),
        (("--topology", "ring:nodes=2", "--collective", "broadcast", "-r", "2"), "root is 2"),
        (("--schedule", "no-such-file.json"), "no-such-file.json"),
    ],
)
def test_a_network_that_does_not_fit_ends_all_ranks(arguments: tuple[str, ...], message: str) -> None:
    ended = bench(2, *arguments, "--library", "none", "--timeout", "20")
    assert ended.statuses == [1, 1]
    assert ended.out == ["", ""]
    assert message in ended.err[0]


@pytest.mark.slow
def test_a_missing_rank_is_named() -> None:
    ended = bench(3, "--topology", "ring:nodes=3", "--library", "none", "--timeout", "2", launched=2)
    assert ended.statuses == [1, 1]
    assert any("rank 2 did not come within 2 s" in text for text in ended.err)


@pytest.mark.parametrize("library", ["auto", "none"])
def test_a_missing_rank_is_named_before_a_library_waits_for_it(library: str) -> None:
    ended = bench(2, "--topology", "ring:nodes=2", "--library", library, "--timeout", "1", launched=1)
    assert ended.statuses == [1]
    assert ended.err == ["forestcoll: bench: rank 1 did not come within 1 s; start all 2 ranks\n"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-f", "1"), "'--stepfactor'"),
        (("-n", "0"), "'--iters'"),
        (("-d", "floaty"), "no such element type"),
        (("-o", "sums"), "no such reduction"),
        (("-b", "none"), "expected a size"),
        (("--collective", "sendrecv"), "there is no collective"),
        ((), "no network; give --topology"),
    ],
)
def test_wrong_usage_is_refused(arguments: tuple[str, ...], message: str) -> None:
    done = subprocess.run(  # noqa: S603 (our own command)
        words(*arguments), env=environment(), capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert done.returncode == 2
    assert message in done.stderr


def test_a_secret_comes_from_a_file_or_a_variable_and_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("known\n")
    options = (*PAIR, "-b", "1K", "-e", "1K", "--json")
    from_file = bench(2, *options, "--secret-file", tmp_path / "secret")
    from_variable = bench(2, *options, FORESTCOLL_SECRET="known")  # noqa: S106 (a test)
    for ended in (from_file, from_variable):
        assert ended.document()["wrong"] == 0
        assert not any("known" in text for text in (*ended.out, *ended.err))


def test_processes_without_the_secret_do_not_join(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("known")
    port = free_port()
    given = {0: ("--secret-file", tmp_path / "secret"), 1: ()}
    processes = [
        subprocess.Popen(  # noqa: S603 (our own command)
            words(*PAIR, "--timeout", "3", *given[rank]),
            env=environment(rank, 2, port),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = [process.communicate(timeout=LIMIT) for process in processes]
    assert [process.returncode for process in processes] == [1, 1]
    assert "bench: rank 1 did not come within 3 s" in said[0][1]
    assert "does not answer" in said[1][1]


def test_a_file_without_a_secret_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    for file, message in (("empty", "the file is empty; write the secret into it"), ("none", "no such file")):
        done = subprocess.run(  # noqa: S603 (our own command)
            words(*PAIR, "--secret-file", tmp_path / file),
            env=environment(),
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert done.returncode != 0
        assert done.stderr == f"forestcoll: {tmp_path / file}: {message}" + (
            "\n" if file == "empty" else "; check the name\n"
        )
