"""The JSON of execution plans of MSCCL++."""

from collections import Counter
from dataclasses import dataclass

from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.resources import ResourceEstimate
from forestcoll.programs.formats import mscclpp
from forestcoll.programs.formats.sizes import THROWN, Sizes, chunks_of_file
from forestcoll.programs.lowering import Lowering, Options, Placement, Style, lowerer_for, usual_placement
from forestcoll.programs.model import Protocol
from forestcoll.programs.model.limits import Limits
from forestcoll.programs.targets.target import (
    EXPORTED,
    Export,
    RuntimeTarget,
    certify,
    certify_program,
    targets,
)
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology.graph.boxes import box_numbers

_DEFAULT_NAMES = {
    (16, 8): "allreduce_2nodes_1K_64K.json or allreduce_2nodes_128K_2M.json",
    (32, 8): "allreduce_4nodes_1K_64K.json",
    (64, 4): "allreduce_4nodes_128K_2M.json",
}
"""For each number of ranks and of ranks in a box, the names of plans that MSCCL++ loads by itself.

Source: `src/ext/collectives/algorithm_collection_builder.cc` (August 2026). The collective and the sizes come from the
plan, whatever the name says.
"""


@targets.add("mscclpp-json", summary="an execution plan of MSCCL++")
@dataclass(frozen=True)
class MscclppJson(RuntimeTarget):
    """A plan of MSCCL++, for the placement in which frameworks call the collective.

    It has loops over pieces of 128 KiB.
    """

    style = Style.ONE_SIDED
    endings = (".json",)
    has_snippet = True
    cost = ResourceEstimate(42e-6, 900)

    def usual_options(self, schedule: Schedule) -> Options:
        in_place = lowerer_for(schedule).in_place
        placement = usual_placement(schedule.collective) if in_place else Placement.OUT_OF_PLACE
        pieces = 1 if self.protocol == Protocol.LL else 2
        return Options(style=self.style, placement=placement, pieces=pieces)

    def limits(self, ranks: int) -> Limits:  # noqa: ARG002
        return mscclpp.limits()

    def check(self, schedule: Schedule, options: Options) -> None:
        super().check(schedule, options)
        if options.placement is Placement.BOTH:
            raise InputError("a plan of MSCCL++ is for in place or for out of place; export two files")

    def exported(self, lowering: Lowering, options: Options, progress: Progress) -> Export:
        progress.begin("writing the file and reading it back")
        made = mscclpp.from_program(lowering.program, unit_bytes=options.round_bytes)
        text, plan = proven(made, lowering.program.root, progress)
        sizes = Sizes(chunks_of_file(lowering.program) * plan.alignment, plan.most_bytes, THROWN)
        return Export(self, lowering, text, sizes=sizes, remarks=_without_python(lowering))

    def round_bytes(self, options: Options) -> int:
        """As `RuntimeTarget.round_bytes`; packets have no rounds."""
        return 2**62 if options.protocol is Protocol.LL else options.round_bytes

    def snippet(self, done: Export, file: str) -> str:
        return mscclpp.snippet(mscclpp.parse_plan(done.text, where=EXPORTED), done.lowering.program, file)


def _without_python(lowering: Lowering) -> tuple[str, ...]:
    """Return how MSCCL++ loads a plan by itself, if it does for this number of ranks."""
    ranks = len(lowering.program.ranks)
    boxes = Counter(box_numbers(lowering.schedule.topology).get(node) for node in lowering.schedule.topology.compute)
    names = _DEFAULT_NAMES.get((ranks, next(iter(boxes.values())))) if len(set(boxes.values())) == 1 else None
    if names is None:
        return ()
    where = f"$MSCCLPP_CACHE_DIR/default/ as {names}, whatever the collective is"
    return (f"MSCCL++ from 0.9 on loads it without Python from {where}",)


def proven(
    made: mscclpp.ExecutionPlan, root: int | None, progress: Progress = SILENT
) -> tuple[str, mscclpp.ExecutionPlan]:
    """Return the text of a plan, and the plan that is read back from it, after a check of all of it."""
    text = mscclpp.text_of(made)
    read = mscclpp.parse_plan(text, where=EXPORTED)
    certify(mscclpp.plan_fault(read))
    progress.begin("executing on symbolic data")
    certify_program(mscclpp.to_program(read, root=root))
    return text, read
