"""MSCCL XML, which several runtimes load, each in its own dialect."""

from dataclasses import dataclass

from forestcoll.base.errors import InputError
from forestcoll.base.parameters import choice
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.resources import ResourceEstimate
from forestcoll.demand.collective import Collective
from forestcoll.programs.formats import msccl_xml
from forestcoll.programs.formats.msccl_xml.dialects import CONNECTIONS
from forestcoll.programs.formats.sizes import ELEMENT_BYTES, SKIPPED, Sizes
from forestcoll.programs.lowering import Lowering, Options, Placement, lowerer_for, usual_placement
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
from forestcoll.topology.graph.boxes import is_one_box


@targets.add("msccl-xml", summary="the XML of MSCCL")
@dataclass(frozen=True)
class MscclXml(RuntimeTarget):
    """MSCCL XML. A program is for both in place and out of place if the dialect and the kind of schedule allow it."""

    endings = (".xml",)
    cost = ResourceEstimate(70e-6, 1700)
    file_bytes = 120

    dialect: str = choice(msccl_xml.DialectName.MICROSOFT.value, "the runtime that loads the file", *msccl_xml.DIALECTS)

    @property
    def _dialect(self) -> msccl_xml.Dialect:
        return msccl_xml.dialect_named(self.dialect)

    def usual_options(self, schedule: Schedule) -> Options:
        protocol = Protocol.LL if _hangs_with_simple(schedule) else Protocol.SIMPLE
        placement = usual_placement(schedule.collective) if self._dialect.one_place else Placement.BOTH
        if not lowerer_for(schedule).in_place:
            placement = Placement.OUT_OF_PLACE
        return Options(placement=placement, protocol=protocol)

    def limits(self, ranks: int) -> Limits:
        return msccl_xml.limits(self._dialect, ranks)

    def check(self, schedule: Schedule, options: Options) -> None:
        super().check(schedule, options)
        if self._dialect.one_place and options.placement is Placement.BOTH:
            raise InputError(f"the {self.dialect} dialect is for in place or for out of place; export two files")

    def exported(self, lowering: Lowering, options: Options, progress: Progress) -> Export:
        progress.begin("writing the file and reading it back")
        made = msccl_xml.from_program(lowering.program, self._dialect)
        text, algorithm = proven(made, self._dialect, lowering.program.root, progress)
        most = int(algorithm.attributes["maxBytes"]) - 1 if self._dialect.one_place else None
        sizes = Sizes(lowering.program.chunks * ELEMENT_BYTES, most, SKIPPED)
        hangs, chosen_for_it = _hangs_with_simple(lowering.schedule), self.protocol is None
        warnings = tuple(msccl_xml.remarks(algorithm)) if hangs else ()
        remarks = (f"the protocol is {options.protocol}: {HANGS}",) if hangs and chosen_for_it else ()
        return Export(self, lowering, text, sizes=sizes, warnings=warnings, remarks=remarks)

    def round_bytes(self, options: Options) -> int:
        """As `RuntimeTarget.round_bytes`: a message fits a slot of a connection."""
        return CONNECTIONS[options.protocol.value].slot_bytes

    def slices(self, options: Options) -> int:
        return CONNECTIONS[options.protocol.value].slices


HANGS = "with Simple, all runtimes hang in a broadcast or reduce over the network"
"""Why another protocol is chosen; `msccl_xml.remarks` has the source."""


def _hangs_with_simple(schedule: Schedule) -> bool:
    return schedule.collective in {Collective.BROADCAST, Collective.REDUCE} and not is_one_box(schedule.topology)


def proven(
    made: msccl_xml.Algorithm, dialect: msccl_xml.Dialect, root: int | None, progress: Progress = SILENT
) -> tuple[str, msccl_xml.Algorithm]:
    """Return the text of an algorithm, and the algorithm that is read back from it, after a check of all of it."""
    text = "".join(msccl_xml.emit(made))
    read = msccl_xml.parse_algorithm(text.encode(), where=EXPORTED)
    certify(msccl_xml.form_fault(read) or msccl_xml.dialect_fault(read, dialect))
    progress.begin("executing on symbolic data")
    certify_program(msccl_xml.to_program(read, root=root))
    return text, read
