"""Logs of jobs with NCCL_DEBUG=INFO: what is read of them, whole, cut or mixed, and their schedules on a network."""

import re
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.nccl.job.communicators import ROOT, Choice, Communicator, is_tree
from forestcoll.nccl.job.explained import JobReport, explain_job
from forestcoll.nccl.job.reading import NcclLog, parse_nccl_log
from forestcoll.presentation.results.measurements.job import job_page
from forestcoll.topology import Topology, TopologyBuilder, TopologyLike
from forestcoll.verification import verify
from job_logs import MARKS, Job, job
from refusal import refusal


def only(text: str) -> Communicator:
    """Return the only communicator of a log."""
    (found,) = parse_nccl_log(text, "log").communicators
    return found


def report_of(folder: Path, text: str, topology: TopologyLike | None = None, **options: Any) -> JobReport:
    (folder / "job.log").write_text(text)
    found = explain_job(folder / "job.log", topology, **options)
    assert found is not None
    return found


@pytest.mark.parametrize("before", MARKS)
def test_the_facts_of_a_log_with_any_marks(before: str) -> None:
    plain = job(2, 4)
    found = only(plain.text(before))
    assert (found.name, found.version, found.size, found.channels) == (plain.name, "2.30.7", 8, 2)
    assert found.hosts == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert list(found.rings) == [tuple(ring) for ring in plain.rings]
    assert [list(tree) for tree in found.trees] == [list(tree) for tree in plain.trees]
    assert [(gpu.rank, gpu.host, gpu.device, gpu.bus) for gpu in found.gpus][5] == (5, "node-01", 1, "2b000")
    assert [(nic.host, nic.network, nic.name, nic.sends, nic.receives, nic.unknown) for nic in found.nics] == [
        ("node-00", "IB", "mlx5_0", 2, 2, 0),
        ("node-01", "IB", "mlx5_0", 2, 2, 0),
    ]
    assert not found.remarks


@pytest.mark.parametrize("version", ["2.28.9", "2.32.3"])
def test_other_versions_are_named(version: str) -> None:
    text = job(2, 2, version=version).text()
    assert only(text).version == version
    assert only(text.replace("[Rank ", "[Rnk ")).version == version, "from 2.28 there is no such mark"


def test_the_version_in_a_line_without_a_mark() -> None:
    plain = job(2, 2)
    text = re.sub(r".*NCCL version.*\n", "", plain.text())
    assert only(text).version is None
    assert only(f"NCCL version 2.18.3+cuda12.2\n{text}").version == "2.18.3"
    assert only(f"NCCL version 2.18.3+cuda12.2\nNCCL version 2.19.3+cuda12.2\n{text}").version is None


def test_one_process_with_several_gpus_and_no_number_of_the_communicator() -> None:
    plain = job(1, 4, channels=4)
    text = re.sub(r":40(\d\d):(40\d\d) ", r":4000:\2 ", plain.text()).replace(f" commId {plain.name}", "")
    text = re.sub(r".*Init START\n", "", text)
    found = only(text)
    assert (found.name, found.size, found.hosts) == ("", 4, ((0, 1, 2, 3),))
    assert list(found.rings) == [tuple(ring) for ring in plain.rings]
    assert [list(tree) for tree in found.trees] == [list(tree) for tree in plain.trees]


def agrees(found: Communicator, plain: Job) -> bool:
    """Return whether all that is known is right."""
    rings = [ring is None or list(ring) == list(right) for ring, right in zip(found.rings, plain.rings, strict=False)]
    trees = [
        parent is None or parent == right
        for tree, other in zip(found.trees, plain.trees, strict=False)
        for parent, right in zip(tree, other, strict=True)
    ]
    return all((*rings, *trees)) and found.channels in {None, len(plain.rings)}


