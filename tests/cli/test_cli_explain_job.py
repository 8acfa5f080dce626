"""`forestcoll explain` of the log of a job with NCCL_DEBUG=INFO, with and without a table of nccl-tests in it."""

from pathlib import Path

from cli_run import json_of, run_command

from job_logs import job


def table(ranks: int) -> str:
    """Return the output of a test of 1 GiB at 20 GB/s."""
    devices = "".join(f"#  Rank {each:2} Group  0 Pid {each} on  node device {each:2}\n" for each in range(ranks))
    busbw = 20 * (ranks - 1) / ranks
    result = f"53687.1 20.00 {busbw:.2f} 0"
    return (
        f"# Collective test starting: all_gather_perf\n# nThread 1 nGpus 1\n{devices}"
        "#       size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
        f"1073741824 16777216 float none -1 {result} {result}\n"
    )


def test_explain_joins_the_measured_bandwidth_with_the_schedule(tmp_path: Path) -> None:
    plain = job(2, 8, graph=False)
    choice = "AllGather: 67108864 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..1}"
    (tmp_path / "job.log").write_text(f"{plain.text()}{plain.mark(0)}{choice}\n{table(16)}")
    document = json_of("explain", "dgx-a100:boxes=2", "--measured", tmp_path / "job.log")
    (test,) = document["tests"]
    assert test["library_algbw"] == "80/3", "one NIC of 25 GB/s of each box carries 15/16 of the data"
    assert test["library_best_algbw"] == "640/3"
    assert (test["ring_algbw"], test["bound_algbw"]) == ("640/3", "1040/3")
    assert document["nccl"]["ranks"] == 16
    page = run_command("explain", "dgx-a100:boxes=2", "--measured", tmp_path / "job.log").out
    assert "algbw: measured, and what could be reached" in page


def test_explain_without_a_topology(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(job(2, 4).text())
    assert json_of("explain", "--measured", tmp_path / "job.log")["nccl"]["channels"] == 2
    (tmp_path / "both.log").write_text(job(2, 4).text() + table(8))
    document = json_of("explain", "--measured", tmp_path / "both.log")
    assert (document["topology"], document["tests"][0]["ranks"]) == ("the network in the log", 8)
    (tmp_path / "table.log").write_text(table(16))
    assert json_of("explain", "--measured", tmp_path / "table.log")["topology"] is None


def test_a_table_without_rows_is_said_and_the_job_is_shown(tmp_path: Path) -> None:
    hung = "".join(f"{line}\n" for line in table(8).splitlines()[:-1])
    (tmp_path / "hung.log").write_text(job(2, 4).text() + hung)
    document = json_of("explain", "--measured", tmp_path / "hung.log")
    assert document["nccl"]["ranks"] == 8
    assert "the test did not end" in document["remarks"][0]
