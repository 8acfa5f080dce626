import random
from fractions import Fraction
from pathlib import Path

from logs import HEADER, devices, log, row

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.nccl.log import collectives_of, parse_log, read_log
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
    for prefix in ("[1,0]<stdout>:", "[1,0]<stdout>: ", "0: ", "12: "):
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
        row("all_gather", GIB, 200, 16).replace("1073741824", "0", 1),
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
        "size is 0",
    ]
    first = read.tests[0].rows[0].line + 1
    assert [line for line, _ in read.skipped] == list(range(first, first + 6))


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