@pytest.mark.parametrize("block", [57, 211, 500, 1000, 1500, 4096])
def test_nothing_is_wrong_where_ranks_cut_each_others_lines(block: int) -> None:
    for plain in (job(2, 4), job(3, 2, channels=4, graph=False), job(4, 1, channels=16)):
        text = plain.cut_text(block)
        assert "".join(sorted(text)) == "".join(sorted(plain.text()))
        for found in parse_nccl_log(text, "log").communicators:
            assert found.size == len(plain.hosts)
            assert agrees(found, plain), (block, found)


def test_a_log_in_blocks_of_4096_bytes_is_read_completely() -> None:
    plain = job(4, 4, channels=8)
    text = plain.cut_text(4096)
    assert text.count("NCCL INFO") < plain.text().count("\n") or re.search(r"[^\n]NCCL INFO.*NCCL INFO", text)
    found = only(text)
    assert list(found.rings) == [tuple(ring) for ring in plain.rings]
    assert [list(tree) for tree in found.trees] == [list(tree) for tree in plain.trees]


def test_a_log_of_100_000_lines_is_read_in_2_seconds_of_the_cpu() -> None:
    plain = job(8, 8, channels=16)
    noise = "Could not get speed from /sys/class/net/eth0/speed. Defaulting to 10 Gbps."
    sends = "Channel 07/1 : 3[3] -> 60[4] [send] via NET/IB/3/GDRDMA/Shared"
    lines = "".join(f"{plain.mark(rank)}{text}\n" for _ in range(750) for rank in range(64) for text in (noise, sends))
    text = plain.cut_text() + lines
    assert text.count("\n") > 100_000 - 1_000
    begin = time.process_time()
    found = only(text)
    assert time.process_time() - begin < 2
    assert found.size == 64


def test_long_rings_and_trees_come_from_the_lines_of_all_ranks() -> None:
    plain = job(8, 8, channels=4)
    assert "..." in plain.text()
    assert list(only(plain.text()).rings) == [tuple(ring) for ring in plain.rings]
    by_connections = only(replace(plain, graph=False).text())
    assert list(by_connections.rings) == [tuple(ring) for ring in plain.rings]
    without = re.sub(r".*(?:Channel \d+/0|Ring).*\n", "", plain.text())
    assert only(without).rings == (None,) * 4


def test_trees_that_a_line_of_1023_characters_cannot_hold_are_unknown() -> None:
    plain = job(1, 2, channels=64, graph=False)
    longest = max(plain.text().splitlines(), key=len)
    assert len(longest.partition("NCCL INFO ")[2]) == 1023
    found = only(plain.text())
    assert all(is_tree(tree) for tree in found.trees[:50])
    assert found.trees[-1] == (None, None)
    assert agrees(found, plain)


def test_a_lost_line_of_trees_follows_from_those_of_the_others() -> None:
    plain = job(4, 1)
    for rank in range(4):
        text = re.sub(rf"{re.escape(plain.mark(rank))}Trees.*\n", "", plain.text())
        assert text != plain.text()
        assert [list(tree) for tree in only(text).trees] == [list(tree) for tree in plain.trees]
    text = re.sub(r".*Trees.*->[02]->.*\n", "", plain.text())
    assert None in only(text).trees[0]


def test_a_lost_beginning_of_a_communicator_waits_for_its_end() -> None:
    plain = job(2, 2)
    text = re.sub(rf"{re.escape(plain.mark(1))}\[Rank.*\n", "", plain.text())
    assert len(text) < len(plain.text())
    assert only(text) == only(plain.text())


def test_a_ring_that_visits_a_rank_twice_is_unknown_and_its_line_is_named() -> None:
    text = job(2, 2, graph=False).text().replace("Channel 01/02 : 0 1 2 3", "Channel 01/02 : 0 1 1 3")
    text = re.sub(r".*Channel 01/0 :.*\n", "", text)
    line = text[: text.index("0 1 1 3")].count("\n") + 1
    found = only(text)
    assert found.rings == ((0, 1, 2, 3), None)
    assert found.remarks == (f"line {line}: the ring of channel 1 does not visit every rank once, so it is unknown",)


