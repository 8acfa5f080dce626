"""Rules of NCCL's tuner: from NCCL's model with the bandwidth of a network, and from measurements."""

from itertools import pairwise
from pathlib import Path

import pytest
from logs import HEADER

from forestcoll.comparison.nccl_tuning import nccl_tuning
from forestcoll.demand.collective import Collective
from forestcoll.nccl.choice.table import Entry, Key, Table
from forestcoll.nccl.tuner.folder import tuner_csv, write_tuner
from forestcoll.nccl.tuner.rules import Rule, Setting, rules_of
from refusal import refusal

SIZES = [2**power for power in range(10, 33)]
FOUR = "dgx-h100:boxes=4"
ENTRIES = {
    Key(Collective.ALLREDUCE, "TREE", "LL"): Entry(10, 10, 0),
    Key(Collective.ALLREDUCE, "RING", "SIMPLE"): Entry(50, 100, 0),
}
TABLE = Table("2.32.3", "a test", 90, hosts=2, ranks=4, channels=2, entries=ENTRIES)
LARGEST = 2**64 - 1


def log(path: Path, times: dict[int, float], *setting: str, program: str = "all_reduce") -> Path:
    """Write a log of nccl-tests with these microseconds by size."""
    given = zip(("ALGO", "PROTO"), setting, strict=False)
    lines = [f"host:1:1 [0] NCCL INFO NCCL_{name} set by environment to {value}" for name, value in given if value]
    lines += [f"# Collective test starting: {program}_perf", HEADER]
    for size, time in times.items():
        result = f"{time:.2f} {size / time / 1000:.2f} {size / time / 1000:.2f} 0"
        lines.append(f"{size} {size // 4} float {'sum' if 'reduce' in program else 'none'} -1 {result} {result}")
    path.write_text("\n".join(lines))
    return path


def test_a_network_as_fast_as_nccl_thinks_has_nccls_own_choices() -> None:
    found = nccl_tuning(FOUR, "allreduce", SIZES)
    assert [(each.least, each.algorithm, each.protocol) for each in found.rules] == [
        (0, "TREE", "LL"),
        (2**18, "TREE", "LL128"),
        (2**25, "RING", "LL128"),
        (2**28, "RING", "SIMPLE"),
    ]
    assert all(each.is_nccls for each in found.rules)


def test_a_slow_fabric_changes_the_choice() -> None:
    """Trees send all data twice over the slow links between leaves; NCCL does not know that there are any."""
    slow = "cluster:box=dgx-h100,boxes=8,boxes_per_leaf=2,oversubscription=16"
    found = nccl_tuning(slow, "allreduce", SIZES)
    first_ring = min(each.least for each in found.rules if each.algorithm == "RING")
    assert not all(each.is_nccls for each in found.rules)
    assert first_ring != min(
        each.least for each in nccl_tuning("dgx-h100:boxes=8", "allreduce", SIZES).rules if each.algorithm == "RING"
    )


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_rules_cover_all_sizes_once(collective: str) -> None:
    rules = nccl_tuning(FOUR, collective, SIZES).rules
    assert [rules[0].least, rules[-1].most] == [0, LARGEST]
    assert all(after.least == before.most + 1 for before, after in pairwise(rules))


def test_runs_set_the_collective_only_and_what_nccl_offers() -> None:
    runs = nccl_tuning("dgx-a100:boxes=2", "allreduce", [2**20, 2**30]).runs
    assert "NCCL_ALGO" not in runs[0]
    assert all(" -x NCCL_ALGO=allreduce:" in run for run in runs[1:])
    assert [run.rpartition("> ")[2] for run in runs] == [
        "allreduce.log",
        "allreduce-tree-ll.log",
        "allreduce-tree-simple.log",
        "allreduce-ring-ll.log",
        "allreduce-ring-simple.log",
    ]
    assert "mpirun -np 16 " in runs[0]
    assert "all_reduce_perf -b 1M -e 1G -f 2 -g 1" in runs[0]


