"""ASTRA-sim: a folder with the traces of Chakra, a workload and all settings of a simulation."""

from dataclasses import dataclass, replace
from pathlib import Path

from forestcoll.base.progress import Progress
from forestcoll.programs.formats import chakra
from forestcoll.programs.lowering import Lowering, Options
from forestcoll.programs.targets.chakra import Chakra
from forestcoll.programs.targets.target import Export, targets


@targets.add("astra-sim", summary="a folder that ASTRA-sim runs")
@dataclass(frozen=True)
class AstraSim(Chakra):
    """A folder for ASTRA-sim, which moves one message at a time over a link, so that more pieces are of use."""

    is_folder = True
    no_stream = "the files for ASTRA-sim are a folder, which standard output cannot take; give -o DIR"
    written_as = "{path}"
    pieces_tried = (16, *Chakra.pieces_tried)

    def exported(self, lowering: Lowering, options: Options, progress: Progress) -> Export:
        """Return the traces and all other files."""
        done, task = super().exported(lowering, options, progress), lowering.program.task
        return replace(done, files=chakra.files_of(lowering.schedule.topology, task, done.rank_files, self.bytes))

    def check_output(self, path: Path) -> None:
        """Raise `InputError` if `path` is no folder, or has other files than a simulation."""
        chakra.check_astra_sim_folder(path)

    def write(self, done: Export, path: Path) -> None:
        """Write the folder."""
        chakra.write_folder(done.files, path)