def test_ranks_that_wrote_nothing_are_named() -> None:
    plain = job(2, 2)
    text = "".join(f"{line}\n" for rank in (0, 1, 2) for line in plain.lines(rank))
    assert only(text).remarks == ("no line names 1 rank: 3",)
    assert only(text).hosts == ((0, 1), (2,))


def test_hosts_are_those_that_the_user_named() -> None:
    plain = job(2, 2)
    text = plain.text().replace("node-00:", "node:").replace("node-01:", "node:")
    assert only(text).hosts == ((0, 1), (2, 3)), "the connections inside hosts say so"
    without = re.sub(r".*via P2P.*\n", "", text)
    assert only(without).hosts is None
    assert only(without).remarks == ("the names of hosts and the number of hosts that NCCL states differ",)
    marks = [plain.mark(rank).replace("node-00", "node").replace("node-01", "node") for rank in range(4)]
    named = "".join(f"{mark}NCCL_HOSTID set by environment to host-{rank % 2}\n" for rank, mark in enumerate(marks))
    assert only(named + without).hosts == ((0, 2), (1, 3))


CHOICES = """\
AllReduce: 65536 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..1}
AllGather: 1024 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..0} cgaClusterSize 4
ReduceScatter: 1024 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={2..3}
AllReduce: 65536 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..1}
Broadcast: 9 Bytes -> Algo RING proto SIMPLE channel{Lo..H
"""


def test_choices_have_the_bytes_of_all_ranks_and_the_channels_used() -> None:
    plain = job(2, 2)
    text = plain.text() + "".join(f"{plain.mark(0)}{line}\n" for line in CHOICES.splitlines())
    assert only(text).choices == (
        Choice(Collective.ALLREDUCE, 65536, "tree", "ll", 2),
        Choice(Collective.ALLGATHER, 4096, "ring", "simple", 1),
        Choice(Collective.REDUCE_SCATTER, 4096, "ring", "ll128", 2),
    )


def with_group(plain: Job) -> str:
    """Return the log of a job whose ranks 0 and 1 have another communicator, by a split, and calls on both."""
    split = "cudaDev 0 nvmlDev 0 busId 1b000 parent 0x55662a97{0:04x} splitCount 1 color 7 key 0"
    texts = [
        "ncclCommSplit comm 0x77{0:04x} rank {0} nranks 2 " + split + "- Init START",
        "comm 0x77{0:04x} rank {0} nRanks 2 nNodes 1 localRanks 2 localRank {0} MNNVL 0",
        "Trees [0] " + "{1}",
        "1 coll channels, 0 collnet channels, 0 nvls channels, 2 p2p channels",
        "ncclCommSplit comm 0x77{0:04x} rank {0} nranks 2 " + split + " - Init COMPLETE",
    ]
    trees = ["1/-1/-1->0->-1", "-1/-1/-1->1->0"]
    text = plain.text() + "".join(plain.mark(r) + line.format(r, trees[r]) + "\n" for r in (0, 1) for line in texts)
    for pointer, size in (("0x770000", 8), ("0x55662a970000", 1024)):
        call = f"AllReduce: opCount 1 sendbuff 0x7 recvbuff 0x8 count 2 comm {pointer} [nranks=2] stream 0x5"
        text += f"{plain.mark(0)}{call}\n{plain.mark(0)}AllReduce: {size} Bytes -> Algo RING proto LL "
        text += "channel{Lo..Hi}={0..0}\n"
    return text


