"""The folder for ASTRA-sim: its files, the networks and collectives that it is refused for, and its pieces."""

import json
from pathlib import Path

import pytest
from chakra_reader import attributes_of, nodes_of
from samples import schedule

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.topology.registry import build_topology
from forestcoll.tuning.programs.export import export

KEYS = {
    Collective.ALLGATHER: ("all-gather-implementation-custom", 2),
    Collective.REDUCE_SCATTER: ("reduce-scatter-implementation-custom", 7),
    Collective.ALLREDUCE: ("all-reduce-implementation-custom", 0),
}


@pytest.mark.parametrize("collective", KEYS)
def test_a_folder_has_all_that_a_simulation_needs(tmp_path: Path, collective: Collective) -> None:
    done = export(schedule("ring:nodes=3", collective), "astra-sim:bytes=3000")
    done.write(tmp_path / "sim")
    files = {path.name for path in (tmp_path / "sim").iterdir()}
    traces = {f"{name}.{rank}.et" for name in ("collective", "workload") for rank in range(3)}
    named = {"system.json", "memory.json", "network.yml"}
    assert files == traces | named | {"run.sh"}
    assert all(f"={name}" in done.files["run.sh"].decode() for name in named)
    key, number = KEYS[collective]
    assert json.loads(done.files["system.json"])[key] == ["collective"]
    (node,) = nodes_of(done.files["workload.1.et"])
    assert (node.name, node.type) == (collective.value, 7)
    assert attributes_of(node) == {"is_cpu_op": False, "comm_type": number, "comm_size": 3000}
    assert node.SerializeToString(deterministic=True) in done.files["workload.1.et"]
    assert done.files["network.yml"].startswith(b"topology: [ Ring ]\n")
    assert [done.files[f"collective.{rank}.et"] for rank in range(3)] == list(done.rank_files)


def test_other_kinds_of_schedules_have_a_folder_too() -> None:
    files = export(generate("ring:nodes=3", "all-to-all"), "astra-sim:bytes=3000").files
    assert "all-to-all-implementation-custom" in json.loads(files["system.json"])
    assert export(generate("complete:nodes=3,bandwidth=50", method="bfb"), "astra-sim").files["run.sh"]


def test_a_network_of_several_switches_is_written_for_ns_3() -> None:
    done = export(schedule("dgx-a100:boxes=2,gpus=2"), "astra-sim")
    assert not {"network.yml", "run.sh"} & set(done.files)
    assert done.files["network.txt"].startswith(b"7 3 8\n")
    assert json.loads(done.files["logical.json"]) == {"logical-dims": ["4"]}


def test_what_astra_sim_cannot_simulate_is_refused() -> None:
    group = generate(build_topology("dgx-a100:boxes=1"), "allgather:ranks=0-3")
    one_way = schedule("ring:nodes=3,one_way=true")
    broadcast, reduce = (schedule("ring:nodes=3", each) for each in (Collective.BROADCAST, Collective.REDUCE))
    for made, reason in (
        (broadcast, "ASTRA-sim has no key for a custom broadcast"),
        (reduce, "ASTRA-sim has no key for a custom reduce"),
        (one_way, "which ns-3's text cannot express"),
        (group, "simulates all 8 compute nodes, and 4 have a rank"),
    ):
        with pytest.raises(InputError, match=reason):
            export(made, "astra-sim")


def test_astra_sim_has_twice_the_pieces_of_other_simulators() -> None:
    made = schedule("ring:nodes=3")
    sixteen, eight = (export(made, target).lowering.program for target in ("astra-sim", "chakra"))
    assert sixteen.chunks == 2 * eight.chunks


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    done = export(schedule("ring:nodes=3"), "astra-sim")
    with pytest.raises(InputError, match="no does not exist"):
        done.write(tmp_path / "no" / "sim")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file; name a folder"):
        done.write(tmp_path / "file")


def test_a_smaller_simulation_leaves_no_files_of_the_older_one(tmp_path: Path) -> None:
    folder = tmp_path / "sim"
    for made in (schedule("dgx-a100:boxes=2,gpus=2"), schedule("ring:nodes=3")):
        done = export(made, "astra-sim")
        done.write(folder)
        assert {path.name for path in folder.iterdir()} == set(done.files)


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    message = "holds 'notes.txt', which is no file of a simulation by ASTRA-sim; name another folder"
    with pytest.raises(InputError, match=message):
        export(schedule("ring:nodes=3"), "astra-sim").write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
