import random
from fractions import Fraction
from pathlib import Path

import pytest
from logs import HEADER, devices, log, row

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.nccl.reading import parse_log, read_log
from forestcoll.nccl.results import LogRow, collectives_of
from refusal import refusal

GIB = 2**30


def test_a_test_is_read_with_its_columns() -> None:
    (test,) = parse_log(log("all_reduce", {2**20: 10, GIB: 120}), "log").tests
    assert (test.program, test.ranks, test.hosts, test.groups, test.repeated) == ("all_reduce_perf", 16, 2, 1, False)
    last = test.rows[-1]
    assert (last.size, last.root, last.operation) == (GIB, -1, "sum")
    assert last.out_of_place is not None
    assert last.in_place is not None
    assert last.out_of_place.wrong == 0
    assert last.out_of_place.busbw == 225
    assert abs(last.out_of_place.algbw - 120) < Fraction(1, 10)


def test_several_tests_of_a_log_are_apart_and_old_ones_have_only_the_name_of_the_command_line() -> None:
    text = log("all_gather", {GIB: 200}) + log("all_reduce", {GIB: 100}, ranks=8) + log("sendrecv", {GIB: 20})
    found = [(test.program, test.ranks) for test in parse_log(text, "log").tests]
    assert found == [("all_gather_perf", 16), ("all_reduce_perf", 8), ("sendrecv_perf", 16)]
    text = log("all_gather", {GIB: 200}) + log("all_reduce", {GIB: 100}, named=False)
    assert [test.program for test in parse_log(text, "log").tests] == ["all_gather_perf", None]
    text = "$ mpirun -np 16 ./build/reduce_scatter_perf -b 8 -e 8G\n" + log("reduce_scatter", {GIB: 200}, named=False)
    assert parse_log(text, "log").tests[0].program == "reduce_scatter_perf"


def test_marks_of_mpirun_and_srun_and_lines_of_nccl_between_the_rows_are_ignored() -> None:
    plain = log("all_gather", {2**26: 150, GIB: 200})
    mpirun = ("[1,0]<stdout>:", "[1,0]<stdout>: ", "[prterun-host-77@1,0]<stdout>: ", "[1,mpirank:0,algo-1]<stdout>:")
    times = ("2026-11-28 00:08:48 ", "2026-11-28T00:08:48.123Z stdout F ", "2026-11-28 00:08:48,123 [1,0]<stdout>: ")
    for prefix in (*mpirun, *times, "0: ", "12: ", "[default0]:", "[0] ", "\x1b[32m"):
        marked = "".join(f"{prefix}{line}\n" for line in plain.splitlines())
        assert parse_log(marked, "log").tests == parse_log(plain, "log").tests, prefix
    noise = "host0:12:34 [0] NCCL INFO comm 0x55ba rank 0 nranks 16 cudaDev 0 - Init COMPLETE"
    noisy = plain.replace("\n", f"\n{noise}\n")
    assert [test.rows[0].size for test in parse_log(noisy, "log").tests] == [2**26]
    assert len(parse_log(noisy, "log").tests[0].rows) == 2


def test_rccl_tests_old_versions_and_ranks_that_are_listed_twice() -> None:
    version = "rccl-tests: Version develop:3f7f785\n# Using devices"
    rccl = log("all_reduce", {GIB: 100}).replace("# Using devices", version)
    assert parse_log(rccl.replace(" Group  0", ""), "log").tests[0].ranks == 16
    old = log("all_reduce", {GIB: 100}).replace("#wrong", " error").replace("      0", "  5e-07")
    assert parse_log(old, "log").tests[0].rows[0].results[0].wrong is None
    absent = f"{HEADER}\n" + row("all_gather", GIB, 100, 8).rsplit(maxsplit=4)[0] + "   N/A N/A N/A N/A\n"
    assert parse_log(absent, "log").tests[0].rows[0].in_place is None
    text = devices(1) + "\n" + log("all_gather", {GIB: 100}, ranks=1)
    first = text.replace("# Using devices\n", "# Using devices\n" + devices(1) + "\n")
    assert parse_log(first, "log").tests[0].repeated


