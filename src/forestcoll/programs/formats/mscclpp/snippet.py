"""Writes Python code that makes MSCCL++ 0.9 use a plan: it registers the plan and selects it for calls that it fits."""

from forestcoll.programs.formats.mscclpp.document import ExecutionPlan
from forestcoll.programs.model import Program, Task

_TEMPLATE = '''\
"""Makes MSCCL++ 0.9 use a plan: {collective} on {ranks} ranks, {placement}.

Call `register` on every rank before its communicator is made. With NCCL's interface, preload libmscclpp_nccl.so. A plan
of a reduction adds up: requests do not tell the operation, so MSCCL++ would also use it for a maximum.
"""

from pathlib import Path

import mscclpp
import mscclpp.ext

PLAN = Path(__file__).with_name({file!r})
NAME = {name!r}
COLLECTIVE = {collective!r}
RANKS = {ranks}
UNIT_BYTES = {unit}  # a rank's input must be a multiple of this
IN_PLACE = {in_place}
{root}

def register(rank):
    """Register the plan for this rank, and the function that selects it.

    The plan has no constraint: with one that fits, MSCCL++ would also use it for sizes for which `select` returns None,
    and which the executor refuses.
    """
    builder = mscclpp.ext.AlgorithmCollectionBuilder()
    plan = mscclpp.ExecutionPlan(str(PLAN), rank)
    builder.add_algorithm_builder(mscclpp.Algorithm(id=NAME, execution_plan=plan))
    builder.set_algorithm_selector(select)


def select(algorithms, request):
    """Return the plan where it fits; None leaves the choice to MSCCL++."""
    if request.collective != COLLECTIVE or request.world_size != RANKS or request.message_size % UNIT_BYTES:
        return None
    if _is_in_place(request) != IN_PLACE{of_root}:
        return None
    if request.dtype not in _types():
        return None
    return algorithms[COLLECTIVE][NAME]


def _types():
    types = mscclpp.DataType
    return types.float16, types.bfloat16, types.float32, types.int32, types.uint32


def _is_in_place(request):
    source, target = request.input_buffer, request.output_buffer
    if COLLECTIVE == "allgather":
        return source == target + request.rank * request.message_size
    if COLLECTIVE == "reducescatter":
        return target == source + request.rank * request.message_size // RANKS
    return source == target
'''


def snippet(plan: ExecutionPlan, program: Program, file: str) -> str:
    """Return the Python code that registers and selects `plan`, which is in `file` in the same folder."""
    root = of_root = ""
    if program.task is Task.BROADCAST:
        root, of_root = f"ROOT = {program.root}\n", ' or request.hints.get("root", [ROOT])[0] != ROOT'
    elif program.task is Task.REDUCE:
        root = "# NCCL's interface of MSCCL++ 0.9 uses no plans for ncclReduce; run this one with Executor.execute.\n"
    return _TEMPLATE.format(
        file=file,
        collective=plan.collective,
        ranks=len(plan.gpus),
        placement="in place" if plan.in_place else "out of place",
        name=plan.name,
        unit=plan.alignment * plan.gpus[0].input_chunks,
        in_place=plan.in_place,
        root=root,
        of_root=of_root,
    )