def test_several_communicators_of_one_job() -> None:
    plain = job(2, 2)
    found = parse_nccl_log(with_group(plain), "log")
    whole, group = found.communicators
    assert (whole.size, group.size, found.jobs, found.remarks) == (4, 2, 1, ())
    assert (group.name, group.hosts, group.channels, group.trees) == ("", ((0, 1),), 1, ((ROOT, 0),))
    assert [each.size for each in whole.choices] == [1024]
    assert [each.size for each in group.choices] == [8]
    silent = parse_nccl_log(re.sub(r".*opCount.*\n", "", with_group(plain)), "log")
    assert [each.choices for each in silent.communicators] == [(), ()]
    assert "2 choices name no communicator" in silent.remarks[0]


def test_two_jobs_in_one_file_are_told_apart() -> None:
    def found(other: Job, start: str = "") -> NcclLog:
        return parse_nccl_log(job(2, 2).text() + start + other.text(), "log")

    elsewhere = replace(job(3, 1, name="0x1"), hosts=["other-0", "other-1", "other-2"])
    assert found(elsewhere).jobs == 2
    again = job(2, 2, name="0x1")
    assert found(again).jobs == 1
    start = "".join(f"{again.mark(rank)}cudaDriverVersion 13000\n" for rank in range(4))
    told = found(again, start)
    assert told.jobs == 2
    assert "2 groups of processes that share no communicator" in told.remarks[0]
    assert [each.hosts for each in told.communicators] == [((0, 1), (2, 3))] * 2


def test_one_rank_by_two_processes_is_said() -> None:
    plain = job(2, 1)
    text = plain.text() + plain.text().replace("4000", "5000")
    assert only(text).remarks == ("two processes have the same rank: 0; the log may hold two jobs",)


def test_the_network_in_the_log_and_its_schedules(tmp_path: Path) -> None:
    report = report_of(tmp_path, job(2, 4).text())
    assert report.topology is not None
    assert report.is_logged
    assert len(report.topology.compute) == 8
    reached = {(each.schedule.collective.value, each.algorithm): each for each in report.reached}
    # a ring brings 7/8 of its half of the data over a NIC of 50 GB/s, and 48 GB/s of PCI are below
    assert reached["allgather", "ring"].schedule.algbw == Fraction(48 * 8, 7)
    assert reached["allreduce", "ring"].schedule.algbw == Fraction(48 * 8, 14)
    assert set(reached) == {("allgather", "ring"), ("allreduce", "ring"), ("allreduce", "tree")}
    for each in report.reached:
        assert verify(each.schedule).fault is None
    shown = dict.fromkeys(name for each in report.reached for limit in each.limiting for name in limit.sorts)
    assert next(iter(shown)) == "box switch"


def test_a_log_without_the_system_has_no_network(tmp_path: Path) -> None:
    for text in (job(2, 2, graph=False).text(), job(2, 2).text().replace("+ NVL[370.8]", "+ NVL[37")):
        report = report_of(tmp_path, text)
        assert report.topology is None
        assert report.reasons == ("the log shows no network (NCCL_DEBUG_SUBSYS=INIT,GRAPH); give TOPOLOGY",)


def two_leaves() -> Topology:
    """Return four hosts of one GPU, two on each of two leaf switches."""
    builder = TopologyBuilder("leaves")
    builder.add_duplex(builder.add_switch("leaf0"), builder.add_switch("leaf1"), 50)
    for host in range(4):
        builder.add_duplex(builder.add_compute(f"gpu{host}", box=host), f"leaf{host // 2}", 50)
    return builder.build()


def test_what_the_order_of_the_hosts_costs(tmp_path: Path) -> None:
    plain = replace(job(4, 1, graph=False), hosts=["n2", "n10", "n3", "n11"])
    report = report_of(tmp_path, plain.text(), two_leaves())
    for each in report.reached[:2]:
        assert each.in_box_order == 2 * each.schedule.algbw
    assert any("in the order of the boxes" in line for line in job_page(report).lines())
    in_order = report_of(tmp_path, replace(plain, hosts=["n2", "n3", "n10", "n11"]).text(), two_leaves())
    assert in_order.reached[0].in_box_order is None
    assert in_order.reached[0].schedule.algbw == report.reached[0].in_box_order