def test_wrong_rows_are_skipped_with_a_reason() -> None:
    good = log("all_gather", {GIB: 200})
    lines = [
        "   1048576  262144 float none -1",
        row("all_gather", GIB, 200, 16).replace("200.00", "900.00"),
        row("all_gather", GIB, 200, 16).replace("5368.7", "fast"),
        row("all_gather", GIB, 200, 16).replace("5368.7", "0.0"),
        row("all_gather", GIB, 200, 16).replace("     -1", "    one"),
    ]
    read = parse_log(good.replace("# Out of", "\n".join([*lines, "# Out of"]), 1), "log")
    assert len(read.tests[0].rows) == 1
    reasons = [reason for _, reason in read.skipped]
    assert [reason.split(";")[0] for reason in reasons] == [
        "has 5 columns",
        "algbw is '900.00', but size and time give 200",
        "time is 'fast'",
        "time is '0.0'",
        "root is 'one'",
    ]
    first = read.tests[0].rows[0].line + 1
    assert [line for line, _ in read.skipped] == list(range(first, first + 5))


def test_a_text_without_rows_and_a_binary_or_missing_file_are_refused(tmp_path: Path) -> None:
    for text, said in [
        ("", "has no row of nccl-tests or rccl-tests; give the output of a program"),
        ("hello\nworld 1 2 3\n", "has no row"),
        (HEADER, "has no row"),
        (f"{HEADER}\n 8 2 float\n", "line 4: has 3 columns; a row has 13"),
        ("1048576 1 float none -1 1 1 1 0\n", "has no row"),
    ]:
        message = refusal(parse_log, text, "nccl.log")
        assert message.startswith("nccl.log: "), text
        assert said in message
    (tmp_path / "x").write_bytes(b"\x7fELF\0\0\0")
    assert "is not text" in refusal(read_log, tmp_path / "x")
    assert "no such file" in refusal(read_log, tmp_path / "y")


def test_columns_say_which_collectives_are_possible() -> None:
    either = {Collective.ALLGATHER, Collective.ALL_TO_ALL}
    for test, ranks, collectives in [
        ("all_gather", 16, either),
        ("alltoall", 16, either),
        ("all_reduce", 16, {Collective.ALLREDUCE}),
        ("all_reduce", 2, {Collective.ALLREDUCE}),
        ("reduce_scatter", 16, {Collective.REDUCE_SCATTER}),
        ("broadcast", 16, {Collective.BROADCAST}),
        ("reduce", 16, {Collective.REDUCE}),
    ]:
        (read,) = parse_log(log(test, {1024: 0.01, GIB: 100}, ranks, named=False), "log").tests
        assert set(collectives_of(read)) == collectives, test


def test_damaged_logs_are_read_or_refused_in_one_line() -> None:
    draws = random.Random(3)  # noqa: S311 (damage of a test)
    whole = log("all_gather", {2**20: 3, GIB: 200}) + log("all_reduce", {GIB: 100})
    for _ in range(300):
        text = list(whole)
        for _ in range(draws.randint(1, 12)):
            place = draws.randrange(len(text))
            damage = draws.choice(["", "#", "\n", "9" * 40, "nan", "-", " ", "1e999"])
            text[place : place + draws.randint(0, 30)] = damage
        assert read_or_refused("".join(text))


def read_or_refused(text: str) -> bool:
    """Whether a text is read with sound results, or refused in one line."""
    try:
        read = parse_log(text, "log")
    except InputError as error:
        return "\n" not in str(error)
    return all(result.time_us > 0 for test in read.tests for row in test.rows for result in row.results)


SIZES = "1073741824     268435456"
RESULT = "10737.4  100.00  {busbw}  {wrong}"


def only_row(text: str, **options: str) -> LogRow:
    """The only row of the only test of a text."""
    (test,) = parse_log(text.format(**options), "log").tests
    (found,) = test.rows
    return found


