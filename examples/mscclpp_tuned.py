"""Register the plans of a folder of `forestcoll tune` with MSCCL++, and select one for each call.

Call `register` before the communicator is made. It needs the module mscclpp. Requests do not tell the operation of a
reduction, so MSCCL++ also adds up where a maximum is asked for.
"""

import json
from pathlib import Path
from typing import Any

import mscclpp
import mscclpp.ext

FOLDER = Path("tuned")
MANIFEST = json.loads((FOLDER / "manifest.json").read_text())
COLLECTIVE = MANIFEST["collective"].replace("-", "")
FILES = [FOLDER / row["programs"]["mscclpp-json"] for row in MANIFEST["ranges"] if "mscclpp-json" in row["programs"]]
PLANS = [(file, json.loads(file.read_text())) for file in FILES]
TYPES = ("float16", "bfloat16", "float32", "int32", "uint32")


def register(rank: int) -> None:
    """Register the plans for this rank, and the function that selects one.

    Plans have no constraint: MSCCL++ would use those with one that fits also where `select` returns None.
    """
    builder = mscclpp.ext.AlgorithmCollectionBuilder()
    for file, plan in PLANS:
        loaded = mscclpp.ExecutionPlan(str(file), rank)
        builder.add_algorithm_builder(mscclpp.Algorithm(id=plan["name"], execution_plan=loaded))
    builder.set_algorithm_selector(select)


def select(algorithms: Any, request: Any) -> Any:
    """Return the plan for a call; None leaves the choice to MSCCL++."""
    types = [getattr(mscclpp.DataType, name) for name in TYPES]
    if request.collective != COLLECTIVE or request.world_size != MANIFEST["ranks"] or request.dtype not in types:
        return None
    size = request.message_size * (request.world_size if COLLECTIVE == "allgather" else 1)
    for _, plan in PLANS:
        unit = plan["buffer_alignment"] * plan["gpus"][0]["input_chunks"]
        fits = plan["min_message_size"] <= size <= plan["max_message_size"]
        if fits and request.message_size % unit == 0 and plan["inplace"] == is_in_place(request):
            return algorithms[COLLECTIVE][plan["name"]]
    return None


def is_in_place(request: Any) -> bool:
    """Return whether the buffers of a call are one, as the collective defines it."""
    source, target = int(request.input_buffer), int(request.output_buffer)
    if COLLECTIVE == "allgather":
        target += request.rank * request.message_size
    if COLLECTIVE == "reducescatter":
        source += request.rank * request.message_size // request.world_size
    return source == target
