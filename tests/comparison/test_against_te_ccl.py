"""Schedules of TE-CCL as rows of a comparison."""

import json
from collections.abc import Sequence
from pathlib import Path

from forestcoll import compare
from forestcoll.topology.importers.reading import import_topology
from refusal import refusal


def ring(gpus: Sequence[int], switch: int | None = None) -> list[str]:
    """The hops of an allgather around a ring, with links between neighbours or over a switch."""
    hops = []
    size = len(gpus)
    for step in range(size - 1):
        for place, gpu in enumerate(gpus):
            chunk, other = f"Chunk 0 from {gpus[(place - step) % size]} traveled over", gpus[(place + 1) % size]
            ways = [(gpu, other)] if switch is None else [(gpu, switch), (switch, other)]
            hops += [f"{chunk} {a}->{b} in epoch {step * len(ways) + late}" for late, (a, b) in enumerate(ways)]
    return hops


def written(folder: Path, flows: object) -> Path:
    path = folder / "te-ccl.json"
    path.write_text(json.dumps({"1-Epoch_Duration": 1e-6, "3-Epochs_Required": 9, "7-Flows": flows}))
    return path


def algbw(path: Path, network: str) -> str:
    row = next(row for row in compare(network, baselines=[path]).rows if row.name == str(path))
    return str(row.algbw)


def test_links_of_gpus_and_hops_over_a_switch_are_the_sends_of_the_schedule(tmp_path: Path) -> None:
    assert algbw(written(tmp_path, ring(range(4))), "ring:nodes=4") == "4/3"  # one way around
    numbered = written(tmp_path, ring([1, 2, 3, 4], switch=0))
    assert algbw(numbered, "dgx-a100:boxes=1,gpus=4") == "400"
    numbered = written(tmp_path, [f"{hop} via switches 7" for hop in ring([2, 4, 6, 8])])
    assert algbw(numbered, "dgx-a100:boxes=1,gpus=4") == "400"


def test_several_chunks_of_a_gpu_are_equal_parts(tmp_path: Path) -> None:
    back = [hop.replace("Chunk 0", "Chunk 1") for hop in ring(range(3, -1, -1))]
    assert algbw(written(tmp_path, [*ring(range(4)), *back]), "ring:nodes=4") == "8/3"


def test_a_schedule_that_is_wrong_or_for_something_else_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, ring(range(4))[:-1])
    result = compare("ring:nodes=4", baselines=[path])
    assert next(row for row in result.rows if row.name == str(path)).algbw == 0

    def said(flows: object, network: str = "ring:nodes=4", demand: str = "allgather") -> str:
        return refusal(compare, network, demand, baselines=[written(tmp_path, flows)])

    assert "a schedule of 4 GPUs, and 5 compute nodes take part" in said(ring(range(4)), "ring:nodes=5")
    assert "only schedules of an allgather" in said(ring(range(4)), demand="allreduce")
    assert "has no list 7-Flows" in said({})
    assert "'hop' in 7-Flows is no hop; expected" in said(["hop"])
    volume = ["Chunk 0 from 0 traveled over 0->1 with volume 0.5 in epoch 0"]
    assert "its chunks are divided, as in an all-to-all" in said(volume)
    orphan = [*ring(range(4)), "Chunk 0 from 0 traveled over 9->1 in epoch 3"]
    assert "node 9 sends chunk 0 of 0 in epoch 3 without having it" in said(orphan)


def test_it_is_no_network(tmp_path: Path) -> None:
    said = refusal(import_topology, written(tmp_path, ring(range(4))))
    assert "is a schedule of TE-CCL, not a network; use it as in 'forestcoll compare TOPOLOGY --against FILE'" in said