def test_tables_of_all_releases_are_read() -> None:
    """Headers and rows as the sources of nccl-tests print them: 2017, 2019, 2022, 2025."""
    both = "time   algbw   busbw  {name}     time   algbw   busbw  {name}"
    wide = f"{RESULT} 10600.0 11000.0 10990.0 1.50"
    extra = "time algbw busbw #wrong i_min i_max i_p99 i_cv%"
    tables = {
        "2017": ("bytes N type op time algbw busbw res", f"{SIZES} float sum 10.737 100.00 150.00 0e+00", "sum", -1),
        "2019": (f"size count type redop {both}", f"{SIZES} float sum {RESULT} {RESULT}", "sum", -1),
        "2019, root": (f"size count type root {both}", f"{SIZES} float 3 {RESULT} {RESULT}", "none", 3),
        "2021": (f"size count type redop root {both}", f"{SIZES} float      -1 {RESULT} {RESULT}", "none", -1),
        "-C": (
            f"size count type redop root {both}".replace("time", "cputime"),
            f"{SIZES} float sum -1 {RESULT}",
            "sum",
            -1,
        ),
        "-I": (f"size count type redop root {extra} {extra}", f"{SIZES} float sum -1 {wide} {wide}", "sum", -1),
    }
    for release, (header, line, operation, root) in tables.items():
        found = only_row(f"#  {header}\n  {line}\n", name="#wrong", busbw="150.00", wrong="0")
        assert (found.size, found.operation, found.root) == (GIB, operation, root), release
        assert found.out_of_place is not None
        assert [round(float(each)) for each in (found.out_of_place.algbw, found.out_of_place.busbw)] == [100, 150], (
            release
        )
        has_two = release not in ("2017", "-C")
        assert (found.in_place == found.out_of_place, found.in_place is None) == (has_two, not has_two), release


def test_an_old_algbw_without_the_own_part_is_known_by_the_number_of_ranks() -> None:
    """Before June 2020, the algbw of an allgather counted (N-1)/N of the data."""
    old = "# size count type time algbw busbw error\n" + f"{SIZES} float 10737.4 75.00 75.00 0e+00\n"
    (test,) = parse_log(f"{devices(4)}\n{old}", "log").tests
    assert test.ranks == 4
    assert float(test.rows[0].results[0].algbw) == pytest.approx(100, abs=0.01)
    assert "algbw is '75.00', but size and time give 100" in refusal(parse_log, f"{devices(8)}\n{old}", "log")


def test_a_result_in_place_alone_is_in_place() -> None:
    line = f"  {SIZES} float sum -1 {' ' * 32} 10737.4 100.00 150.00 0\n"
    alone = f"  {SIZES} float sum -1 10737.4 100.00 150.00 0\n"
    title = "#        in-place\n#  size count type redop root time algbw busbw #wrong\n"
    for text in (f"{HEADER}\n{line}", f"{title}{alone}"):
        found = only_row(text)
        assert (found.out_of_place, found.in_place is None) == (None, False)
    assert only_row(f"{HEADER}\n{alone}").in_place is None


def test_the_algorithm_of_a_table_of_rccl_tests_is_read() -> None:
    text = HEADER.replace("#wrong\n", "#wrong algo proto nchannels\n")
    found = only_row(f"{text}\n  {SIZES} float sum -1 {RESULT} {RESULT} RING SIMPLE 64\n", busbw="150.00", wrong="0")
    assert found.algorithm == "RING"


def test_csv_markdown_and_lost_number_signs_are_read() -> None:
    plain = log("all_reduce", {2**26: 90, GIB: 100})
    expected = parse_log(plain, "log").tests[0]
    bare = parse_log(plain.replace("#", "").replace(" wrong", " #wrong"), "log").tests[0]
    assert (bare.rows, bare.ranks, bare.program) == (expected.rows, 16, "all_reduce_perf")
    table = [line for line in plain.splitlines() if "algbw" in line or "float" in line]
    cells = [line.lstrip("# ").split() for line in table]
    markdown = "\n".join("| " + " | ".join(each) + " |" for each in [cells[0], ["---:"] * 13, *cells[1:]])
    for text in (markdown, "\n".join(",".join(each) for each in cells), "\n".join("> " + line for line in table)):
        read = parse_log(text, "log").tests[0]
        assert [(each.size, each.results) for each in read.rows] == [
            (each.size, each.results) for each in expected.rows
        ]


