"""Exported files, byte for byte, as in `tests/golden/`. Run as a script, this file writes them again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from samples import GOLDEN, schedule

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective
from forestcoll.programs.formats.exporting import DEFAULT_DIALECT, Export, Target, usual_options
from forestcoll.programs.lowering import Options, Placement
from forestcoll.programs.model import Protocol
from forestcoll.tuning.programs.export import export

RING, BOXES = "ring:nodes=3", "dgx-a100:boxes=2,gpus=2"
PACKETS = Options(placement=Placement.OUT_OF_PLACE, protocol=Protocol.LL)

CASES: dict[str, tuple[str, Collective, Target, dict[str, Any]]] = {
    "ring-allgather-microsoft.xml": (RING, Collective.ALLGATHER, Target.MSCCL_XML, {}),
    "ring-reduce-scatter-microsoft.xml": (RING, Collective.REDUCE_SCATTER, Target.MSCCL_XML, {}),
    "ring-reduce-scatter-azure.xml": (RING, Collective.REDUCE_SCATTER, Target.MSCCL_XML, {"dialect": "azure"}),
    "boxes-allreduce-rccl.xml": (BOXES, Collective.ALLREDUCE, Target.MSCCL_XML, {"dialect": "rccl"}),
    "ring-allgather.json": (RING, Collective.ALLGATHER, Target.MSCCLPP_JSON, {}),
    "boxes-allreduce.json": (BOXES, Collective.ALLREDUCE, Target.MSCCLPP_JSON, {}),
    "nvls-allreduce.json": ("dgx-h100:boxes=1,gpus=3,nvls=true", Collective.ALLREDUCE, Target.MSCCLPP_JSON, {}),
    "packets-broadcast.json": (BOXES, Collective.BROADCAST, Target.MSCCLPP_JSON, {"options": PACKETS}),
    "ring-all-to-all-rccl.xml": ("ring:nodes=4", Collective.ALL_TO_ALL, Target.MSCCL_XML, {"dialect": "rccl"}),
    "boxes-all-to-all.json": (BOXES, Collective.ALL_TO_ALL, Target.MSCCLPP_JSON, {}),
    "schedule-ring-allreduce.goal": (RING, Collective.ALLREDUCE, Target.GOAL, {"size": 3 * 2**20}),
    "ring-allreduce": (RING, Collective.ALLREDUCE, Target.CHAKRA, {"size": 3 * 2**20}),
}


def exported(name: str) -> Export:
    spec, collective, target, options = CASES[name]
    dialect = options.get("dialect", DEFAULT_DIALECT)
    made = generate(spec, collective) if collective.is_personalised else schedule(spec, collective)
    more = {"options": usual_options(made, target, dialect)} | options
    return export(made, target, **more)


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
