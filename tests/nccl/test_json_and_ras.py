"""Measurements as JSON, entries of NCCL's Inspector, and reports of RAS."""

import json
from typing import Any

import pytest

from forestcoll.nccl.reading import parse_log
from forestcoll.nccl.results import MissingRank
from refusal import refusal

GIB = 2**30


def device(rank: int, group: int = 0) -> dict[str, object]:
    return {"rank": rank, "group": group, "pid": 4000 + rank, "hostname": f"node-0{rank // 2}", "device": rank % 2}


def nccl_tests(**changes: object) -> dict[str, Any]:
    """What nccl-tests -J writes."""
    result = {"time": 10737.4, "alg_bw": 100.0, "bus_bw": 150.0, "nwrong": 0.0}
    row = {"size": GIB, "redop": "sum", "root": "    -1", "out_of_place": result, "in_place": result | {"nwrong": None}}
    return {
        "version": 3,
        "args": ["./all_reduce_perf", "-b", "1G"],
        "env": ["SECRET_TOKEN=hunter2"],
        "config": {"ngpus": 1, "devices": [device(rank) for rank in range(4)]},
        "results": [row | {"size": 0}, row],
        "errors": [""],
        "end_time": "2026-11-28 00:08:58",
    } | changes


def entry(rank: int, collective: str = "AllGather", **changes: object) -> str:
    """A line of Inspector: a call of 4 ranks that took 100 ms on rank 0, and longer on others."""
    call = {"coll": collective, "coll_sn": 0, "coll_msg_size_bytes": GIB, "coll_exec_time_us": 100_000 + rank}
    call |= {"coll_timing_source": "kernel_gpu", "coll_algobw_gbs": 42.9} | changes
    return json.dumps({"header": {"id": "0x1", "rank": rank, "n_ranks": 4, "nnodes": 1}, "coll_perf": call})


def test_a_json_file_of_nccl_tests_is_read_without_its_environment() -> None:
    read = parse_log(json.dumps(nccl_tests()), "nt.json")
    (test,) = read.tests
    assert (test.program, test.ranks, test.hosts, test.groups, test.repeated) == ("all_reduce_perf", 4, 2, 1, False)
    (row,) = test.rows
    assert (row.size, row.root, row.operation) == (GIB, -1, "sum")
    assert [each.wrong for each in row.results] == [0, None]
    assert [float(each.busbw) for each in row.results] == [150, 150]
    assert float(row.results[0].algbw) == pytest.approx(100, abs=0.01)
    assert (test.remarks, read.skipped) == ((), ())
    assert "hunter2" not in repr(read)


def test_what_a_json_file_says_besides_is_remarked() -> None:
    alone = nccl_tests(config={"devices": [device(0), device(0)]}, errors=["no route"])
    del alone["end_time"]
    (test,) = parse_log(json.dumps(alone), "nt.json").tests
    assert test.repeated
    assert test.remarks == ("NCCL's last error: no route", "the file has no end_time: the test hung, or was ended")
    cpu = nccl_tests()
    cpu["results"][1]["out_of_place"] = None
    cpu["results"][1]["in_place"] = {"cpu_time": 10737.4, "alg_bw": 100.0, "bus_bw": 150.0, "nwrong": 3.0}
    (row,) = parse_log(json.dumps(cpu), "nt.json").tests[0].rows
    assert (row.out_of_place, [each.wrong for each in row.results]) == (None, [3])


def test_only_the_first_gpu_of_each_process_is_in_the_list_of_devices() -> None:
    """As `src/util.cu` of nccl-tests writes it, so a process with -t 2 -g 4 has eight ranks."""
    config = {"nthreads": 2, "ngpus": 4, "devices": [device(0), device(8)]}
    assert parse_log(json.dumps(nccl_tests(config=config)), "nt.json").tests[0].ranks == 16
    assert parse_log(json.dumps(nccl_tests(config=None)), "nt.json").tests[0].ranks is None


def test_a_json_file_of_rccl_tests_is_read() -> None:
    row = {
        "numCycle": 0,
        "name": "AllReduce",
        "nodes": 2,
        "ranks": 16,
        "ranksPerNode": 8,
        "gpusPerRank": 1,
        "size": GIB,
    }
    row |= {
        "type": "float",
        "redop": "sum",
        "inPlace": 0,
        "time": 10737.4,
        "algBw": 100.0,
        "busBw": 187.5,
        "wrong": "0",
    }
    text = json.dumps([row, row | {"inPlace": 1, "wrong": "N/A"}])
    for each in (text, text.replace('"N/A"', "N/A")):
        (test,) = parse_log(each, "rt.json").tests
        assert (test.program, test.ranks) == ("all_reduce_perf", 16)
        assert [result.wrong for result in test.rows[0].results] == [0, None]


def test_inspector_counts_a_part_of_an_allgather_and_the_median_of_all_ranks() -> None:
    lines = [entry(rank, collective) for collective in ("AllGather", "AllReduce") for rank in (0, 1000, 50_000)]
    gathered, reduced = parse_log("\n".join(lines), "insp.log").tests
    assert [(each.program, each.ranks, each.rows[0].size) for each in (gathered, reduced)] == [
        ("all_gather_perf", 4, 4 * GIB),
        ("all_reduce_perf", 4, GIB),
    ]
    (result,) = gathered.rows[0].results
    assert float(result.time_us) == 101_000
    assert float(result.busbw) == pytest.approx(4 * GIB / 101_000 / 1000 * 3 / 4)
    assert gathered.remarks == ("NCCL's Inspector timed 3 calls; a row is the median of the calls of one size",)