def test_a_csv_file_of_rccl_tests_has_tests_and_both_results_of_a_size() -> None:
    text = (
        "numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inplace,time,algbw,busbw,#wrong\n"
        f"0,AllReduce,1,2,2,4,{GIB},float,sum,0,10737.4,100.00,175.00,0\n"
        f"0,AllReduce,1,2,2,4,{GIB},float,sum,1,21474.8,50.00,87.50,0\n"
        f"0,AlltoAll,1,2,2,4,{GIB},float,none,0,10737.4,100.00,87.50,N/A\n"
    )
    first, second = parse_log(text, "log").tests
    assert [(each.program, each.ranks, len(each.rows)) for each in (first, second)] == [
        ("all_reduce_perf", 8, 1),
        ("alltoall_perf", 8, 1),
    ]
    assert [round(float(each.algbw)) for each in first.rows[0].results] == [100, 50]
    assert second.rows[0].results[0].wrong is None


def test_a_test_that_hung_says_where() -> None:
    rows = [row("all_reduce", 2**size, 100, 16) for size in (20, 24)]
    stopped = row("all_reduce", 2**28, 100, 16).rsplit(maxsplit=8)[0]
    (test,) = parse_log("\n".join([HEADER, *rows, stopped]), "log").tests
    assert test.remarks == ("the test hung, or was ended at 256MiB; NCCL_DEBUG=INFO may say why",)
    half = row("all_reduce", 2**28, 100, 16).rsplit(maxsplit=4)[0]
    for last in (stopped, half):
        text = "\n".join([HEADER, *rows, last, "host1: Test timeout (30s) common.cu:523"])
        assert (
            parse_log(text, "log").tests[0].remarks[0].startswith("the test hung, and ended itself after 30 s at 256M")
        )
    glued = parse_log("\n".join([HEADER, *rows, f"{half}host1: Test timeout (9s) common.cu:5"]), "log").tests[0]
    assert glued.remarks[0].startswith("the test hung, and ended itself after 9 s at 256MiB")
    assert len(glued.rows) == 3
    whole = "\n".join([HEADER, *rows, half, "# Out of bounds values : 0 OK"])
    assert parse_log(whole, "log").tests[0].remarks == ()
    assert "the test of line 2: the test hung, or was ended at 256MiB" in refusal(
        parse_log, f"{HEADER}\n{stopped}", "x"
    )


def test_a_test_that_failed_says_why() -> None:
    failure = "node-2: Test NCCL failure alltoall.cu:274 'remote process exited or there was a network error / '"
    (test,) = parse_log("\n".join([HEADER, row("alltoall", GIB, 10, 16), failure]), "log").tests
    assert test.remarks == ("NCCL failed (line 5): remote process exited or there was a network error",)
    assert "the test of line 2: NCCL failed (line 4): remote process" in refusal(parse_log, f"{HEADER}\n{failure}", "x")


def test_a_list_of_devices_that_was_cut_does_not_say_how_many_ranks_there_are() -> None:
    text = log("all_gather", {GIB: 100})
    assert parse_log(text.replace(devices(16), devices(16).splitlines()[-1]), "log").tests[0].ranks is None


def test_a_time_with_few_digits_is_close_enough() -> None:
    row = f"{HEADER}\n 17179869184 4294967296 float none -1 1.1e+07 1.62 0.81 0 1.1e+07 1.63 0.81 N/A"
    assert [each.busbw for each in only_row(row).results] == [Fraction(81, 100)] * 2
    wrong = f"{HEADER}\n 17179869184 4294967296 float none -1 1.1e+07 1.82 0.91 0"
    assert "algbw is '1.82'" in refusal(parse_log, wrong, "log")


def test_sizes_of_zero_measure_nothing() -> None:
    text = log("all_gather", {GIB: 100}).replace(
        HEADER, f"{HEADER}\n  0  0  float none -1 2.17 0.00 0.00 0 0.56 0.00 0.00 0"
    )
    read = parse_log(text, "log")
    assert ([each.size for each in read.tests[0].rows], read.skipped) == ([GIB], ())
