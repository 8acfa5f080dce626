"""Chakra: execution traces, one file per rank, for simulators."""

from dataclasses import dataclass
from pathlib import Path

from forestcoll.base.errors import InputError, InternalError
from forestcoll.base.files import write_bytes
from forestcoll.base.progress import Progress
from forestcoll.base.resources import ResourceEstimate
from forestcoll.base.together import written_together
from forestcoll.programs.formats import chakra
from forestcoll.programs.lowering import Lowering, Options
from forestcoll.programs.targets._simulator import SimulatorTarget
from forestcoll.programs.targets.target import Export, targets


@targets.add("chakra", summary="execution traces, one file per rank")
@dataclass(frozen=True)
class Chakra(SimulatorTarget):
    """Execution traces of Chakra. They do not say which data they move; it is only checked that they fit together."""

    no_stream = "Chakra traces are one file per rank, which standard output cannot take; give -o PREFIX"
    written_as = "{path}.*.et"
    checked = "read back"
    cost = ResourceEstimate(25e-6, 400)
    file_bytes = 75

    def exported(self, lowering: Lowering, options: Options, progress: Progress) -> Export:  # noqa: ARG002
        """Return the traces. They are made rank by rank, so that only their bytes and columns to check are kept."""
        progress.begin("writing traces")
        ranks = len(lowering.program.ranks)
        fitting, files = chakra.Fitting(ranks), []
        for trace in chakra.from_program(lowering.program, self.bytes):
            files.append(chakra.emit(trace))
            fitting.add(trace)
            progress.advance(trace.rank + 1, ranks)
        progress.begin("checking")
        if not fitting.is_proven:
            raise InternalError("the exported traces do not fit together")
        return Export(self, lowering, rank_files=tuple(files))

    def write(self, done: Export, path: Path) -> None:
        """Write the trace of rank N to `PATH.N.et`."""
        if (further := chakra.trace_path(path, len(done.rank_files))).exists():
            raise InputError(f"{further}: is a trace of other ranks; remove the older traces, or name another prefix")
        with written_together():
            for rank, data in enumerate(done.rank_files):
                write_bytes(chakra.trace_path(path, rank), [data])
