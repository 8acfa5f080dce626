"""Exported files, byte for byte, as in `tests/golden/`. Run as a script, this file writes them again."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from samples import GOLDEN, schedule

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective
from forestcoll.programs.targets.target import Export, Target, targets

RING, BOXES = "ring:nodes=3", "dgx-a100:boxes=2,gpus=2"
PACKETS = "mscclpp-json:placement=out-of-place,protocol=LL"

CASES: dict[str, tuple[str, Collective, str]] = {
    "ring-allgather-microsoft.xml": (RING, Collective.ALLGATHER, "msccl-xml"),
    "ring-reduce-scatter-microsoft.xml": (RING, Collective.REDUCE_SCATTER, "msccl-xml"),
    "ring-reduce-scatter-azure.xml": (RING, Collective.REDUCE_SCATTER, "msccl-xml:dialect=azure"),
    "boxes-allreduce-rccl.xml": (BOXES, Collective.ALLREDUCE, "msccl-xml:dialect=rccl"),
    "ring-allgather.json": (RING, Collective.ALLGATHER, "mscclpp-json"),
    "boxes-allreduce.json": (BOXES, Collective.ALLREDUCE, "mscclpp-json"),
    "nvls-allreduce.json": ("dgx-h100:boxes=1,gpus=3,nvls=true", Collective.ALLREDUCE, "mscclpp-json"),
    "packets-broadcast.json": (BOXES, Collective.BROADCAST, PACKETS),
    "ring-all-to-all-rccl.xml": ("ring:nodes=4", Collective.ALL_TO_ALL, "msccl-xml:dialect=rccl"),
    "boxes-all-to-all.json": (BOXES, Collective.ALL_TO_ALL, "mscclpp-json"),
    "schedule-ring-allreduce.goal": (RING, Collective.ALLREDUCE, "goal:bytes=3MiB"),
    "ring-allreduce": (RING, Collective.ALLREDUCE, "chakra:bytes=3MiB"),
}


def exported(name: str) -> Export:
    spec, collective, text = CASES[name]
    made = generate(spec, collective) if collective.is_personalised else schedule(spec, collective)
    target: Target = targets.read(text)
    return target.export(made, replace(target.usual_options(made), **target.given))


def written(name: str, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file of a case."""
    exported(name).write(folder / name)
    for path in sorted(folder.glob(f"{name}*")):
        yield path.name, path.read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_exported_files_equal_the_golden_files(name: str, tmp_path: Path) -> None:
    found = dict(written(name, tmp_path))
    assert found == {path.name: path.read_bytes() for path in GOLDEN.glob(f"{name}*")}
    assert found


if __name__ == "__main__":
    for case in CASES:
        for _ in written(case, GOLDEN):
            pass