def test_calls_that_were_not_timed_on_the_gpu_and_broken_lines_are_skipped() -> None:
    lines = [
        entry(0),
        entry(1, coll_timing_source="collective_cpu"),
        entry(2, "Strange"),
        json.dumps({"header": {}, "p2p_perf": {"p2p": "Send"}}),
        entry(3)[:60],
        "[1, 2]",
    ]
    read = parse_log("\n".join(lines), "insp.log")
    assert len(read.tests) == 1
    assert [(line, reason.split(":")[0].split(";")[0]) for line, reason in read.skipped] == [
        (2, "was timed by 'collective_cpu'"),
        (3, "has the collective 'Strange', 1073741824 bytes and 100002 us"),
        (4, "is a send or a receive, not a collective"),
        (5, "is not complete JSON"),
        (6, "is no entry of Inspector"),
    ]
    assert "line 1: was timed by 'kernel_cpu'" in refusal(
        parse_log, entry(0, coll_timing_source="kernel_cpu"), "insp.log"
    )


def test_entries_of_inspector_may_have_several_lines() -> None:
    """As its README shows them, and as jq prints them."""
    pretty = "\n\n".join(json.dumps(json.loads(entry(rank)), indent=2) for rank in (0, 1000))
    read = parse_log(f"{pretty}\n{entry(2000)[:60]}\n{entry(3000)}", "insp.log")
    assert [float(each.results[0].time_us) for each in read.tests[0].rows] == [101_000]
    assert read.skipped == ((len(pretty.splitlines()) + 1, "is not complete JSON"),)


def ras(missing: list[int], calls: tuple[int, ...] = (5, 5, 5, 5)) -> str:
    """What ncclras -f json prints of a communicator of 4 ranks."""
    ranks = [
        {"rank": rank, "host": "10.0.0.10", "pid": 4000 + rank, "collective_counts": {"AllReduce": calls[rank]}}
        for rank in range(4)
        if rank not in missing
    ]
    lost = [
        {"rank": rank, "host": "10.0.0.10", "pid": 4000 + rank, "status": {"unresponsive": True}} for rank in missing
    ]
    each = {"hash": "0x1", "size": 4, "ranks_count": len(ranks), "ranks": ranks, "missing_ranks": lost}
    return json.dumps({"nccl_version": "2.30.7", "communicators": [each], "ras": {}})


RAS_TEXT = """NCCL version 2.30.7 compiled with CUDA 13.3

Job summary
===========

Errors
======

INCOMPLETE
  Missing communicator data from 1 job process
  Process 4001 on node 10.0.0.10 managing GPU 0

#0-0 (4d0b25e82b73d6ca) INCOMPLETE
  Missing communicator data from 2 ranks
  Rank 2 -- GPU 0 managed by process 4001 on node 10.0.0.10
  Rank 3 -- [process information not found]

Warnings
========

#0-0 (4d0b25e82b73d6ca) MISMATCH
  Communicator ranks have different AllReduce operation counts
  1 ranks have launched up to operation 7
  Rank 0 has launched up to operation 6 -- GPU 0 managed by process 4007 on node 10.0.0.10
"""


def test_ras_names_missing_and_late_ranks() -> None:
    (healthy,) = parse_log(ras([]), "ras.json").communicators
    assert (healthy.size, healthy.missing, healthy.late) == (4, (), ())
    (killed,) = parse_log(ras([2], (5, 4, 5, 5)), "ras.json").communicators
    assert killed.missing == (MissingRank(2, "10.0.0.10", 4002),)
    assert killed.late == ("AllReduce: up to 5 calls; behind: rank 1 (4)",)
    (text,) = parse_log(RAS_TEXT, "ras.text").communicators
    assert text.missing == (MissingRank(2, "10.0.0.10", 4001), MissingRank(3))
    assert text.late == ("AllReduce: rank 0 has launched up to operation 6",)
    (fine,) = parse_log(RAS_TEXT.split("INCOMPLETE", maxsplit=1)[0], "ras.text").communicators
    assert fine.missing == ()


def test_other_and_broken_json_is_refused_in_one_line() -> None:
    whole = json.dumps(nccl_tests())
    for text, said in [
        (whole[:100], "line 1, column 101: no valid JSON: Expecting value"),
        (whole[: whole.index("hunter2")], "perhaps the test hung, or was ended"),
        (whole[: whole.index("[{") + 2], "perhaps the test hung, or was ended"),
        ('{\n"a": 1,,}', "line 2, column 8: no valid JSON"),
        ('{"a": 1}', "is JSON, but not of nccl-tests, rccl-tests, Inspector or RAS"),
        ('[{"a": 1}]', "is a list, but not of results of rccl-tests"),
        ('{"communicators": [{}]}', "has no list missing_ranks"),
        ('{"results": [3, {"size": 8, "root": "x"}]}', "line 1: result 0: has no size of 1 or more"),
        ('{"a":' * 100_000, "nested too deep"),
    ]:
        message = refusal(parse_log, text, "x.json")
        assert message.startswith("x.json: ")
        assert said in message, message
