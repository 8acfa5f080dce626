"""The format `nccl-graph` of `forestcoll export`: no program, but a file of rings and chains for each kind of host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from forestcoll.base.errors import InputError
from forestcoll.base.files import check_writable, write_file_or_folder
from forestcoll.base.folders import check_place
from forestcoll.base.registry import Spec

if TYPE_CHECKING:
    from forestcoll.nccl.graph.hosts import HostGraph


@dataclass(frozen=True)
class NcclGraph:
    """Where `nccl-graph` differs from programs: it is a file, or a folder if hosts differ."""

    name: ClassVar[str] = "nccl-graph"
    endings: ClassVar[tuple[str, ...]] = (".xml",)
    is_folder: ClassVar[bool] = True

    @staticmethod
    def check_output(path: Path) -> None:
        """Raise `InputError` if neither a file nor a folder can be written to `path`."""
        if path.is_dir():
            check_place(path)
        else:
            check_writable(path)

    def check_outputs(self, files: Mapping[str, Path]) -> None:
        """Raise `InputError` if there is another file than that of the rings; see `Target.check_outputs`."""
        if "snippet" in files:
            raise InputError(f"{self.name} has no snippet, only mscclpp-json has one; leave -o snippet=FILE out")

    @staticmethod
    def write(found: Sequence["HostGraph"], path: Path) -> list[Path]:
        """Write the files of hosts and return their names; see `write_file_or_folder`."""
        names = [each.hosts[0] if each.hosts else "host" for each in found]
        return write_file_or_folder(path, dict(zip(names, (each.text for each in found), strict=True)), ".xml")


NCCL_GRAPH = Spec(NcclGraph.name, NcclGraph, (), __name__, {"summary": "rings and chains for NCCL's NCCL_GRAPH_FILE"})
"""The format as `--to` reads it, next to the formats of programs."""
