"""Execution traces of Chakra, one file for each rank, as ASTRA-sim runs them. They need the extra `chakra`."""

from forestcoll.programs.formats.chakra.astra_sim import check_astra_sim_folder, files_of, write_folder
from forestcoll.programs.formats.chakra.document import Kind, Node, Trace
from forestcoll.programs.formats.chakra.fitting import Fitting
from forestcoll.programs.formats.chakra.from_program import from_program
from forestcoll.programs.formats.chakra.reading import parse_trace, read_trace, read_traces
from forestcoll.programs.formats.chakra.rules import traces_fault
from forestcoll.programs.formats.chakra.writing import emit, trace_path

__all__ = [
    "Fitting",
    "Kind",
    "Node",
    "Trace",
    "check_astra_sim_folder",
    "emit",
    "files_of",
    "from_program",
    "parse_trace",
    "read_trace",
    "read_traces",
    "trace_path",
    "traces_fault",
    "write_folder",
]