def test_ranks_may_be_named_instead_of_hosts(tmp_path: Path) -> None:
    plain = replace(job(4, 1, graph=False), hosts=["n2", "n10", "n3", "n11"])
    report = report_of(tmp_path, plain.text(), two_leaves(), ranks="0-3")
    assert report.reached[0].in_box_order is None
    assert report.reached[0].schedule.algbw == Fraction(50 * 4, 3)


def test_the_links_that_carry_twice_are_named(tmp_path: Path) -> None:
    def ring(first: int) -> tuple[int, ...]:
        return tuple(box + (first + place) % 8 for box in (0, 8) for place in range(8))

    plain = replace(job(2, 8, channels=4, graph=False), rings=[ring(0), ring(0), ring(2), ring(5)])
    text = plain.text().replace("NET/IB/0", "NET/IB/9")
    report = report_of(tmp_path, text, "dgx-a100:boxes=2")
    reached = report.reached[0]
    assert report.topology is not None
    named = {report.topology.ids(ends)[0]: times for ends, times in reached.uneven}
    assert named == {"b0/gpu0": 2, "b0/gpu7": 2, "b1/gpu0": 2, "b1/gpu7": 2}
    assert reached.changed > 0
    assert any("carry up to 2 times the data" in line for line in job_page(report).lines())


def test_the_schedule_of_each_collective_reaches_what_its_rings_allow(tmp_path: Path) -> None:
    report = report_of(tmp_path, job(2, 4).text() + job(2, 4).mark(0) + CHOICES.splitlines()[0] + "\n")
    last = report.topology.compute[-1] if report.topology is not None else 0
    found = {
        collective: report.reached_algbw(NodeDemand(collective, last if collective.has_root else None), 2**26)
        for collective in Collective
    }
    assert found[Collective.BROADCAST] == found[Collective.REDUCE] == 48
    assert found[Collective.ALLGATHER] == found[Collective.REDUCE_SCATTER] == Fraction(384, 7)
    trees = next(each.schedule.algbw for each in report.reached if each.algorithm == "tree")
    assert found[Collective.ALLREDUCE] == trees, "the log says that trees were chosen"
    assert found[Collective.ALL_TO_ALL] is None


def test_the_json_has_the_agreed_keys(tmp_path: Path) -> None:
    document: Any = job_page(report_of(tmp_path, with_group(job(2, 2, graph=False)))).document()
    assert document["nccl"] == document["communicators"][0]
    assert [each["ranks"] for each in document["communicators"]] == [4, 2]
    nccl = document["nccl"]
    assert (nccl["version"], nccl["hosts"], nccl["channels"]) == ("2.30.7", [[0, 1], [2, 3]], 2)
    assert nccl["rings"] == [[0, 1, 2, 3]] * 2
    assert nccl["trees"] == [[-1, 0, 0, 1], [2, 3, 3, -1]]
    assert document["communicators"][1]["rings"] == ["unknown"]
    assert nccl["choices"] == [
        {"collective": "allreduce", "bytes": 1024, "algorithm": "ring", "protocol": "ll", "channels": 1}
    ]


def test_bad_input_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(job(2, 2).text())
    message = refusal(explain_job, tmp_path / "job.log", "dgx-a100:boxes=2")
    assert "the communicator has 4 ranks, and dgx-a100:boxes=2 has 16 compute nodes" in message
    assert "--ranks" in message
    (tmp_path / "job.log").write_text(f"{job(2, 2).mark(0)}NCCL version 2.30.7+cuda13.3\n")
    assert "names no communicator" in refusal(explain_job, tmp_path / "job.log", None)
    (tmp_path / "job.log").write_text("NCCL INFO without a mark\n")
    assert explain_job(tmp_path / "job.log", None) is None
