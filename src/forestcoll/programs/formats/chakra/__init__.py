"""Execution traces of Chakra, one file for each rank, as ASTRA-sim runs them."""

from forestcoll.programs.formats.chakra.astra_sim import check_astra_sim_folder, files_of, write_folder
from forestcoll.programs.formats.chakra.document import NodeType, Trace, TraceNode
from forestcoll.programs.formats.chakra.fitting import Fitting
from forestcoll.programs.formats.chakra.from_program import from_program
from forestcoll.programs.formats.chakra.writing import emit, trace_path

__all__ = [
    "Fitting",
    "NodeType",
    "Trace",
    "TraceNode",
    "check_astra_sim_folder",
    "emit",
    "files_of",
    "from_program",
    "trace_path",
    "write_folder",
]
