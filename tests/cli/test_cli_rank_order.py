"""`forestcoll rank-order`: the order of hosts for NCCL."""

from pathlib import Path

from cli_run import json_of, run_command

FABRIC = "cluster:box=dgx-h100,boxes=8,boxes_per_leaf=2,oversubscription=4"


def test_the_report_says_what_is_proven_and_what_was_found(tmp_path: Path) -> None:
    run = run_command("rank-order", FABRIC, "--without", "b3", "--to", "slurm", "-o", tmp_path / "hosts")
    assert run.status == 0
    assert "22 or more  proven: no order has fewer" in run.out
    assert "or more  found by search" in run.out
    assert f"SLURM_HOSTFILE={tmp_path / 'hosts'} srun --distribution=arbitrary" in run.out
    hosts = json_of("rank-order", FABRIC, "--without", "b3")["hosts"]
    assert sorted(hosts) == [f"b{box}" for box in (0, 1, 2, 4, 5, 6, 7)]
    assert (tmp_path / "hosts").read_text().split() == [host for host in hosts for _ in range(8)]


def test_json_has_the_hosts_and_the_ranks() -> None:
    document = json_of("rank-order", "torus:dims=3x3", "--collective", "allgather")
    assert document["proof"] == "proven: no order has fewer"
    assert sorted(document["hosts"]) == [str(node) for node in range(9)]
    assert document["crossed"] == [{"what": "rings", "given": 12, "best": 9, "bound": 9, "proven": True}]
    document = json_of("rank-order", FABRIC)
    assert document["ranks"][8:10] == ["b1/gpu0", "b1/gpu1"]
    assert (document["given_algbw"], document["algbw"], document["is_given"]) == ("6400/63", "6400/63", True)


def test_standard_output_has_the_file_only() -> None:
    run = run_command("rank-order", "dgx-a100:boxes=2", "--to", "hostfile", "-o", "-")
    assert run.out == "b0 slots=8\nb1 slots=8\n"
    assert "mpirun" not in run.err


def test_wrong_options_are_refused_in_one_line() -> None:
    assert "--to is the format of the file of -o" in run_command("rank-order", FABRIC, "--to", "slurm").error_line(2)
    assert "did you mean 'rankfile'?" in run_command("rank-order", FABRIC, "--to", "rankfil", "-o", "x").error_line(2)
    wrong = run_command("rank-order", FABRIC, "--layout", "tp=8").error_line()
    assert wrong.endswith("has 64 compute nodes; the sizes must multiply to this number")
    assert "'broadcast' is not supported" in run_command("rank-order", FABRIC, "--collective", "broadcast").error_line(
        2
    )