def test_the_fastest_measured_setting_is_the_rule(tmp_path: Path) -> None:
    logs = [
        log(tmp_path / "a", {1024: 20, 4096: 30, 16384: 90}, "allreduce:tree", "LL"),
        log(tmp_path / "b", {1024: 40, 4096: 25, 16384: 30}, "allgather:tree;allreduce:ring", "Simple"),
    ]
    found = nccl_tuning(FOUR, "allreduce", SIZES, measured=logs)
    assert found.rules == (
        Rule(0, 4095, "TREE", "LL", is_nccls=True),
        Rule(4096, LARGEST, "RING", "SIMPLE", is_nccls=False),
    )


def test_sizes_at_which_nccl_alone_is_as_fast_have_no_rule(tmp_path: Path) -> None:
    logs = [
        log(tmp_path / "a", {1024: 20, 4096: 100, 16384: 100}),
        log(tmp_path / "b", {1024: 19.9, 4096: 50, 16384: 99}, "RING", "LL"),
    ]
    found = nccl_tuning(FOUR, "allreduce", SIZES, measured=logs)
    assert found.rules == (Rule(4096, 16383, "RING", "LL", is_nccls=False),)


def test_a_gain_of_two_percent_is_none() -> None:
    times: dict[Setting | None, dict[int, float]] = {("TREE", "LL"): {1024: 100.0}, ("RING", "SIMPLE"): {1024: 98.5}}
    assert rules_of(TABLE, Collective.ALLREDUCE, times) == (Rule(0, LARGEST, "TREE", "LL", is_nccls=True),)
    times["RING", "SIMPLE"][1024] = 97
    assert rules_of(TABLE, Collective.ALLREDUCE, times) == (Rule(0, LARGEST, "RING", "SIMPLE", is_nccls=False),)


def test_the_folder_has_rules_a_plugin_and_five_lines(tmp_path: Path) -> None:
    found = nccl_tuning(FOUR, "reduce-scatter", SIZES)
    rules = write_tuner(found, tmp_path / "tuner")
    assert sorted(each.name for each in rules.parent.iterdir()) == ["README", "tuner.c", "tuner.csv"]
    assert len((rules.parent / "README").read_text().splitlines()) == 5
    assert rules.read_text() == "".join(tuner_csv(found))
    fields = [line.split(",") for line in rules.read_text().splitlines() if not line.startswith("#")]
    assert fields[0] == ["reducescatter", "0", "1048575", "ring", "ll", "0", "4", "32"]
    write_tuner(found, tmp_path / "tuner")


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    assert "mine.txt" in refusal(lambda: write_tuner(nccl_tuning(FOUR, "allgather", SIZES), tmp_path))


@pytest.mark.parametrize(
    ("algorithm", "protocol", "program", "message"),
    [
        ("allreduce:tree", "", "all_reduce", "one.log: does not set NCCL_PROTO; run the commands that tune prints"),
        ("", "LL", "all_reduce", "one.log: does not set NCCL_ALGO; run the commands"),
        ("allreduce:rong", "LL", "all_reduce", "one.log: sets 'RONG'; expected one of TREE, RING"),
        ("tree,ring", "LL", "all_reduce", "one.log: sets 'TREE,RING'; expected one of TREE"),
        ("pat", "Simple", "all_reduce", "a log has the setting PAT/SIMPLE, which NCCL does not offer here; there are"),
        ("ring", "LL", "all_gather", "the test in line 5 is not an allreduce; leave it out"),
    ],
)
def test_a_log_that_does_not_fit_is_refused(
    tmp_path: Path, algorithm: str, protocol: str, program: str, message: str
) -> None:
    path = log(tmp_path / "one.log", {1024: 20}, algorithm, protocol, program=program)
    assert message in refusal(lambda: nccl_tuning(FOUR, "allreduce", SIZES, measured=[path]))


def test_a_network_without_a_table_is_refused() -> None:
    message = refusal(lambda: nccl_tuning("torus:dims=4x4", "allreduce", SIZES))
    assert message.startswith("torus:dims=4x4: some compute nodes are in no box")


def test_a_collective_without_a_tuner_is_refused() -> None:
    assert refusal(lambda: nccl_tuning(FOUR, "all-to-all", SIZES)).startswith("NCCL has no tuner for an all-to-all")
